#include "sim/scenario.h"

#include <algorithm>

#include "sim/rng.h"

namespace karst::sim {

namespace {

constexpr std::int64_t kSecond = 1'000;
constexpr std::int64_t kMinute = 60 * kSecond;
constexpr std::int64_t kMi = std::int64_t{1} << 20;

model::NodeClassRef kwok_class() {
  return {"karpenter.kwok.sh", "KWOKNodeClass", "default"};
}

model::NodeClass default_node_class() {
  model::NodeClass node_class;
  node_class.ref = kwok_class();
  node_class.uid = "nodeclass-default";
  node_class.generation = 1;
  node_class.spec_json = "{}";
  return node_class;
}

model::NodePool pool_named(const std::string& name, std::int64_t consolidate_after_millis) {
  model::NodePool pool;
  pool.name = model::PoolName(name);
  pool.uid = "pool-" + name;
  pool.generation = 1;
  pool.node_class = kwok_class();
  pool.consolidate_after_millis = consolidate_after_millis;
  pool.consolidation_policy = model::ConsolidationPolicy::kWhenEmpty;
  pool.budgets = {model::Budget{"100%", {}, "", 0}};
  // Small machines only, so that a few hundred pods need tens of them.
  pool.requirements = {
      {std::string(model::kArchLabel), model::Operator::kIn, {"amd64"}, 0},
      {"karpenter.kwok.sh/instance-cpu", model::Operator::kIn, {"1", "2", "4", "8"}, 0}};
  return pool;
}

model::PodShape shape_of(std::int64_t cpu_millis, std::int64_t memory_mi, model::OwnerKind owner) {
  model::PodShape shape;
  shape.requests.cpu_millis = cpu_millis;
  shape.requests.memory_bytes = memory_mi * kMi;
  shape.requests.pods = 1;
  shape.owner_kind = owner;
  return shape;
}

model::Toleration tolerate_all() {
  model::Toleration toleration;
  toleration.exists = true;
  return toleration;
}

Workload workload_named(const std::string& name, model::PodShape shape,
                        std::vector<ReplicaStep> timeline) {
  Workload workload;
  workload.name = name;
  workload.labels = {{"app", name}};
  workload.shape = std::move(shape);
  workload.timeline = std::move(timeline);
  return workload;
}

// Random parts

class Draw {
 public:
  Draw(std::uint64_t seed, Scenario& scenario) : rng_(seed, 3), scenario_(scenario) {}

  void pools() {
    scenario_.pools.push_back(pool_named("default", 1000 * rng_.between(5, 60)));
    if (rng_.chance(3'000))
      scenario_.pools[0].budgets[0].nodes = std::to_string(rng_.between(5, 10));
    if (rng_.chance(2'000)) scenario_.pools[0].requirements.clear();
    if (rng_.chance(4'000))
      scenario_.pools[0].startup_taints = {
          {"example.com/agent", "", model::TaintEffect::kNoSchedule}};
    if (rng_.chance(3'000))
      scenario_.pools[0].termination_grace_millis = 1000 * rng_.between(30, 120);
    if (rng_.chance(5'000)) {
      model::NodePool team = pool_named("team", 1000 * rng_.between(5, 60));
      team.taints = {{"example.com/team", "blue", model::TaintEffect::kNoSchedule}};
      team.template_labels = {{"example.com/team", "blue"}};
      scenario_.pools.push_back(team);
    }
    if (rng_.chance(5'000)) {
      model::NodePool limited = pool_named("limited", 1000 * rng_.between(5, 60));
      limited.weight = 10;
      limited.limits = {{"cpu", 1000 * rng_.between(8, 48)}};
      if (rng_.chance(5'000)) limited.limits.emplace_back("nodes", rng_.between(2, 10));
      limited.requirements.push_back(
          {std::string(model::kCapacityTypeLabel), model::Operator::kIn, {"spot"}, 0});
      scenario_.pools.push_back(limited);
    }
  }

  void workloads() {
    const std::int64_t count = rng_.between(3, 7);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto owner =
          rng_.chance(2'000) ? model::OwnerKind::kStatefulSet : model::OwnerKind::kReplicaSet;
      Workload workload =
          workload_named("app-" + std::to_string(i), random_shape(owner), timeline());
      if (rng_.chance(3'000)) workload.min_available = 1;
      scenario_.workloads.push_back(std::move(workload));
    }
    for (std::int64_t i = rng_.below(3); i > 0; --i) {
      Workload job =
          workload_named("job-" + std::to_string(i), random_shape(model::OwnerKind::kJob), {});
      job.run_millis = kSecond * rng_.between(20, 180);
      for (std::int64_t step = rng_.between(1, 3); step > 0; --step)
        job.timeline.push_back({rng_.between(1, 15) * kMinute, rng_.between(1, 12)});
      std::sort(
          job.timeline.begin(), job.timeline.end(),
          [](const ReplicaStep& a, const ReplicaStep& b) { return a.at_millis < b.at_millis; });
      scenario_.workloads.push_back(std::move(job));
    }
    if (rng_.chance(6'000)) {
      DaemonWorkload agent{"agent", shape_of(50, 64, model::OwnerKind::kDaemonSet)};
      agent.shape.tolerations = {tolerate_all()};
      scenario_.daemon_sets.push_back(std::move(agent));
    }
    if (rng_.chance(3'000))
      scenario_.daemon_sets.push_back({"logs", shape_of(100, 128, model::OwnerKind::kDaemonSet)});
  }

  void mishaps() {
    for (std::int64_t i = rng_.below(4); i > 0; --i)
      scenario_.interruptions.push_back(
          {rng_.between(2, 21) * kMinute, rng_.chance(7'000) ? "spot" : ""});
    for (std::int64_t i = rng_.below(2); i > 0; --i)
      scenario_.kills.push_back({rng_.between(2, 20) * kMinute, ""});
    scenario_.cloud_deletes_nodes = rng_.chance(5'000);
  }

  // Every fault is drawn apart, so that storms differ in kind, not only in strength.
  void faults() {
    const auto add = [&](Fault fault, std::int64_t probability, std::int64_t low,
                         std::int64_t high) {
      if (rng_.chance(probability)) scenario_.faults.emplace_back(fault, rng_.between(low, high));
    };
    add(Fault::kDuplicateDelivery, 5'000, 100, 3'000);
    add(Fault::kLateDelivery, 3'000, 10, 200);
    add(Fault::kWatchBreak, 5'000, 100, 2'000);
    add(Fault::kStaleView, 3'000, 100, 1'000);
    add(Fault::kWriteConflict, 4'000, 100, 3'000);
    add(Fault::kServerError, 4'000, 100, 3'000);
    add(Fault::kAnswerLostBeforeEffect, 4'000, 100, 2'000);
    add(Fault::kAnswerLostAfterEffect, 4'000, 100, 2'000);
    add(Fault::kEvictionBlocked, 4'000, 500, 5'000);
    add(Fault::kNoCapacity, 5'000, 100, 3'000);
    add(Fault::kPartialFleet, 5'000, 1'000, 5'000);
    add(Fault::kThrottled, 4'000, 100, 3'000);
    add(Fault::kLaunchAnswerLost, 5'000, 500, 4'000);
    add(Fault::kLateSuccess, 3'000, 200, 2'000);
    add(Fault::kListMissesInstance, 4'000, 500, 5'000);
    add(Fault::kTerminateIgnored, 3'000, 500, 4'000);
    add(Fault::kTerminateSlow, 4'000, 500, 5'000);
    add(Fault::kNeverRegisters, 3'000, 200, 2'000);
    add(Fault::kNeverReady, 3'000, 200, 1'000);
    add(Fault::kOutsideKill, 4'000, 20, 200);
    add(Fault::kFinalizerStripped, 3'000, 20, 200);
    add(Fault::kNodeDeleted, 3'000, 20, 200);
    add(Fault::kClaimDeleted, 3'000, 20, 200);
    add(Fault::kMessageDuplicate, 5'000, 1'000, 8'000);
    add(Fault::kMessageLate, 3'000, 1'000, 5'000);
    add(Fault::kMessageForeign, 5'000, 50, 500);
    add(Fault::kMessageMalformed, 5'000, 50, 500);
    add(Fault::kWallJump, 3'000, 20, 200);
    add(Fault::kCrashBeforeAppend, 4'000, 2, 30);
    add(Fault::kCrashAfterAppend, 4'000, 2, 30);
    add(Fault::kPowerLoss, 5'000, 2'000, 8'000);
    add(Fault::kCrashInDispatch, 4'000, 10, 200);
    add(Fault::kDiskFull, 2'000, 2, 20);
  }

 private:
  model::PodShape random_shape(model::OwnerKind owner) {
    constexpr std::int64_t kCpu[] = {100, 250, 500, 1'000, 2'000, 4'000};
    constexpr std::int64_t kMemory[] = {128, 512, 1'024, 2'048, 8'192};
    model::PodShape shape = shape_of(kCpu[rng_.below(6)], kMemory[rng_.below(5)], owner);
    shape.grace_seconds = rng_.chance(5'000) ? 30 : rng_.between(1, 60);
    const bool has_team =
        std::any_of(scenario_.pools.begin(), scenario_.pools.end(),
                    [](const model::NodePool& pool) { return pool.name.str() == "team"; });
    if (has_team && rng_.chance(3'000)) {
      model::Toleration toleration;
      toleration.key = "example.com/team";
      toleration.value = "blue";
      shape.tolerations = {toleration};
      shape.node_selector = {{"example.com/team", "blue"}};
    } else if (rng_.chance(2'000)) {
      shape.node_selector = {{std::string(model::kZoneLabel), zone()}};
    } else if (rng_.chance(2'000)) {
      model::NodeSelectorTerm term;
      term.expressions = {
          {std::string(model::kZoneLabel), model::Operator::kIn, {zone(), zone()}, 0}};
      auto& values = term.expressions[0].values;
      std::sort(values.begin(), values.end());
      values.erase(std::unique(values.begin(), values.end()), values.end());
      shape.required_terms = {term};
    } else if (rng_.chance(2'000)) {
      shape.node_selector = {
          {std::string(model::kCapacityTypeLabel), rng_.chance(5'000) ? "spot" : "on-demand"}};
    }
    return shape;
  }

  std::string zone() {
    const auto& offerings = scenario_.catalogue.types.front().offerings;
    return offerings[static_cast<std::size_t>(
                         rng_.below(static_cast<std::int64_t>(offerings.size())))]
        .zone;
  }

  std::vector<ReplicaStep> timeline() {
    std::vector<ReplicaStep> steps{{kSecond * rng_.between(5, 120), rng_.between(1, 30)}};
    for (std::int64_t at = steps[0].at_millis; rng_.chance(8'000);) {
      at += kSecond * rng_.between(30, 420);
      if (at > 20 * kMinute) break;
      steps.push_back({at, rng_.chance(2'500) ? 0 : rng_.between(0, 30)});
    }
    return steps;
  }

  Rng rng_;
  Scenario& scenario_;
};

}  // namespace

Scenario random_scenario(std::uint64_t seed, const model::Catalogue& catalogue) {
  Scenario scenario;
  scenario.name = "seed " + std::to_string(seed);
  scenario.catalogue = catalogue;
  scenario.node_classes = {default_node_class()};
  scenario.storm_from_millis = 5 * kMinute;
  scenario.storm_until_millis = 20 * kMinute;
  scenario.end_millis = 30 * kMinute;
  Draw draw(seed, scenario);
  draw.pools();
  draw.workloads();
  draw.mishaps();
  draw.faults();
  return scenario;
}

Scenario demo_scenario(const model::Catalogue& catalogue) {
  Scenario scenario;
  scenario.name = "demo";
  scenario.catalogue = catalogue;
  scenario.node_classes = {default_node_class()};
  scenario.pools = {pool_named("default", 4 * kSecond)};
  scenario.timing.boot = {2'500, 3'000};
  scenario.timing.ready = {300, 600};
  scenario.timing.pod_start = {300, 900};
  scenario.timing.shut_down = {1'000, 2'000};
  scenario.timing.instance_list_every = 20'000;
  scenario.daemon_sets = {{"agent", shape_of(50, 64, model::OwnerKind::kDaemonSet)}};
  scenario.daemon_sets[0].shape.tolerations = {tolerate_all()};
  model::PodShape zonal = shape_of(500, 1'024, model::OwnerKind::kReplicaSet);
  zonal.node_selector = {
      {std::string(model::kZoneLabel),
       catalogue.types.empty() ? "" : catalogue.types.front().offerings.front().zone}};
  model::PodShape spot = shape_of(2'000, 2'048, model::OwnerKind::kReplicaSet);
  spot.node_selector = {{std::string(model::kCapacityTypeLabel), "spot"}};
  Workload reports =
      workload_named("report", shape_of(1'000, 512, model::OwnerKind::kJob), {{14 * kSecond, 4}});
  reports.run_millis = 6 * kSecond;
  scenario.workloads = {workload_named("web", shape_of(250, 512, model::OwnerKind::kReplicaSet),
                                       {{2 * kSecond, 6}, {12 * kSecond, 14}, {29 * kSecond, 0}}),
                        workload_named("cache", zonal, {{7 * kSecond, 4}, {29 * kSecond, 0}}),
                        workload_named("render", spot, {{9 * kSecond, 3}, {29 * kSecond, 0}}),
                        reports};
  scenario.interruptions = {{21 * kSecond, "spot"}};
  return scenario;
}

}  // namespace karst::sim
