// Laws of the solver over random small problems: what must hold of every answer, whatever the
// problem.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <thread>

#include "scheduling/aftermath.h"
#include "scheduling/claims.h"
#include "tests/scheduling/build.h"
#include "tests/scheduling/random.h"

namespace karst::scheduling::test {
namespace {

using model::Operator;

model::RequirementSpec random_term() {
  const std::vector<model::RequirementSpec> terms = {
      in(std::string(model::kZoneLabel), {"a"}),
      in(std::string(model::kZoneLabel), {"b"}),
      in(std::string(model::kZoneLabel), {"z"}),
      {std::string(model::kCapacityTypeLabel), Operator::kNotIn, {"spot"}, 0},
      in(std::string(model::kCapacityTypeLabel), {"spot"}),
      in(std::string(model::kArchLabel), {"arm64"}),
      {"team", Operator::kExists, {}, 0},
      {"team", Operator::kNotIn, {"blue"}, 0},
      in("team", {"blue", "green"}),
      {"team", Operator::kDoesNotExist, {}, 0},
      {"size", Operator::kGt, {"4"}, 0},
      {"size", Operator::kLte, {"6"}, 0},
  };
  return terms[static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(terms.size())))];
}

PodGroup random_group(std::int64_t count_max) {
  PodGroup group = pods(pick(1, count_max + 1), pick(0, 90) * 100, pick(0, 12));
  if (chance(8)) group.shape.requests.set_amount("example.com/gpu", pick(1, 3));
  for (std::int64_t i = chance(3) ? pick(1, 3) : 0; i > 0; --i)
    group.shape.required_terms.push_back({{random_term()}, false});
  if (chance(6)) model::set_label(group.shape.node_selector, model::kZoneLabel, "a");
  if (chance(3)) group.shape.tolerations.push_back({"db", true, "", {}, {}});
  model::set_label(group.labels, "app", chance(2) ? "web" : "api");
  if (chance(8)) group.shape.affinity = {one_per_node("web")};
  if (chance(12)) group.shape.host_ports = {{"", static_cast<std::int32_t>(pick(80, 82)), "TCP"}};
  group.shape.priority = chance(5) ? 10 : 0;
  return group;
}

Pool random_pool(std::int64_t index, bool limits) {
  Pool result = pool("pool" + std::to_string(index));
  std::vector<InstanceType> types = machines();
  types.push_back(machine("arm2", 2, 8, 15, "arm64"));
  InstanceType gpu = machine("gpu8", 8, 32, 300);
  gpu.capacity.set_amount("example.com/gpu", 2);
  gpu.allocatable.set_amount("example.com/gpu", 2);
  types.push_back(gpu);
  for (auto& type : types) {
    type.allocatable.cpu_millis -= 100;
    for (auto& offering : type.offerings) offering.available = !chance(6);
  }
  result.types = std::move(types);
  result.pool.weight = static_cast<std::int32_t>(pick(0, 2));
  if (chance(3)) result.pool.taints.push_back({"db", "", model::TaintEffect::kNoSchedule});
  if (chance(2)) result.pool.requirements.push_back(in("team", {"blue", "red"}));
  if (chance(3)) result.pool.requirements.push_back({"size", Operator::kGt, {"2"}, 0});
  if (limits && chance(2)) result.pool.limits.push_back({"cpu", pick(0, 20) * 1000});
  if (limits && chance(3)) result.pool.limits.push_back({"nodes", pick(0, 4)});
  if (limits && chance(3)) result.used.push_back({"cpu", pick(0, 4000)});
  return result;
}

struct Sizes {
  std::int64_t groups = 6;
  std::int64_t count = 12;
  bool limits = true;
  bool nodes = true;
};

Problem random_problem(const Sizes& sizes) {
  Problem result;
  for (std::int64_t i = pick(1, sizes.groups + 1); i > 0; --i)
    result.pods.push_back(random_group(sizes.count));
  for (std::int64_t i = pick(1, 3); i > 0; --i)
    result.pools.push_back(random_pool(i, sizes.limits));
  for (std::int64_t i = pick(0, 3); i > 0; --i) {
    PodGroup daemon = pods(1, pick(0, 4) * 50, pick(0, 2));
    if (chance(3)) daemon.shape.required_terms.push_back({{random_term()}, false});
    if (chance(2)) daemon.shape.tolerations.push_back({"db", true, "", {}, {}});
    result.daemons.push_back({daemon.shape});
  }
  for (std::int64_t i = sizes.nodes ? pick(0, 3) : 0; i > 0; --i) {
    Node node;
    node.name = "node" + std::to_string(i);
    node.labels = {{std::string(model::kHostnameLabel), node.name}};
    if (chance(2)) model::set_label(node.labels, "team", "blue");
    model::set_label(node.labels, model::kZoneLabel, chance(2) ? "a" : "b");
    node.available = amounts(pick(-5, 60) * 100, pick(0, 10), pick(0, 10));
    node.initialized = !chance(4);
    if (chance(4)) node.taints.push_back({"db", "", model::TaintEffect::kNoSchedule});
    result.nodes.push_back(node);
  }
  return result;
}

bool check_law(const char* name, const std::function<void()>& law) {
  return rc::check(name, law);
}

TEST(Laws, EveryAnswerIsValidAndRepeatable) {
  EXPECT_TRUE(check_law("valid and repeatable", [] {
    const Problem problem = random_problem({});
    const Answer answer = solve(problem);
    const std::string text = wrong(problem, answer);
    if (!text.empty()) RC_LOG() << describe(problem, answer);
    RC_ASSERT(text == "");
    RC_ASSERT(answer == solve(problem));
    RC_TAG(answer.unplaced.empty() ? "all placed" : "some left");
  }));
}

// Answers to the same problem in another order place as much of everything at the same price.
// Groups of equal content are one group in practice: the caller merges them.
TEST(Laws, OrderDoesNotShow) {
  EXPECT_TRUE(check_law("order does not show", [] {
    const Problem problem = random_problem({});
    for (std::size_t i = 0; i < problem.pods.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        RC_PRE(problem.pods[i].shape != problem.pods[j].shape ||
               problem.pods[i].labels != problem.pods[j].labels);
    for (std::size_t i = 1; i < problem.pools.size(); ++i)
      RC_PRE(problem.pools[i].pool.name != problem.pools[0].pool.name);
    Problem turned = problem;
    std::reverse(turned.pods.begin(), turned.pods.end());
    std::reverse(turned.pools.begin(), turned.pools.end());
    std::reverse(turned.nodes.begin(), turned.nodes.end());
    std::reverse(turned.daemons.begin(), turned.daemons.end());
    for (Pool& pool : turned.pools)
      pool.types =
          std::vector<InstanceType>(pool.types.items().rbegin(), pool.types.items().rend());
    const Answer answer = solve(problem);
    const Answer other = solve(turned);
    RC_ASSERT(price(answer) == price(other));
    for (std::size_t i = 0; i < problem.pods.size(); ++i)
      RC_ASSERT(placed(answer, i) == placed(other, problem.pods.size() - 1 - i));
  }));
}

// A solve keeps nothing behind and shares nothing that changes: however many threads solve the same
// problem at once, each has the answer that one alone has.
TEST(Laws, OneTo64ThreadsAgree) {
  EXPECT_TRUE(check_law("1 to 64 threads agree", [] {
    const Problem problem = random_problem({4, 12, true, true});
    const Answer alone = solve(problem);
    std::vector<Answer> answers(chance(8) ? 64 : static_cast<std::size_t>(pick(2, 8)));
    std::vector<std::thread> threads;
    for (Answer& answer : answers) threads.emplace_back([&] { answer = solve(problem); });
    for (std::thread& thread : threads) thread.join();
    for (const Answer& answer : answers) RC_ASSERT(answer == alone);
    RC_TAG(answers.size() == 64 ? "64" : "a few");
  }));
}

// The same with 2,400 pods of 24 sizes, most of which are dealt out anew.
TEST(Laws, SixtyFourThreadsAgreeOnALargeOne) {
  std::vector<PodGroup> groups;
  for (std::int64_t size = 1; size <= 24; ++size) {
    groups.push_back(pods(100, size * 70));
    groups.back().shape.requests.memory_bytes = (25 - size) * 100 << 20;
  }
  const Problem problem = test::problem(groups);
  const Answer alone = solve(problem);
  ASSERT_EQ(placed(alone), 2'400);
  std::vector<Answer> answers(64);
  std::vector<std::thread> threads;
  for (Answer& answer : answers) threads.emplace_back([&] { answer = solve(problem); });
  for (std::thread& thread : threads) thread.join();
  for (const Answer& answer : answers) EXPECT_TRUE(answer == alone);
}

// The answer carried out: its claims are the nodes behind those of the problem.
Answer carried_out(const Problem& problem, Answer answer) {
  const std::size_t first = problem.nodes.size();
  for (std::size_t i = 0; i < answer.claims.size(); ++i)
    answer.placements.push_back({first + i, answer.claims[i].pods});
  for (Turn& turn : answer.order) {
    if (turn.on_claim) turn.target += first;
    turn.on_claim = false;
  }
  answer.claims.clear();
  return answer;
}

// Pods placed, of the highest priority first, each with those above it: the larger the better.
std::vector<std::int64_t> placed_by_priority(const Problem& problem, const Answer& answer) {
  std::map<std::int32_t, std::int64_t, std::greater<>> counts;
  for (std::size_t i = 0; i < problem.pods.size(); ++i)
    counts[problem.pods[i].shape.priority] += placed(answer, i);
  std::vector<std::int64_t> sums;
  for (const auto& [priority, count] : counts)
    sums.push_back(count + (sums.empty() ? 0 : sums.back()));
  return sums;
}

// The nodes of an answer, as any of the listed types, hold its pods: each where the answer has it;
// and solved again, with what they use up of the limits, as many are placed and no node is bought,
// but for pods that were left over before.
TEST(Laws, AnAnswerHoldsItsOwnPods) {
  EXPECT_TRUE(check_law("solving the answer's nodes", [] {
    const Problem problem = random_problem({4, 12, true, true});
    const Answer answer = solve(problem);
    Problem again = problem;
    for (std::size_t i = 0; i < answer.claims.size(); ++i) {
      const NewClaim& claim = answer.claims[i];
      const auto nth =
          static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(claim.types.size())));
      again.nodes.push_back(node_of(problem, claim, "n" + std::to_string(1000 + i), nth));
      Pool& pool = again.pools[claim.pool];
      use_up(pool, pool.types[claim.types.at(nth)].capacity, 1);
    }
    const Answer made = carried_out(problem, answer);
    const Answer second = solve(again);
    RC_LOG() << describe(problem, answer) << describe(again, second);
    RC_ASSERT(wrong(again, made) == "");
    RC_ASSERT(wrong(again, second) == "");
    const auto before = placed_by_priority(problem, answer);
    const auto after = placed_by_priority(again, second);
    RC_ASSERT(after >= before);
    RC_ASSERT(after != before || second.claims.empty());
  }));
}

// The naive twin: without limits a pod can be placed if it could be placed alone, on some node or
// on some machine that some pool could buy for it; every such machine is built and judged by
// `wrong`.
bool twin_places(const Problem& problem, std::size_t group) {
  Problem alone = problem;
  alone.pods = {problem.pods[group]};
  alone.pods[0].count = 1;
  for (std::size_t p = 0; p < problem.pools.size(); ++p)
    for (std::size_t t = 0; t < problem.pools[p].types.size(); ++t)
      for (const Offering& o : problem.pools[p].types[t].offerings)
        for (const char* team : {"blue", "green", "red", ""})
          for (const char* size : {"3", "5", "7", ""}) {
            if (!o.available) continue;
            Answer answer;
            NewClaim claim;
            claim.pool = p;
            claim.types = {t};
            claim.max_capacity = problem.pools[p].types[t].capacity;
            claim.offers = {
                {problem.pools[p].types[t].name, std::string(value_of(o, model::kZoneLabel)),
                 std::string(value_of(o, model::kCapacityTypeLabel)), o.price_nanos_per_hour}};
            claim.pods = {{0, 1}};
            const bool has_team = !problem.pools[p].pool.requirements.empty() && *team != '\0';
            std::vector<model::RequirementSpec> requirements;
            if (has_team) requirements.push_back(in("team", {team}));
            if (*size != '\0') requirements.push_back(in("size", {size}));
            claim.requirements = std::move(requirements);
            answer.claims = {claim};
            bool port_taken = false;
            for (const Daemon& daemon : problem.daemons)
              port_taken |= !daemon.shape.host_ports.empty();
            if (!port_taken && wrong(alone, answer).empty()) return true;
          }
  return false;
}

TEST(Laws, WhatTheTwinPlacesIsPlaced) {
  EXPECT_TRUE(check_law("twin", [] {
    Problem problem = random_problem({3, 4, false, false});
    // A DaemonSet counts for all nodes of a pool and type where some could run it; the twin would
    // dodge it by labels.
    for (Daemon& daemon : problem.daemons) daemon.shape.required_terms.clear();
    const Answer answer = solve(problem);
    for (std::size_t i = 0; i < problem.pods.size(); ++i) {
      const bool possible = twin_places(problem, i);
      RC_LOG() << "group " << i << " twin " << possible << "\n" << describe(problem, answer);
      RC_ASSERT(placed(answer, i) == (possible ? problem.pods[i].count : 0));
      RC_TAG(possible ? "possible" : "impossible");
    }
  }));
}

}  // namespace
}  // namespace karst::scheduling::test
