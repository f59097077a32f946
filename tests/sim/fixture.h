// A small world for tests: a catalogue of one machine type, one pool, no faults, every fact kept.
#pragma once

#include <string>
#include <vector>

#include "sim/world.h"

namespace karst::sim {

struct Facts : ports::FactSink {
  std::vector<ports::Fact> all;
  bool offer(ports::Fact fact) override {
    all.push_back(std::move(fact));
    return true;
  }
  template <class Body>
  std::vector<Body> of() const {
    std::vector<Body> bodies;
    for (const ports::Fact& fact : all)
      if (const auto* body = std::get_if<Body>(&fact.body)) bodies.push_back(*body);
    return bodies;
  }
};

inline model::Catalogue one_type() {
  model::InstanceType type;
  type.name = "small";
  type.requirements = {{std::string(model::kArchLabel), model::Operator::kIn, {"amd64"}, 0}};
  type.capacity.cpu_millis = 4'000;
  type.capacity.memory_bytes = std::int64_t{8} << 30;
  type.capacity.pods = 20;
  type.allocatable = type.capacity;
  type.offerings = {{"zone-a", "spot", 10, true}, {"zone-b", "on-demand", 30, true}};
  return {"kwok", {type}};
}

inline model::PodShape pod_of(std::int64_t cpu_millis) {
  model::PodShape shape;
  shape.requests.cpu_millis = cpu_millis;
  shape.requests.pods = 1;
  shape.owner_kind = model::OwnerKind::kReplicaSet;
  return shape;
}

inline Scenario plain_scenario() {
  Scenario scenario;
  scenario.catalogue = one_type();
  model::NodePool pool;
  pool.name = model::PoolName("default");
  scenario.pools = {pool};
  return scenario;
}

inline model::Offer spot_offer() {
  return {"small", "zone-a", "spot", 10};
}

inline model::Launch order_for(const std::string& claim, std::uint32_t attempt,
                               const std::string& token) {
  model::Launch launch;
  launch.items = {{model::ClaimUid(claim), model::ClaimName(claim), attempt}};
  launch.token = model::LaunchToken(token);
  launch.pool = model::PoolName("default");
  launch.offers = {spot_offer()};
  launch.request = "request of " + token;
  return launch;
}

// A connected world, and commands by position.
struct Bench {
  explicit Bench(Scenario scenario = plain_scenario(), std::uint64_t seed = 1)
      : world(std::move(scenario), seed, facts) {
    world.connect();
  }
  void run(std::int64_t millis) {
    const std::int64_t until = world.now() + millis;
    while (world.next_event_at() <= until) world.advance(world.next_event_at());
    world.advance(until);
  }
  model::Outcome ask(model::CommandSpec spec) {
    const model::Position position(++last);
    world.kube().submit({{model::LogId("log"), position}, 1, std::move(spec)});
    run(15'000);
    for (const auto& outcome : facts.of<model::Outcome>())
      if (outcome.command == position) return outcome;
    return {};
  }

  Facts facts;
  World world;
  std::uint64_t last = 0;
};

}  // namespace karst::sim
