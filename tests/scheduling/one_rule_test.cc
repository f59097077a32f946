// Rules that random problems do not draw, one by one: what would be another answer without the
// rule.
#include <gtest/gtest.h>

#include <string>

#include "tests/scheduling/cases.h"

namespace karst::scheduling::test {
namespace {

// No pools: whoever finds no place on the nodes is left over.
Problem only(std::vector<Node> nodes, std::vector<PodGroup> groups) {
  return on(std::move(nodes), problem(std::move(groups), {}));
}

Problem with_old(Problem one, std::int64_t count) {
  one.bound.push_back({0, "default", {{"app", "web"}, {"v", "old"}}, {}, count});
  return one;
}

PodGroup of(const std::string& version, PodGroup group) {
  group = app(std::move(group), "web");
  model::set_label(group.labels, "v", version);
  return group;
}

Node in_zone(Node node, const std::string& zone) {
  model::set_label(node.labels, kZone, zone);
  return node;
}

// The next generation of a workload does not count the one before it.
TEST(OneRule, SpreadsCountTheirOwnGeneration) {
  PodGroup next = of("new", spread(pods(1, 500), kZone, "web"));
  const std::vector<Node> nodes = {in_zone(node("near", 4000, 16), "a"),
                                   in_zone(node("far", 0, 0), "b")};
  EXPECT_EQ(placed(solve(with_old(only(nodes, {next}), 2))), 0);
  next.shape.spread[0].match_label_keys = {"v"};
  EXPECT_EQ(placed(solve(with_old(only(nodes, {next}), 2))), 1);
}

TEST(OneRule, AffinitySeeksItsOwnGeneration) {
  PodGroup next = of("new", with_affinity(pods(1, 500), kHost, "web", false));
  const std::vector<Node> nodes = {node("full", 0, 16), node("free", 4000, 16)};
  EXPECT_EQ(placed(solve(with_old(only(nodes, {next}), 1))), 0);
  next.shape.affinity[0].match_label_keys = {"v"};
  EXPECT_EQ(placed(solve(with_old(only(nodes, {next}), 1))), 1);
}

TEST(OneRule, AntiAffinityLeavesItsOwnGenerationAlone) {
  PodGroup same = of("old", with_affinity(pods(1, 500), kHost, "web", true));
  const std::vector<Node> nodes = {node("n", 4000, 16)};
  EXPECT_EQ(placed(solve(with_old(only(nodes, {same}), 1))), 0);
  same.shape.affinity[0].mismatch_label_keys = {"v"};
  EXPECT_EQ(placed(solve(with_old(only(nodes, {same}), 1))), 1);
}

TEST(OneRule, OfPodsOfOneSizeTheOlderGoFirst) {
  for (const std::size_t older : {0U, 1U}) {
    std::vector<PodGroup> groups = {app(pods(1, 1000), "a"), app(pods(1, 1000), "b")};
    groups[older].creation_millis = 1;
    groups[1 - older].creation_millis = 2;
    const Answer answer = solve(only({node("n", 1500, 16)}, groups));
    EXPECT_EQ(placed(answer, older), 1);
    EXPECT_EQ(placed(answer, 1 - older), 0);
  }
}

TEST(OneRule, APortIsOneOfItsProtocol) {
  std::vector<PodGroup> groups = {with_port(pods(1, 100), 80), with_port(pods(1, 200), 80)};
  EXPECT_EQ(placed(solve(only({node("n", 4000, 16)}, groups))), 1);
  groups[1].shape.host_ports[0].protocol = "UDP";
  EXPECT_EQ(placed(solve(only({node("n", 4000, 16)}, groups))), 2);
}

TEST(OneRule, EphemeralStorageIsUsedUp) {
  PodGroup group = pods(2, 100);
  group.shape.requests.ephemeral_bytes = 8 * kGi;
  Node place = node("n", 4000, 16);
  place.available.ephemeral_bytes = 10 * kGi;
  EXPECT_EQ(placed(solve(only({place}, {group}))), 1);
  Problem bought = problem({group});
  for (Pool& pool : bought.pools) {
    std::vector<InstanceType> types = pool.types.items();
    for (InstanceType& type : types) {
      type.allocatable.ephemeral_bytes = 10 * kGi;
      type.capacity.ephemeral_bytes = 10 * kGi;
    }
    pool.types = types;
  }
  EXPECT_EQ(solve(bought).claims.size(), 2U);
}

// A DaemonSet whose devices are dynamic is not known to run on a node.
TEST(OneRule, DaemonsWithDynamicResourcesTakeNoRoom) {
  Problem one = problem({pods(1, 1000)}, {pool()});
  Daemon daemon;
  daemon.shape.requests = amounts(500, 1);
  one.daemons = {daemon};
  EXPECT_EQ(solve(one).claims.at(0).offers.front().instance_type, "m2");
  EXPECT_EQ(placed(solve(on({node("n", 1000, 16)}, problem({pods(1, 1000)}, {})))), 1);
  one.daemons[0].shape.uses_dra = true;
  EXPECT_EQ(solve(one).claims.at(0).offers.front().instance_type, "m1");
  Problem there = only({node("n", 1000, 16)}, {pods(1, 1000)});
  there.daemons = one.daemons;
  EXPECT_EQ(placed(solve(there)), 1);
}

// A claim that two pods share is attached once.
TEST(OneRule, SharedVolumesAreAttachedOnce) {
  PodGroup group = pods(2, 100);
  group.volumes = {{"disk", "shared", {}}};
  Node place = node("n", 4000, 16);
  place.attach_limits["disk"] = 1;
  EXPECT_EQ(placed(solve(only({place}, {group}))), 2);
  group.volumes = {{"disk", "", {}}};
  EXPECT_EQ(placed(solve(only({place}, {group}))), 1);
}

}  // namespace
}  // namespace karst::scheduling::test
