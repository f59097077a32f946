// The naive exhaustive twin: every way to part a few pods into nodes, each node on the cheapest
// machine that holds its pods.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <optional>

#include "tests/scheduling/cases.h"
#include "tests/scheduling/random.h"

namespace karst::scheduling::test {
namespace {

InstanceType random_machine(std::int64_t index) {
  const std::int64_t cpu = pick(1, 9);
  const std::int64_t memory = pick(1, 17);
  // About a linear price, with a grain of the market.
  return machine("t" + std::to_string(index), cpu, memory, 3 * cpu + memory + pick(0, 4));
}

Problem tiny_problem() {
  std::vector<PodGroup> groups;
  std::int64_t left = 6;
  while (left > 0 && groups.size() < 4) {
    PodGroup group =
        pods(pick(1, std::min<std::int64_t>(left, 3) + 1), pick(1, 40) * 100, pick(0, 8));
    group.shape.priority = 0;
    left -= group.count;
    if (pick(0, 5) == 0) group = selecting(std::move(group), std::string(model::kZoneLabel), "b");
    if (pick(0, 6) == 0) group = alone(std::move(group), "web");
    groups.push_back(std::move(group));
    if (pick(0, 3) == 0) break;
  }
  Pool one = pool();
  std::vector<InstanceType> types;
  for (std::int64_t i = pick(1, 6); i > 0; --i) types.push_back(random_machine(i));
  one.types = std::move(types);
  return problem(std::move(groups), {one});
}

// The price of the cheapest machine that holds these pods; nullopt: none does.
std::optional<std::int64_t> node_price(const Problem& problem,
                                       const std::vector<std::size_t>& pods) {
  model::Resources sum;
  bool only_b = false;
  std::int64_t alone_count = 0;
  for (const std::size_t group : pods) {
    const PodGroup& pod = problem.pods[group];
    sum += pod.shape.requests;
    only_b |= !pod.shape.node_selector.empty();
    alone_count += pod.shape.affinity.empty() ? 0 : 1;
  }
  if (alone_count > 1) return std::nullopt;
  std::optional<std::int64_t> best;
  for (const InstanceType& type : problem.pools[0].types) {
    if (!model::fits(sum, type.allocatable)) continue;
    for (const Offering& offering : type.offerings) {
      if (only_b && value_of(offering, model::kZoneLabel) != "b") continue;
      if (!best || offering.price_nanos_per_hour < *best) best = offering.price_nanos_per_hour;
    }
  }
  return best;
}

// Pods one after the other into every node so far, or a new one.
void part(const Problem& problem, const std::vector<std::size_t>& pods, std::size_t next,
          std::vector<std::vector<std::size_t>>& nodes, std::optional<std::int64_t>& best) {
  if (next == pods.size()) {
    std::int64_t sum = 0;
    for (const auto& node : nodes) {
      const auto price = node_price(problem, node);
      if (!price) return;
      sum += *price;
    }
    if (!best || sum < *best) best = sum;
    return;
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].push_back(pods[next]);
    part(problem, pods, next + 1, nodes, best);
    nodes[i].pop_back();
  }
  nodes.push_back({pods[next]});
  part(problem, pods, next + 1, nodes, best);
  nodes.pop_back();
}

// nullopt: not all pods can be placed.
std::optional<std::int64_t> optimum(const Problem& problem) {
  std::vector<std::size_t> pods;
  for (std::size_t group = 0; group < problem.pods.size(); ++group)
    pods.insert(pods.end(), static_cast<std::size_t>(problem.pods[group].count), group);
  std::vector<std::vector<std::size_t>> nodes;
  std::optional<std::int64_t> best;
  part(problem, pods, 0, nodes, best);
  return best;
}

TEST(Optimum, TinyProblemsAreSolvedToIt) {
  EXPECT_TRUE(rc::check("optimum", [] {
    const Problem problem = tiny_problem();
    const Answer answer = solve(problem);
    RC_ASSERT(wrong(problem, answer) == "");
    const auto best = optimum(problem);
    RC_ASSERT(best.has_value() == answer.unplaced.empty());
    if (!best) return;
    RC_LOG() << describe(problem, answer);
    RC_ASSERT(price(answer) == *best);
    RC_TAG(answer.claims.size());
  }));
}

// How many such pods can be bought for so many cents, and the fewest cents for all of them.
std::int64_t least_cents(const Problem& problem) {
  const PodGroup& group = problem.pods[0];
  struct Machine {
    std::int64_t cents;
    std::int64_t pods;
  };
  std::vector<Machine> machines;
  for (const InstanceType& type : problem.pools[0].types) {
    std::int64_t seats = 0;
    for (model::Resources sum = group.shape.requests; model::fits(sum, type.allocatable);
         sum += group.shape.requests)
      ++seats;
    std::int64_t least = INT64_MAX;
    for (const Offering& offering : type.offerings)
      least = std::min(least, offering.price_nanos_per_hour / (kCent / 10));  // tenths of a cent
    machines.push_back({least, seats});
  }
  std::vector<std::int64_t> pods = {0};
  while (pods.back() < group.count) {
    std::int64_t most = pods.back();
    for (const Machine& machine : machines)
      if (const auto cents = static_cast<std::int64_t>(pods.size()); machine.cents <= cents)
        most = std::max(most, pods[static_cast<std::size_t>(cents - machine.cents)] + machine.pods);
    pods.push_back(most);
  }
  return static_cast<std::int64_t>(pods.size()) - 1;
}

// Of at most seven types: with more, every node must have another type to come up as.
TEST(Optimum, PodsThatAreAllEqualAreSolvedToIt) {
  EXPECT_TRUE(rc::check("equal pods", [] {
    Pool one = pool();
    std::vector<InstanceType> types;
    for (std::int64_t i = pick(1, 7); i > 0; --i) types.push_back(random_machine(i));
    types.push_back(machine("large", 16, 32, 80 + pick(0, 10)));
    one.types = std::move(types);
    const Problem problem =
        test::problem({pods(pick(1, 400), pick(1, 40) * 100, pick(0, 8))}, {one});
    const Answer answer = solve(problem);
    RC_ASSERT(wrong(problem, answer) == "");
    RC_LOG() << describe(problem, answer);
    RC_ASSERT(price(answer) == least_cents(problem) * (kCent / 10));
  }));
}

TEST(Optimum, OneMoreTypeNeverMakesATinyProblemDearer) {
  EXPECT_TRUE(rc::check("one more type", [] {
    Problem problem = tiny_problem();
    const Answer before = solve(problem);
    RC_PRE(before.unplaced.empty());
    std::vector<InstanceType> types = problem.pools[0].types.items();
    types.push_back(random_machine(100));
    problem.pools[0].types = std::move(types);
    const Answer after = solve(problem);
    RC_LOG() << describe(problem, before) << describe(problem, after);
    RC_ASSERT(after.unplaced.empty());
    RC_ASSERT(price(after) <= price(before));
  }));
}

}  // namespace
}  // namespace karst::scheduling::test
