// Small clusters for the disruption tests: nodes of the machines of tests/scheduling/build.h, in
// zone a, with pods of one CPU size each. Prices in cents an hour.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "disruption/world.h"
#include "tests/scheduling/build.h"

namespace karst::disruption::test {

using scheduling::test::kCent;

inline constexpr std::int64_t kNow = 1'000'000'000;

inline World world(const std::vector<std::string>& pools = {"default"}) {
  World result;
  result.now = base::LogTime(kNow);
  for (const std::string& name : pools) {
    Pool pool;
    pool.pool = scheduling::test::pool(name);
    pool.pool.pool.consolidate_after_millis = 0;
    pool.pool.pool.budgets = {{"100%", {}, "", 0}};
    result.pools.push_back(std::move(pool));
  }
  return result;
}

// A node that consolidation may take. `type` is one of m1, m2, m4, m8.
inline std::size_t add_node(World& world, const std::string& type,
                            const std::string& capacity_type = "on-demand",
                            const std::string& pool = "default") {
  Node node;
  node.name = "node-" + std::to_string(world.nodes.size() + 1);
  node.managed = node.initialized = node.ready = node.consolidatable = true;
  for (const auto& [key, value] : std::vector<std::pair<std::string_view, std::string>>{
           {model::kNodePoolLabel, pool},
           {model::kInstanceTypeLabel, type},
           {model::kCapacityTypeLabel, capacity_type},
           {model::kZoneLabel, "a"},
           {model::kArchLabel, "amd64"},
           {model::kOsLabel, "linux"},
           {model::kHostnameLabel, node.name}})
    model::set_label(node.labels, key, value);
  scheduling::Node seen;
  seen.name = node.name;
  seen.labels = node.labels;
  for (const scheduling::InstanceType& one : scheduling::test::machines())
    if (one.name == type) {
      seen.available = one.allocatable;
      node.capacity = one.capacity;
    }
  world.nodes.push_back(std::move(node));
  world.base.nodes.push_back(std::move(seen));
  return world.nodes.size() - 1;
}

// A pod of that size, bound to the node, or pending.
inline Pod& add_pod(World& world, std::size_t node, std::int64_t cpu_millis,
                    model::PodShape shape = {}) {
  shape.requests = scheduling::test::amounts(cpu_millis, 0);
  Pod pod;
  pod.namespace_name = "default";
  pod.name = "pod-" + std::to_string(world.pods.size() + 1);
  pod.shape = world.shapes.size();
  pod.node = node;
  pod.provisionable = node == kNowhere;
  if (node != kNowhere) {
    world.nodes[node].pods.push_back(world.pods.size());
    world.base.nodes[node].available -= shape.requests;
  }
  world.shapes.push_back(std::move(shape));
  world.pods.push_back(std::move(pod));
  return world.pods.back();
}

}  // namespace karst::disruption::test
