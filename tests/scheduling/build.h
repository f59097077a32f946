// Small problems for the scheduling tests: a catalogue whose prices and sizes can be worked out in
// one's head. Units: CPU in millicores, memory in GiB, prices in cents per hour.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "scheduling/problem.h"

namespace karst::scheduling::test {

inline constexpr std::int64_t kGi = std::int64_t{1} << 30;
inline const std::string kZone(model::kZoneLabel);
inline const std::string kHost(model::kHostnameLabel);
inline constexpr std::int64_t kCent = 10'000'000;

inline model::RequirementSpec in(std::string key, std::vector<std::string> values) {
  return {std::move(key), model::Operator::kIn, std::move(values), 0};
}

inline model::Resources amounts(std::int64_t cpu_millis, std::int64_t memory_gi,
                                std::int64_t pods = 1) {
  model::Resources resources;
  resources.cpu_millis = cpu_millis;
  resources.memory_bytes = memory_gi * kGi;
  resources.pods = pods;
  return resources;
}

inline Offering offering(const std::string& zone, const std::string& capacity_type,
                         std::int64_t price) {
  Offering result;
  result.requirements = {in(std::string(model::kZoneLabel), {zone}),
                         in(std::string(model::kCapacityTypeLabel), {capacity_type})};
  result.price_nanos_per_hour = price;
  return result;
}

// On demand in zones a and b, spot at 70% in zone a only.
inline InstanceType machine(const std::string& name, std::int64_t cpu, std::int64_t memory_gi,
                            std::int64_t cents, const std::string& arch = "amd64") {
  InstanceType type;
  type.name = name;
  type.requirements = {in(std::string(model::kArchLabel), {arch}),
                       in(std::string(model::kOsLabel), {"linux"}),
                       in(std::string(model::kInstanceTypeLabel), {name})};
  type.capacity = amounts(cpu * 1000, memory_gi, 16 * cpu);
  type.allocatable = type.capacity;
  type.offerings = {offering("a", "on-demand", cents * kCent),
                    offering("b", "on-demand", cents * kCent),
                    offering("a", "spot", cents * kCent * 7 / 10)};
  return type;
}

inline std::vector<InstanceType> machines() {
  return {machine("m1", 1, 4, 10), machine("m2", 2, 8, 20), machine("m4", 4, 16, 40),
          machine("m8", 8, 32, 80)};
}

inline Pool pool(const std::string& name = "default") {
  Pool result;
  result.pool.name = model::PoolName(name);
  result.pool.node_class = {"karpenter.kwok.sh", "KWOKNodeClass", "default"};
  result.types = machines();
  return result;
}

inline PodGroup pods(std::int64_t count, std::int64_t cpu_millis, std::int64_t memory_gi = 1) {
  PodGroup group;
  group.shape.requests = amounts(cpu_millis, memory_gi);
  group.namespace_name = "default";
  group.count = count;
  return group;
}

inline Problem problem(std::vector<PodGroup> groups, std::vector<Pool> pools = {pool()}) {
  Problem result;
  result.pods = std::move(groups);
  result.pools = std::move(pools);
  return result;
}

inline model::PodAffinityTerm one_per_node(const std::string& app) {
  model::PodAffinityTerm term;
  term.anti = true;
  term.topology_key = std::string(model::kHostnameLabel);
  term.selector.expressions = {in("app", {app})};
  return term;
}

// The answer as one line a node, for failures that can be read.
std::string describe(const Problem& problem, const Answer& answer);

// Pods of the group that the answer places.
std::int64_t placed(const Answer& answer, std::size_t group);
std::int64_t placed(const Answer& answer);

// What the answer's claims cost an hour at their cheapest offers, in nano-dollars.
std::int64_t price(const Answer& answer);

// Everything that must hold of any answer; empty, or what is wrong. Written apart from the solver:
// it uses none of its parts.
std::string wrong(const Problem& problem, const Answer& answer);

// The machine of one claim as an existing node: its `nth` listed type.
Node node_of(const Problem& problem, const NewClaim& claim, const std::string& name,
             std::size_t nth = 0);

}  // namespace karst::scheduling::test
