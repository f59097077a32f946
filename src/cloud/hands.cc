#include "cloud/hands.h"

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
  if (!full) return after_(0, work_of(command));
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
  ++changes_;
  --changing_;
  finish(std::move(outcome));
}

void Hands::list_instances() {
  if (stopped_) return;
  const std::uint64_t before = changes_;
  const bool busy = changing_ > 0;
  const std::uint64_t round = lists_;  // a later one has its own list under way
  const auto again = [this, round](std::int64_t millis) {
    after_(millis, [this, round] {
      if (round == lists_) list_instances();
    });
  };
  list(
      [this, before, busy, round, again](List all) {
        if (round != lists_) return;
        if (busy || changing_ > 0 || changes_ != before) return again(kListAgainMillis);
        offer(events::ListStarted{"Instance"});
        for (model::Instance& one : all.instances) offer(events::InstanceObserved{std::move(one)});
        offer(events::ListEnded{"Instance", std::move(all.version)});
        again(kInstanceListMillis);
      },
      [again] { again(kListAgainMillis); });
}

model::Instance gone_instance(const model::Terminate& spec) {
  model::Instance instance;
  instance.provider_id = spec.provider_id;
  instance.claim = spec.claim;
  instance.state = model::InstanceState::kTerminated;
  return instance;
}

}  // namespace karst::cloud
