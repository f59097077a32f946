// The hands of EC2: launch sends an order's templates and its one CreateFleet, terminate ends an
// instance that carries the claim's tag, find reads instances by id or by tag, resolve asks what a
// node class's selectors name. Everything on the client transport's thread; one attempt and one
// Outcome for each command. Besides, the account's list of instances every kInstanceListMillis and
// what EC2 sells every kCatalogueMillis, as facts.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "cloud/aws/client.h"
#include "ports/command_port.h"
#include "ports/fact.h"
#include "providers/aws/fleet.h"
#include "providers/aws/resolved.h"

namespace karst::cloud::aws {

inline constexpr std::int64_t kInstanceListMillis = 30'000;
inline constexpr std::int64_t kCatalogueMillis = 60 * 60'000;  // types, offerings and prices
inline constexpr int kQuestionRoundsMax = 10;                  // of one node class

class AwsCloud final : public ports::CommandPort {
 public:
  // All outlive the cloud; destroy the client's transport first. `cluster`: what launches need to
  // know of the cluster; its name is in the tags by which instances are ours.
  AwsCloud(Client& client, ports::FactSink& sink, const base::Clock& clock,
           providers::aws::Cluster cluster);
  ~AwsCloud() override;

  // Launches and terminations leave only while `guard()` gives a function that says so: it is taken
  // when a command is submitted, and asked when a request goes out. Before start().
  void guard_writes(std::function<std::function<bool()>()> guard) { guard_ = std::move(guard); }

  // Begins the periodic reads. Any thread, once.
  void start();
  // Lists instances now, and reports no list that was asked for before. Any thread, after start().
  void relist();

  // Launch, Terminate, FindInstances and ResolveNodeClass (model::goes_to_cloud).
  void submit(const ports::IssuedCommand& command) override;

 private:
  using Command = std::shared_ptr<const ports::IssuedCommand>;
  using MayLeave = std::function<bool()>;
  using Instances = std::vector<providers::aws::FoundInstance>;
  struct Order;   // a launch under way
  struct Asking;  // a node class whose questions are being answered
  struct Sold;    // what EC2 sells, being read

  void launch(const Command& command, const model::Launch& spec, MayLeave may_leave);
  void make_template(const std::shared_ptr<Order>& order, std::size_t index);
  void make_fleet(const std::shared_ptr<Order>& order);
  void read_fleet(const std::shared_ptr<Order>& order, const Answer& answer);
  void find_by_token(const std::shared_ptr<Order>& order);

  void terminate(const Command& command, const model::Terminate& spec, MayLeave may_leave);
  void end_instance(const Command& command, const model::Terminate& spec, model::Instance instance,
                    MayLeave may_leave);
  void find(const Command& command, const model::FindInstances& spec);
  void find_by_id(const Command& command, const model::FindInstances& spec);

  void resolve(const Command& command, const model::ResolveNodeClass& spec);
  void ask(const std::shared_ptr<Asking>& asking);

  // All of the cluster, terminated ones too. `failed` gets the error of a list with a hole.
  void collect(std::function<void(Instances)> complete, std::function<void(CallError)> failed);
  void list_instances();
  void read_catalogue();
  void read_next(const std::shared_ptr<Sold>& sold);

  // The end of a command that changed something, or of one that only read.
  void settle(model::Outcome outcome);
  void finish(model::Outcome outcome);
  void offer(events::Body body);

  Client& client_;
  ports::FactSink& sink_;
  const base::Clock& clock_;
  const providers::aws::Cluster cluster_;
  std::function<std::function<bool()>()> guard_;
  std::atomic<std::size_t> in_flight_{0};
  // Counts launches and terminations as they begin and end: a list that ran beside one says nothing
  // sure about it, and is taken again.
  std::atomic<std::uint64_t> changes_{0};
  std::atomic<std::size_t> changing_{0};
  std::uint64_t lists_ = 0;  // rounds of the periodic list; the transport's thread
  bool stopped_ = false;     // the engine takes nothing more; the transport's thread
};

}  // namespace karst::cloud::aws
