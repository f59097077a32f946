// The hands of EC2: launch sends an order's templates and its one CreateFleet, terminate ends an
// instance that carries the claim's tag, find reads instances by id or by tag, resolve asks what a
// node class's selectors name, release deletes what was made for one (threads and outcomes:
// cloud/hands.h). Besides, every kCatalogueMillis, what EC2 sells and which of its prices could be
// read, as facts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cloud/aws/client.h"
#include "cloud/aws/instance_reads.h"
#include "cloud/aws/kept_answers.h"
#include "cloud/hands.h"
#include "ports/withheld_texts.h"
#include "providers/aws/fleet.h"
#include "providers/aws/resolved.h"
#include "providers/aws/selectors.h"

namespace karst::cloud::aws {

inline constexpr std::int64_t kCatalogueMillis = 60 * 60'000;   // types, offerings and prices
inline constexpr std::int64_t kPricesAgainMillis = 5 * 60'000;  // when some could not be read
inline constexpr int kQuestionRoundsMax = 10;                   // of one node class
inline constexpr int kReleaseStepsMax = 2'000;                  // of one command
// A question that gets no answer is asked again at once, after 0.5 and 1 s, but not when it took
// long to fail: the class comes again soon.
inline constexpr int kAskAttemptsMax = 3;
inline constexpr std::int64_t kAskAgainMillis = 500;
inline constexpr std::int64_t kAskAgainWithinMillis = 10'000;

class AwsCloud final : public Hands {
 public:
  // All outlive the cloud; destroy the client's transport first. `cluster`: what launches need to
  // know of the cluster; its name is in the tags by which instances are ours. `withheld` has what
  // the observer of the node classes kept out of the log.
  AwsCloud(Client& client, ports::FactSink& sink, const ports::WithheldTexts& withheld,
           const base::Clock& clock, providers::aws::Cluster cluster);
  ~AwsCloud() override;

  // The price list is not asked (ISOLATED_VPC): on-demand prices are the embedded table's. Before
  // start().
  void without_price_list() { price_list_ = false; }
  // What an earlier process read: kept, kind by kind, until it can be read again. Before start().
  void know_prices(const model::Catalogue& told, bool on_demand, bool spot);
  // Is told, on the transport's thread, when prices or what concerns the whole cluster cannot be
  // read, and when they can again. Before start().
  using Tell = std::function<void(bool good, const std::string& line)>;
  void tell_faults(Tell tell) { tell_ = std::move(tell); }

 private:
  using Instances = std::vector<providers::aws::FoundInstance>;
  struct Order;      // a launch under way
  struct Asking;     // a node class whose questions are being answered
  struct Sold;       // what EC2 sells, being read
  struct Releasing;  // a node class that is deleted

  void launch(const Command& command, const model::Launch& spec);
  void make_template(const std::shared_ptr<Order>& order, std::size_t index);
  void make_fleet(const std::shared_ptr<Order>& order);
  void read_fleet(const std::shared_ptr<Order>& order, const Answer& answer);
  void find_by_token(const std::shared_ptr<Order>& order);

  void terminate(const Command& command, const model::Terminate& spec);
  void end_instance(const Command& command, const model::Terminate& spec, model::Instance instance);
  void find(const Command& command, const model::FindInstances& spec);
  void find_by_id(const Command& command, const model::FindInstances& spec);

  void resolve(const Command& command, const model::ResolveNodeClass& spec);
  void ask(const std::shared_ptr<Asking>& asking);
  void tell_of_question(const providers::aws::Question& question,
                        const providers::aws::Answer& answer);
  void ask_account(const std::shared_ptr<Asking>& asking, const providers::aws::Question& question);
  void send_question(const providers::aws::Request& request, int attempt, std::int64_t since);
  void answered(Asking& asking, const providers::aws::Question& question,
                const std::vector<std::string>& pages, const CallError& error, std::int64_t since);
  bool may_wait(const Asking& asking);
  void resolved(const Asking& asking, const providers::aws::Resolution& found);
  void unresolved(const Asking& asking, const std::string& message);

  void release(const Command& command, const model::ReleaseNodeClass& spec);
  void release_next(const std::shared_ptr<Releasing>& releasing);

  // All of the cluster, terminated ones too. `failed` gets the error of a list with a hole.
  void collect(std::function<void(Instances)> complete, std::function<void(CallError)> failed);
  void read_catalogue();
  void read_next(const std::shared_ptr<Sold>& sold);
  void prices_unread(Sold& sold, bool spot, std::string_view why);
  void end_reading(const std::shared_ptr<Sold>& sold);
  void tell_of_prices(const std::string& fault);

  std::function<void()> work_of(const Command& command) override;
  void list(std::function<void(List)> complete, std::function<void()> broken) override;
  void read_more() override { read_catalogue(); }

  Client& client_;
  InstanceReads instances_;
  const ports::WithheldTexts& withheld_;
  const providers::aws::Cluster cluster_;
  bool price_list_ = true;
  Tell tell_;
  KeptAnswers kept_;
  using Answered =
      std::function<void(const std::vector<std::string>& pages, const CallError& error)>;
  std::map<std::string, std::vector<Answered>> asked_;  // under way, by the request's text
  std::map<std::string, std::int64_t> silent_since_;    // class uids of which something is unread
  std::shared_ptr<Sold> sold_;                          // what was read last; none: nothing yet
  std::string prices_fault_told_;                       // empty: none
  std::set<std::string> faults_told_;                   // keys of questions
};

}  // namespace karst::cloud::aws
