// A table of solver cases, and words to write one: each takes a problem, a pool or a group and adds
// one trait.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/scheduling/build.h"

namespace karst::scheduling::test {

struct Case {
  const char* name;
  Problem problem;
  std::vector<std::string> claims;  // "pool cheapest-type: group*count …" in order
  std::vector<std::string> on_nodes;
  std::vector<std::string> unplaced;  // "group*count code,code": a code per pool
};

// Solves twice, judges the answer and compares it with the case.
void expect_case(const Case& test);

inline void expect_cases(const std::vector<Case>& cases) {
  for (const Case& test : cases) expect_case(test);
}

inline PodGroup selecting(PodGroup group, const std::string& key, const std::string& value) {
  model::set_label(group.shape.node_selector, key, value);
  return group;
}

inline PodGroup with_term(PodGroup group, std::vector<model::RequirementSpec> expressions) {
  group.shape.required_terms.push_back({std::move(expressions), false});
  return group;
}

inline PodGroup tolerating(PodGroup group, const std::string& key) {
  group.shape.tolerations.push_back({key, true, "", {}, {}});
  return group;
}

inline PodGroup app(PodGroup group, const std::string& name) {
  model::set_label(group.labels, "app", name);
  return group;
}

inline model::LabelSelector of_app(const std::string& name) {
  return {{in("app", {name})}, false};
}

inline PodGroup spread(PodGroup group, const std::string& key, const std::string& over,
                       std::int32_t skew = 1, std::int32_t min_domains = 0) {
  model::SpreadConstraint one;
  one.topology_key = key;
  one.selector = of_app(over);
  one.max_skew = skew;
  one.min_domains = min_domains;
  group.shape.spread.push_back(one);
  return group;
}

inline PodGroup with_affinity(PodGroup group, const std::string& key, const std::string& to,
                              bool anti) {
  model::PodAffinityTerm term;
  term.anti = anti;
  term.topology_key = key;
  term.selector = of_app(to);
  group.shape.affinity.push_back(term);
  return group;
}

inline PodGroup alone(PodGroup group, const std::string& name) {
  group = app(std::move(group), name);
  group.shape.affinity = {one_per_node(name)};
  return group;
}

inline PodGroup with_port(PodGroup group, std::int32_t port, const std::string& ip = "") {
  group.shape.host_ports.push_back({ip, port, "TCP"});
  return group;
}

inline Pool tainted(Pool pool, const std::string& key,
                    model::TaintEffect effect = model::TaintEffect::kNoSchedule) {
  pool.pool.taints.push_back({key, "yes", effect});
  return pool;
}

inline Pool requiring(Pool pool, model::RequirementSpec spec) {
  pool.pool.requirements.push_back(std::move(spec));
  return pool;
}

inline Pool limited(Pool pool, const std::string& resource, std::int64_t limit,
                    std::int64_t used = 0) {
  pool.pool.limits.push_back({resource, limit});
  if (used != 0) pool.used.push_back({resource, used});
  return pool;
}

inline Pool weighing(Pool pool, std::int32_t weight) {
  pool.pool.weight = weight;
  return pool;
}

inline Node node(const std::string& name, std::int64_t cpu_millis, std::int64_t memory_gi,
                 bool initialized = true) {
  Node result;
  result.name = name;
  result.labels = {{std::string(model::kHostnameLabel), name},
                   {std::string(model::kZoneLabel), "a"}};
  result.available = amounts(cpu_millis, memory_gi, 100);
  result.initialized = initialized;
  return result;
}

inline Problem on(std::vector<Node> nodes, Problem problem) {
  problem.nodes = std::move(nodes);
  return problem;
}

inline Problem under(PodGroup daemon, Problem problem) {
  problem.daemons.push_back({daemon.shape});
  return problem;
}

// Machines of 1 to `largest` CPUs with twice as many GiB, all at one price a CPU, of which a tenth
// of a CPU is not for pods.
inline Pool by_the_cpu(std::int64_t largest) {
  Pool result = pool();
  std::vector<InstanceType> types;
  for (std::int64_t cpus = 1; cpus <= largest; ++cpus) {
    types.push_back(machine("m" + std::to_string(100 + cpus), cpus, 2 * cpus, 10 * cpus));
    types.back().allocatable.cpu_millis -= 100;
  }
  result.types = std::move(types);
  return result;
}

inline PodGroup asking(std::int64_t count, std::int64_t cpu_millis, std::int64_t memory_mib) {
  PodGroup group = pods(count, cpu_millis);
  group.shape.requests.memory_bytes = memory_mib << 20;
  return group;
}

inline PodGroup with_nobody(PodGroup group) {
  group = app(std::move(group), "alone");
  group.shape.affinity = {one_per_node("alone")};
  return group;
}

}  // namespace karst::scheduling::test
