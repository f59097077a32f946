#include "sim/watches.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace karst::sim {

Watches::Watches(Core& core, ApiServer& api, const Timing& timing)
    : core_(core), api_(api), timing_(timing) {
  api_.on_event(
      [this](Kind kind, std::vector<events::Body> bodies) { changed(kind, std::move(bodies)); });
}

void Watches::connect() {
  for (std::size_t i = 0; i < kKinds; ++i) {
    const auto kind = static_cast<Kind>(i);
    Stream& fresh = stream(kind);
    ++fresh.generation;
    fresh.live = false;
    const std::uint64_t generation = fresh.generation;
    core_.after(core_.delay(timing_.kube_call.first, timing_.kube_call.second),
                [this, kind, generation] {
                  if (stream(kind).generation == generation) list(kind);
                });
    beat(kind, core_.connection);
  }
}

void Watches::disconnect() {
  for (Stream& one : streams_) {
    ++one.generation;
    one.live = false;
  }
}

void Watches::break_watch(Kind kind) {
  Stream& broken = stream(kind);
  ++broken.generation;
  broken.live = false;
  core_.tell("watch of " + std::string(kind_name(kind)) + " breaks");
  const std::uint64_t generation = broken.generation;
  core_.after(core_.faults.rng().between(100, 5'000), [this, kind, generation] {
    if (stream(kind).generation == generation) list(kind);
  });
}

void Watches::lag(Kind kind, std::int64_t by_millis, std::int64_t lasting_millis) {
  stream(kind).lag_millis = by_millis;
  stream(kind).lag_until = core_.now() + lasting_millis;
  core_.tell("view of " + std::string(kind_name(kind)) + " lags by " + std::to_string(by_millis) +
             " ms");
}

// The list is what is true now; its parts arrive later, and changes queue up behind them. Its
// beginning is told before it is asked for, so that nothing younger can be missing from it
// unnoticed.
void Watches::list(Kind kind) {
  Stream& listed = stream(kind);
  listed.live = true;
  ++listed.version;
  for (const std::string_view one : listed_kinds(kind)) {
    std::vector<events::Body> bodies = api_.list(kind, one);
    const std::string name(one);
    core_.emit(events::ListStarted{name});
    const auto middle = bodies.begin() + static_cast<std::ptrdiff_t>(bodies.size() / 2);
    if (!bodies.empty())
      deliver(kind, 0, {std::make_move_iterator(bodies.begin()), std::make_move_iterator(middle)});
    std::vector<events::Body> second(std::make_move_iterator(middle),
                                     std::make_move_iterator(bodies.end()));
    second.push_back(events::ListEnded{name, std::to_string(listed.version)});
    deliver(kind, 50, std::move(second));
  }
}

void Watches::changed(Kind kind, std::vector<events::Body> bodies) {
  Stream& live = stream(kind);
  ++live.version;
  if (!live.live) return;
  if (core_.faults.strikes(Fault::kDuplicateDelivery)) {
    auto twice = bodies;
    deliver(kind, 0, std::move(twice));
  }
  const bool late = core_.faults.strikes(Fault::kLateDelivery);
  deliver(kind, late ? core_.faults.rng().between(1'000, 20'000) : 0, std::move(bodies));
}

void Watches::deliver(Kind kind, std::int64_t extra_millis, std::vector<events::Body> bodies) {
  Stream& to = stream(kind);
  std::int64_t at =
      core_.now() + core_.delay(timing_.watch.first, timing_.watch.second) + extra_millis;
  if (core_.now() < to.lag_until) at += to.lag_millis;
  at = std::max(at, to.last_delivery);
  to.last_delivery = at;
  const std::uint64_t generation = to.generation;
  core_.queue.at(at, [this, kind, generation, what = std::move(bodies)]() mutable {
    if (stream(kind).generation != generation) return;
    for (events::Body& body : what) core_.emit(std::move(body));
  });
}

void Watches::beat(Kind kind, std::uint64_t connection) {
  core_.after(timing_.beat_every, [this, kind, connection] {
    if (connection != core_.connection) return;
    Stream& beating = stream(kind);
    if (beating.live && core_.faults.strikes(Fault::kWatchBreak)) break_watch(kind);
    if (beating.live && core_.faults.strikes(Fault::kStaleView))
      lag(kind, core_.faults.rng().between(5'000, 60'000),
          core_.faults.rng().between(10'000, 60'000));
    if (beating.live)
      deliver(kind, 0,
              {events::SourceBeat{std::string(kind_name(kind)), std::to_string(beating.version)}});
    beat(kind, connection);
  });
}

}  // namespace karst::sim
