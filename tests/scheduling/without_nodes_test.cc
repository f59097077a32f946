// Nodes gone, and their pods placed elsewhere: the same as asking anew.
#include "scheduling/without_nodes.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <string>
#include <vector>

#include "scheduling/aftermath.h"
#include "tests/scheduling/build.h"
#include "tests/scheduling/random.h"

namespace karst::scheduling::test {
namespace {

// The cluster as it is, and who is bound on which node.
struct Resident {
  std::size_t node = 0;
  std::size_t group = 0;
  std::int64_t count = 1;
};
struct Cluster {
  Problem problem;  // its pods: kinds of them
  std::vector<Resident> residents;
};

// As WithoutNodes takes it: everybody is bound, and may be asked for.
Problem with_residents(const Cluster& cluster) {
  Problem problem = cluster.problem;
  for (const Resident& resident : cluster.residents) {
    PodGroup& group = problem.pods[resident.group];
    problem.bound.push_back(bound_of(group, resident.node, resident.count));
    group.count += resident.count;
  }
  return problem;
}

struct Question {
  WithoutNodesQuestion asked;
  std::vector<bool> is_gone;  // by resident
};

// The same question, asked of a problem made for it.
Problem made_anew(const Cluster& cluster, const Question& whole) {
  const WithoutNodesQuestion& question = whole.asked;
  Problem problem = cluster.problem;
  for (const GoneNode& one : question.nodes) {
    problem.nodes[one.node].takes_pods = false;
    if (one.pool != SIZE_MAX) use_up(problem.pools[one.pool], one.capacity, -1);
  }
  for (std::size_t i = 0; i < cluster.residents.size(); ++i) {
    const Resident& one = cluster.residents[i];
    if (!whole.is_gone[i])
      problem.bound.push_back(bound_of(problem.pods[one.group], one.node, one.count));
  }
  problem.pods.clear();
  for (const AskedPods& asked : question.asked) {
    PodGroup& group = problem.pods.emplace_back(cluster.problem.pods[asked.group]);
    group.count = asked.count;
    group.creation_millis = asked.creation_millis;
    group.voluntary = asked.voluntary;
  }
  return problem;
}

model::SpreadConstraint spread_over(std::string_view key, const std::string& app) {
  model::SpreadConstraint spread;
  spread.topology_key = std::string(key);
  spread.selector.expressions = {in("app", {app})};
  return spread;
}

// A few nodes in two or three zones, whose pods spread, repel and follow each other.
Cluster random_cluster() {
  Cluster cluster;
  Problem& problem = cluster.problem;
  const char* apps[] = {"web", "api", "db"};
  problem.pools.push_back(pool("default"));
  problem.pools.back().types = machines();
  if (chance(2))
    problem.pools.back().pool.limits = {{"nodes", pick(1, 6)}, {"cpu", pick(4, 60) * 1000}};
  for (std::int64_t i = pick(2, 6); i > 0; --i) {
    Node node;
    node.name = "node" + std::to_string(i);
    node.labels = {{std::string(model::kHostnameLabel), node.name}};
    model::set_label(node.labels, model::kZoneLabel, chance(3) ? "c" : chance(2) ? "a" : "b");
    node.available = amounts(pick(0, 30) * 100, pick(0, 10), pick(0, 10));
    if (chance(6)) node.taints.push_back({"db", "", model::TaintEffect::kNoSchedule});
    node.stays = chance(8);
    node.takes_pods = !chance(8);
    node.in_consolidate_after = chance(5);
    problem.nodes.push_back(node);
  }
  for (std::int64_t i = pick(1, 6); i > 0; --i) {
    PodGroup group = pods(chance(3) ? pick(1, 3) : 0, pick(0, 20) * 100, pick(0, 3));
    const std::string app = apps[pick(0, 3)];
    model::set_label(group.labels, "app", app);
    if (chance(3)) group.shape.spread = {spread_over(model::kZoneLabel, app)};
    if (chance(5)) group.shape.spread.push_back(spread_over(model::kHostnameLabel, app));
    if (chance(5)) group.shape.spread.push_back(spread_over(model::kCapacityTypeLabel, app));
    if (chance(5)) group.shape.affinity = {one_per_node(apps[pick(0, 3)])};
    if (chance(6)) {
      model::PodAffinityTerm near;
      near.topology_key = std::string(model::kZoneLabel);
      near.selector.expressions = {in("app", {apps[pick(0, 3)]})};
      near.anti = chance(3);
      group.shape.affinity.push_back(near);
    }
    if (chance(4))
      group.shape.required_terms.push_back({{in(std::string(model::kZoneLabel), {"a"})}, false});
    if (chance(3)) group.shape.tolerations.push_back({"db", true, "", {}, {}});
    problem.pods.push_back(group);
  }
  for (std::size_t node = 0; node < problem.nodes.size(); ++node)
    for (std::int64_t i = pick(0, 3); i > 0; --i)
      cluster.residents.push_back(
          {node, static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(problem.pods.size()))),
           pick(1, 3)});
  return cluster;
}

// Some nodes, most of the pods on them, and some that are pending.
Question random_question(const Cluster& cluster) {
  Question result;
  WithoutNodesQuestion& question = result.asked;
  std::vector<bool> is_away(cluster.problem.nodes.size(), false);
  for (std::size_t node = 0; node < is_away.size(); ++node) {
    is_away[node] = chance(3);
    if (is_away[node])
      question.nodes.push_back({node, chance(2) ? 0 : SIZE_MAX, amounts(4000, 16, 100)});
  }
  for (std::size_t i = 0; i < cluster.residents.size(); ++i) {
    const Resident& resident = cluster.residents[i];
    result.is_gone.push_back(is_away[resident.node] && !chance(8));
    if (!result.is_gone.back()) continue;
    question.gone.push_back({i, resident.group});
    question.asked.push_back({resident.group, resident.count, pick(0, 2), chance(2)});
  }
  for (std::size_t group = 0; group < cluster.problem.pods.size(); ++group)
    if (cluster.problem.pods[group].count > 0)
      question.asked.push_back({group, cluster.problem.pods[group].count, pick(0, 2), false});
  return result;
}

// Who is left over and for what reasons. Texts about topology tell of places that others were asked
// about as well.
std::string told(const Answer& answer) {
  std::string text;
  for (const Unplaced& one : answer.unplaced) {
    text += std::to_string(one.group) + "*" + std::to_string(one.count);
    for (const PoolReason& reason : one.reasons)
      text += " " + reason.pool + ":" + reason.code +
              (reason.code == "topology" ? "" : " " + reason.text);
    text += "\n";
  }
  return text;
}

TEST(WithoutNodes, AnswersLikeAProblemMadeForTheQuestion) {
  EXPECT_TRUE(rc::check("without nodes", [] {
    const Cluster cluster = random_cluster();
    WithoutNodes asked(with_residents(cluster));
    for (int number = 0; number < 4; ++number) {
      const Question question = random_question(cluster);
      const Problem anew = made_anew(cluster, question);
      const Answer expected = place(anew);
      RC_LOG() << describe(anew, expected);
      const Answer answer = asked.place(question.asked);
      RC_LOG() << describe(anew, answer);
      RC_ASSERT(answer.placements == expected.placements);
      RC_ASSERT(answer.claims == expected.claims);
      RC_ASSERT(answer.order == expected.order);
      RC_ASSERT(told(answer) == told(expected));
    }
  }));
}

// Pods of that application, each beside its like over the key.
PodGroup follower(std::int64_t cpu_millis, std::string_view key, const std::string& app) {
  PodGroup group = pods(1, cpu_millis);
  model::set_label(group.labels, "app", app);
  model::PodAffinityTerm near;
  near.topology_key = std::string(key);
  near.selector.expressions = {in("app", {"first"})};
  group.shape.affinity = {near};
  return group;
}

// Of two keys that others go by, a pod decides the one first that the question comes by first, not
// the problem that is kept: here (b, on-demand) and (a, spot) cost the same.
TEST(WithoutNodes, KeysAreDecidedInTheOrderOfTheQuestion) {
  InstanceType type = machine("m4", 4, 16, 40);
  type.offerings = {offering("a", "spot", 10), offering("b", "on-demand", 10),
                    offering("a", "on-demand", 20)};
  Problem kept = problem({follower(1000, model::kHostnameLabel, "first"),
                          follower(500, model::kZoneLabel, "z"),
                          follower(400, model::kCapacityTypeLabel, "c")});
  kept.pools[0].types = std::vector<InstanceType>{type};
  const auto turned = [&](std::size_t second, std::size_t third) {
    Problem anew = kept;
    anew.pods = {kept.pods[0], kept.pods[second], kept.pods[third]};
    return place(anew);
  };
  WithoutNodes asked(kept);
  const auto answer = [&](std::size_t second, std::size_t third) {
    return asked.place({{}, {}, {{0, 1}, {second, 1}, {third, 1}}});
  };
  ASSERT_NE(turned(1, 2).claims[0].requirements, turned(2, 1).claims[0].requirements);
  EXPECT_EQ(turned(1, 2), answer(1, 2));
  EXPECT_EQ(turned(2, 1), answer(2, 1));
}

}  // namespace
}  // namespace karst::scheduling::test
