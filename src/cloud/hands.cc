#include "cloud/hands.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "ports/outcome.h"

namespace karst::cloud {

Hands::Hands(After after, ports::FactSink& sink, const base::Clock& clock)
    : clock_(clock), after_(std::move(after)), sink_(sink) {}

void Hands::start() {
  after_(0, [this] {
    list_instances();
    read_more();
  });
}

void Hands::relist() {
  after_(0, [this] {
    ++lists_;
    list_instances();
  });
}

void Hands::submit(const ports::IssuedCommand& issued) {
  const model::CommandKind kind = model::kind_of(issued.spec);
  KARST_CHECK(model::goes_to_cloud(kind), "a command of the API server at the cloud's hands");
  const auto command = std::make_shared<const ports::IssuedCommand>(issued);
  const bool full = in_flight_.fetch_add(1) >= ports::kInFlightMax;
  const bool changes =
      kind == model::CommandKind::kLaunch || kind == model::CommandKind::kTerminate;
  if (changes) {
    ++changing_;
    ++changes_;
  }
  // On the transport's thread, so that the caller never waits for its own inbox.
  if (!full)
    return after_(0, [this, command, changes, work = work_of(command)] {
      if (changes) begin_change(command);
      work();
    });
  after_(0, [this, command, changes] {
    auto outcome =
        ports::refused(*command, model::RefusalCode::kThrottled, "too many commands in flight");
    changes ? settle(std::move(outcome)) : finish(std::move(outcome));
  });
}

void Hands::offer(events::Body body) {
  if (!stopped_) stopped_ = !sink_.offer({std::move(body), clock_.wall(), {}});
}

void Hands::finish(model::Outcome outcome) {
  in_flight_.fetch_sub(1);
  offer(std::move(outcome));
}

void Hands::settle(model::Outcome outcome) {
  open_changes_.erase({outcome.command, outcome.attempt});
  ++changes_;
  --changing_;
  finish(std::move(outcome));
}

void Hands::Touched::add(const model::CommandSpec& spec) {
  if (const auto* launch = std::get_if<model::Launch>(&spec))
    for (const model::LaunchItem& item : launch->items) claims.insert(item.claim);
  if (const auto* end = std::get_if<model::Terminate>(&spec))
    machines.insert(model::machine_of(end->provider_id));
}

bool Hands::Touched::has(const model::Instance& instance) const {
  return claims.contains(instance.claim) ||
         machines.contains(model::machine_of(instance.provider_id));
}

std::vector<std::string> Hands::Touched::ids() const {
  std::vector<std::string> all;
  for (const model::ClaimUid& claim : claims) all.push_back(claim.str());
  for (const model::ProviderId& machine : machines) all.push_back(machine.str());
  return all;
}

void Hands::begin_change(const Command& command) {
  open_changes_.emplace(std::pair(command->id.position, command->attempt), command);
  touched_.add(command->spec);
}

void Hands::list_instances() {
  if (stopped_) return;
  const std::uint64_t before = changes_;
  const bool changing = changing_ > 0;
  touched_ = {};
  for (const auto& [id, command] : open_changes_) touched_.add(command->spec);
  const std::uint64_t round = lists_;  // a later one has its own list under way
  const auto again = [this, round](std::int64_t millis) {
    after_(millis, [this, round] {
      if (round == lists_) list_instances();
    });
  };
  list(
      [this, before, changing, round, again](List all) {
        if (round != lists_) return;
        const bool beside = changing || changing_ > 0 || changes_ != before;
        const std::int64_t now = clock_.monotonic_millis();
        if (beside && busy_since_ < 0) busy_since_ = now;
        const std::int64_t busy = now - busy_since_;
        if (beside && busy < kListBesideMillis)
          return again(std::max(kListAgainMillis, std::min(busy, kListBesideMillis - busy)));
        busy_since_ = -1;
        tell(std::move(all), beside ? touched_ : Touched());
        again(kInstanceListMillis);
      },
      [again] { again(kListAgainMillis); });
}

void Hands::tell(List all, const Touched& without) {
  offer(events::ListStarted{"Instance"});
  for (model::Instance& one : all.instances)
    if (!without.has(one)) offer(events::InstanceObserved{std::move(one)});
  offer(events::ListEnded{"Instance", std::move(all.version), without.ids()});
}

model::Instance gone_instance(const model::Terminate& spec) {
  model::Instance instance;
  instance.provider_id = spec.provider_id;
  instance.claim = spec.claim;
  instance.state = model::InstanceState::kTerminated;
  return instance;
}

}  // namespace karst::cloud
