// One node gone, and its pods placed elsewhere: the same as asking anew.
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

// The cluster as it is, and who would have to move from where.
struct Cluster {
  Problem problem;
  std::vector<Resident> residents;
};

// The same question, asked of a problem made for it. `groups`: by group of it, which of the
// cluster's it is.
Problem made_anew(const Cluster& cluster, const std::vector<GoneNode>& gone,
                  std::vector<std::size_t>& groups) {
  Problem problem = cluster.problem;
  for (const GoneNode& one : gone) {
    problem.nodes[one.node].takes_pods = false;
    if (one.pool != SIZE_MAX) use_up(problem.pools[one.pool], one.capacity, -1);
  }
  for (const Resident& resident : cluster.residents) {
    PodGroup& group = problem.pods[resident.group];
    if (std::any_of(gone.begin(), gone.end(),
                    [&](const GoneNode& one) { return one.node == resident.node; })) {
      group.count += resident.count;
      continue;
    }
    problem.bound.push_back(bound_of(group, resident.node, resident.count));
  }
  std::vector<PodGroup> asked;
  for (std::size_t group = 0; group < problem.pods.size(); ++group) {
    if (problem.pods[group].count == 0) continue;
    asked.push_back(problem.pods[group]);
    groups.push_back(group);
  }
  problem.pods = asked;
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
    problem.nodes.push_back(node);
  }
  for (std::int64_t i = pick(1, 6); i > 0; --i) {
    PodGroup group = pods(chance(3) ? pick(1, 3) : 0, pick(0, 20) * 100, pick(0, 3));
    const std::string app = apps[pick(0, 3)];
    model::set_label(group.labels, "app", app);
    if (chance(3)) group.shape.spread = {spread_over(model::kZoneLabel, app)};
    if (chance(5)) group.shape.spread.push_back(spread_over(model::kHostnameLabel, app));
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
    group.voluntary = group.count == 0;
    problem.pods.push_back(group);
  }
  for (std::size_t node = 0; node < problem.nodes.size(); ++node)
    for (std::int64_t i = pick(0, 3); i > 0; --i)
      cluster.residents.push_back(
          {node, static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(problem.pods.size()))),
           pick(1, 3)});
  return cluster;
}

std::vector<GoneNode> random_gone(const Cluster& cluster) {
  std::vector<GoneNode> gone;
  for (std::size_t node = 0; node < cluster.problem.nodes.size(); ++node)
    if (chance(3)) {
      gone.push_back({node, SIZE_MAX, {}});
      if (chance(2)) gone.back().pool = 0;
      gone.back().capacity = amounts(4000, 16, 100);
    }
  return gone;
}

// Groups as the cluster has them.
void in_groups(Answer& answer, const std::vector<std::size_t>& groups) {
  const auto rename = [&](std::vector<Share>& shares) {
    for (Share& share : shares) share.group = groups[share.group];
  };
  for (NodePlacement& placement : answer.placements) rename(placement.pods);
  for (NewClaim& claim : answer.claims) rename(claim.pods);
  for (Turn& turn : answer.order) turn.group = groups[turn.group];
  for (Unplaced& unplaced : answer.unplaced) unplaced.group = groups[unplaced.group];
}

// Who is left over and for what reasons. Their texts tell counts of places that others were asked
// about as well.
std::string told(const Answer& answer) {
  std::string text;
  for (const Unplaced& one : answer.unplaced) {
    text += std::to_string(one.group) + "*" + std::to_string(one.count);
    for (const PoolReason& reason : one.reasons) text += " " + reason.pool + ":" + reason.code;
    text += "\n";
  }
  return text;
}

TEST(WithoutNodes, AnswersLikeAProblemMadeForTheQuestion) {
  EXPECT_TRUE(rc::check("without nodes", [] {
    const Cluster cluster = random_cluster();
    WithoutNodes asked(cluster.problem, cluster.residents);
    for (int question = 0; question < 4; ++question) {
      const std::vector<GoneNode> gone = random_gone(cluster);
      std::vector<std::size_t> groups;
      const Problem anew = made_anew(cluster, gone, groups);
      Answer expected = place(anew);
      RC_LOG() << describe(anew, expected);
      in_groups(expected, groups);
      const Answer answer = asked.place(gone);
      RC_LOG() << describe(cluster.problem, answer);
      RC_ASSERT(answer.placements == expected.placements);
      RC_ASSERT(answer.claims == expected.claims);
      RC_ASSERT(answer.order == expected.order);
      RC_ASSERT(told(answer) == told(expected));
    }
  }));
}

}  // namespace
}  // namespace karst::scheduling::test
