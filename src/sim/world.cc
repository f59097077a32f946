#include "sim/world.h"

#include <algorithm>
#include <utility>

namespace karst::sim {

World::World(Scenario scenario, std::uint64_t seed, ports::FactSink& sink)
    : scenario_(std::move(scenario)),
      core_(seed, scenario_.start_unix_millis, sink),
      api_(core_),
      watches_(core_, api_, scenario_.timing),
      cloud_(core_, scenario_),
      queue_(core_),
      scheduler_(core_, api_),
      controllers_(core_, api_, scenario_),
      kubelets_(core_, api_, cloud_, scenario_),
      hands_(core_, api_, cloud_, controllers_, scenario_),
      mishaps_(core_, api_, cloud_, queue_, scenario_) {
  core_.run = scenario_.run;
  for (const auto& [fault, chance] : scenario_.faults) core_.faults.set(fault, chance);
  for (const model::NodeClass& node_class : scenario_.node_classes) api_.put_node_class(node_class);
  for (const model::NodePool& pool : scenario_.pools) api_.put_pool(pool);
  controllers_.start();
  mishaps_.start();
}

void World::connect() {
  disconnect();
  core_.connected = true;
  watches_.connect();
  cloud_.connect();
  queue_.connect();
  mishaps_.connect();
}

void World::disconnect() {
  core_.connected = false;
  ++core_.connection;
  watches_.disconnect();
}

void World::advance(std::int64_t to_millis) {
  while (core_.queue.next_at() <= to_millis) {
    const auto [at, work] = core_.queue.pop();
    core_.clock.advance_to(at);
    work();
  }
  core_.clock.advance_to(to_millis);
}

PacedWorld::PacedWorld(Scenario scenario, std::uint64_t seed, ports::FactSink& sink,
                       const base::Clock& real, std::int64_t speed)
    : speed_(std::max<std::int64_t>(1, speed)),
      clock_(real, speed_),
      world_(starting_at(std::move(scenario), clock_.monotonic_millis()), seed, sink) {}

std::int64_t PacedWorld::pump(std::int64_t most_millis) {
  world_.advance(clock_.monotonic_millis());
  const std::int64_t next = world_.next_event_at();
  if (next == kNever) return most_millis;
  const std::int64_t wait = (next - clock_.monotonic_millis() + speed_ - 1) / speed_;
  return std::clamp<std::int64_t>(wait, 0, most_millis);
}

}  // namespace karst::sim
