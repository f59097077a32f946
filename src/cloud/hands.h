// What the hands of every cloud have in common: commands in flight are counted and bounded, each
// ends in one Outcome, and besides, all instances are listed every kInstanceListMillis as facts. A
// list that ran beside a launch or a termination says nothing sure about what these changed, and is
// taken again; after kListBesideMillis of that it is told of everything else.
// A cloud says how a command is carried out and how its instances are listed. Any thread may call
// what is public; everything else happens on the transport's thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "model/cloud.h"
#include "ports/command_port.h"
#include "ports/fact.h"

namespace karst::cloud {

inline constexpr std::int64_t kInstanceListMillis = 30'000;
inline constexpr std::int64_t kListAgainMillis =
    1'000;  // a list beside a launch, or one that failed
// While launches and terminations never pause, every list runs beside one: it is taken again after
// as long as it has been so already, and after so long it is told without what they may have
// changed.
inline constexpr std::int64_t kListBesideMillis = 30'000;

// Runs an action on the transport's thread after so many milliseconds.
using After = std::function<void(std::int64_t millis, std::function<void()> action)>;

class Hands : public ports::CommandPort {
 public:
  // Begins the periodic reads. Once.
  void start();
  // Lists instances now, and reports no list that was asked for before. After start().
  void relist();
  // Launch, Terminate, FindInstances, ResolveNodeClass and ReleaseNodeClass (model::goes_to_cloud).
  void submit(const ports::IssuedCommand& command) final;

 protected:
  using Command = std::shared_ptr<const ports::IssuedCommand>;
  struct List {
    std::vector<model::Instance> instances;
    std::string version;
  };

  // `sink` and `clock` outlive the hands; the transport behind `after` is destroyed first.
  Hands(After after, ports::FactSink& sink, const base::Clock& clock);

  // What carries the command out, to be run on the transport's thread; it comes to one settle() or
  // finish(). On the submitting thread, so that it may note what holds at this moment.
  virtual std::function<void()> work_of(const Command& command) = 0;
  // All instances of the cluster; nothing is called when the transport is at its end.
  virtual void list(std::function<void(List)> complete, std::function<void()> broken) = 0;
  virtual void read_more() {}  // other periodic reads, once at the start

  // The end of a command that may have changed something (Launch, Terminate), and of others.
  void settle(model::Outcome outcome);
  void finish(model::Outcome outcome);
  void offer(events::Body body);
  bool stopped() const { return stopped_; }

  const base::Clock& clock_;

 private:
  // What was being changed while a list ran: claims that machines were ordered for, and machines.
  struct Touched {
    std::set<model::ClaimUid> claims;
    std::set<model::ProviderId> machines;  // as model::machine_of() has them
    void add(const model::CommandSpec& spec);
    bool has(const model::Instance& instance) const;
    std::vector<std::string> ids() const;
  };
  void begin_change(const Command& command);
  void list_instances();
  void tell(List all, const Touched& without);

  const After after_;
  ports::FactSink& sink_;
  std::atomic<std::size_t> in_flight_{0};
  // Count launches and terminations as they begin and end, on the submitting thread.
  std::atomic<std::uint64_t> changes_{0};
  std::atomic<std::size_t> changing_{0};
  std::map<std::pair<model::Position, std::uint32_t>, Command> open_changes_;
  Touched touched_;               // since the list that is under way began
  std::int64_t busy_since_ = -1;  // on the steady clock; -1: the last list was told
  std::uint64_t lists_ = 0;       // rounds of the periodic list
  bool stopped_ = false;          // the engine takes nothing more
};

// What a termination reports of an instance that is no more.
model::Instance gone_instance(const model::Terminate& spec);

}  // namespace karst::cloud
