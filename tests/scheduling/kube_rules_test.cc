// Answers by the kube-scheduler's own rules, where Karpenter's are coarser: alternatives of node
// affinity under a spread, domains that somebody else needs, hosts that nobody can add to.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>

#include "tests/scheduling/cases.h"
#include "tests/scheduling/random.h"
#include "tests/scheduling/replay.h"

namespace karst::scheduling::test {
namespace {

const std::vector<std::string> kZones = {"a", "b", "c"};

PodGroup a_or_b(PodGroup group) {
  return with_term(with_term(std::move(group), {in(kZone, {"a"})}), {in(kZone, {"b"})});
}

Node node_in(const std::string& name, const std::string& zone, std::int64_t cpu_millis = 4000) {
  Node place = node(name, cpu_millis, 64);
  model::set_label(place.labels, kZone, zone);
  return place;
}

// As `pool`, on demand in the zones a, b and c.
Pool wide_pool() {
  std::vector<InstanceType> types = machines();
  for (InstanceType& type : types) {
    const std::int64_t price = type.offerings[0].price_nanos_per_hour;
    type.offerings.clear();
    for (const std::string& zone : kZones)
      type.offerings.push_back(offering(zone, "on-demand", price));
  }
  Pool result = pool();
  result.types = std::move(types);
  return result;
}

PodGroup whatever_its_affinity(PodGroup group) {
  group.shape.spread[0].ignore_node_affinity = true;
  return group;
}

TEST(KubeRules, Tables) {
  const std::vector<Node> two = {node_in("n1", "a"), node_in("n2", "b")};
  const std::vector<Node> full = {node_in("n1", "a"), node_in("n2", "b", 0)};
  expect_cases({
      {"alternatives are one universe",
       on(two, problem({a_or_b(spread(app(pods(4, 300), "or"), kZone, "or"))}, {})),
       {},
       {"n1: 0*2", "n2: 0*2"},
       {}},
      {"and one number of domains",
       on(two, problem({a_or_b(spread(app(pods(4, 300), "or"), kZone, "or", 1, 2))}, {})),
       {},
       {"n1: 0*2", "n2: 0*2"},
       {}},
      {"nodes where the pods may not be count under Ignore",
       on(two, problem({whatever_its_affinity(
                           selecting(spread(app(pods(4, 300), "x"), kZone, "x"), kZone, "a"))},
                       {})),
       {},
       {"n1: 0*1"},
       {"0*3 no_pool"}},
      {"so do zones where nodes could be made",
       problem({whatever_its_affinity(
                   selecting(spread(app(pods(4, 300), "x"), kZone, "x"), kZone, "a"))},
               {wide_pool()}),
       {"default m1: 0*1"},
       {},
       {"0*3 topology"}},
      {"an alternative without room holds up the other",
       on(full, problem({a_or_b(spread(app(pods(4, 300), "or"), kZone, "or"))}, {})),
       {},
       {"n1: 0*1"},
       {"0*3 no_pool"}},
      {"alternatives on new nodes",
       problem({a_or_b(spread(app(pods(4, 300), "or"), kZone, "or", 1, 2))}, {wide_pool()}),
       {"default m1: 0*2", "default m1: 0*2"},
       {},
       {}},
      {"who is repelled has a zone left",
       problem({with_affinity(app(pods(1, 100), "cache"), kZone, "web", true),
                app(pods(2, 200), "web")},
               {wide_pool()}),
       {"default m1: 1*2", "default m1: 0*1"},
       {},
       {}},
      {"the first goes where its followers can",
       problem(
           {with_affinity(app(pods(4, 6000), "grp"), kZone, "grp", false),
            selecting(with_affinity(app(pods(1, 6000), "fol"), kZone, "grp", false), kZone, "c")},
           {wide_pool()}),
       {"default m8: 0*1", "default m8: 0*1", "default m8: 0*1", "default m8: 0*1",
        "default m8: 1*1"},
       {},
       {}},
      {"a follower of pods whose zone is open",
       problem({app(pods(1, 7000), "grp"),
                with_affinity(app(pods(1, 6000), "fol"), kZone, "grp", false)},
               {wide_pool()}),
       {"default m8: 0*1", "default m8: 1*1"},
       {},
       {}},
      {"without a pool the fewest on a host are those of the nodes",
       on(two, problem({spread(app(pods(5, 300), "web"), kHost, "web")}, {})),
       {},
       {"n1: 0*3", "n2: 0*2"},
       {}},
      {"a full node is the fewest",
       on(full, problem({spread(app(pods(5, 300), "web"), kHost, "web")}, {})),
       {},
       {"n1: 0*1"},
       {"0*4 no_pool"}},
      {"fewer nodes than minDomains",
       on(two, problem({spread(app(pods(5, 300), "web"), kHost, "web", 1, 3)}, {})),
       {},
       {"n1: 0*1", "n2: 0*1"},
       {"0*3 no_pool"}},
      {"limits that are used up",
       on(two, problem({spread(app(pods(5, 300), "web"), kHost, "web")},
                       {limited(wide_pool(), "nodes", 1)})),
       {"default m1: 0*1"},
       {"n1: 0*2", "n2: 0*2"},
       {}},
      {"and the node that came takes another, once it is among the fewest",
       on(two, problem({spread(app(pods(8, 200), "web"), kHost, "web")},
                       {limited(wide_pool(), "nodes", 1)})),
       {"default m1: 0*2"},
       {"n1: 0*3", "n2: 0*3"},
       {}},
  });
}

TEST(KubeRules, WithKarpenterAnotherHostCanAlwaysCome) {
  Problem one = on({node_in("n1", "a"), node_in("n2", "b")},
                   problem({spread(app(pods(5, 300), "web"), kHost, "web")}, {}));
  EXPECT_EQ(placed(solve(one)), 5);
  one.options.spread_domains = SpreadDomains::kAllPools;
  EXPECT_EQ(placed(solve(one)), 2);
}

// What random groups are made of.
struct Kinds {
  bool hosts = false;  // ties over hosts too
  bool spreads = true;
  bool repels = true;
  bool ignores = false;  // spreads that ignore node affinity too
};

PodGroup random_pods(const Kinds& kinds) {
  const std::string apps[] = {"web", "api", "db"};
  const auto name = [&] { return apps[static_cast<std::size_t>(pick(0, 3))]; };
  PodGroup group = app(pods(pick(1, 4), pick(0, 2) == 0 ? 100 : 5000), name());
  const std::string& key = kinds.hosts && pick(0, 2) == 0 ? kHost : kZone;
  const auto skew = static_cast<std::int32_t>(pick(1, 3));
  switch (pick(0, 6)) {
    case 0:
      if (!kinds.spreads) break;
      group = spread(std::move(group), key, name(), skew, static_cast<std::int32_t>(pick(0, 4)));
      group.shape.spread[0].ignore_node_affinity = kinds.ignores && pick(0, 3) == 0;
      break;
    case 1:
    case 2:
      if (kinds.repels) group = with_affinity(std::move(group), key, name(), true);
      break;
    case 3: {
      const std::string to = name();
      // Where others of its own kind are elsewhere Karpenter's rule is another.
      const bool is_free = model::label_value(group.labels, "app") == to;
      group = with_affinity(std::move(group), key, to, false);
      if (is_free) return group;
      break;
    }
    default:
      break;
  }
  switch (pick(0, 5)) {
    case 0:
      return a_or_b(std::move(group));
    case 1:
      return selecting(std::move(group), kZone, kZones[static_cast<std::size_t>(pick(0, 3))]);
    default:
      return group;
  }
}

// On the nodes that there are: every constraint holds at its turn, and whoever is left over could
// not be bound either.
TEST(KubeRules, NobodyIsLeftOverWhoCouldBeBound) {
  EXPECT_TRUE(rc::check("nodes", [] {
    std::vector<PodGroup> groups;
    for (std::int64_t i = pick(1, 5); i > 0; --i)
      groups.push_back(random_pods({.hosts = true, .ignores = true}));
    Problem one = problem(std::move(groups), {});
    for (std::int64_t i = pick(1, 5); i > 0; --i) {
      one.nodes.push_back(node_in("n" + std::to_string(i),
                                  kZones[static_cast<std::size_t>(pick(0, 3))],
                                  pick(0, 12) * 1000));
      if (pick(0, 3) == 0)
        one.bound.push_back({one.nodes.size() - 1, "default", {{"app", "web"}}, {}, pick(1, 3)});
    }
    if (pick(0, 2) == 0) one.pools = {limited(wide_pool(), "nodes", pick(0, 3))};
    const Answer answer = solve(one);
    RC_LOG() << describe(one, answer);
    RC_ASSERT(wrongly_left(one, answer) == "");
    RC_TAG(answer.unplaced.empty() ? "all placed" : "some left");
  }));
}

// On new nodes without end: where some order and some choice of zones binds all, all are placed.
// Not where spreads and anti-affinity cross each other, nor where a spread counts zones that only
// others may be in: there a choice may be missed.
TEST(KubeRules, AllArePlacedWhereAChoiceOfZonesBindsAll) {
  EXPECT_TRUE(rc::check("zones", [] {
    const bool spreads = pick(0, 3) == 0;
    std::vector<PodGroup> groups;
    for (std::int64_t i = pick(1, 4); i > 0; --i)
      groups.push_back(random_pods({.hosts = false, .spreads = spreads, .repels = !spreads}));
    const Problem one = problem(std::move(groups), {wide_pool()});
    const Answer answer = solve(one);
    RC_LOG() << describe(one, answer);
    RC_ASSERT(wrong_order(one, answer) == "");
    std::int64_t all = 0;
    for (const PodGroup& group : one.pods) all += group.count;
    RC_ASSERT((placed(answer) == all) == (most_bound(one, kZones) == all));
    RC_TAG(answer.unplaced.empty() ? "all placed" : "some left");
  }));
}

// A pool for a team in zones a and b, and one for everybody else, also in zone c.
Problem for_a_team(SpreadDomains domains) {
  Pool blue = wide_pool();
  blue.pool.name = model::PoolName("blue");
  blue.pool.template_labels = {{"team", "blue"}};
  blue.pool.requirements = {in(kZone, {"a", "b"})};
  Problem one = problem({selecting(spread(app(pods(4, 900), "web"), kZone, "web"), "team", "blue")},
                        {blue, wide_pool()});
  one.options.spread_domains = domains;
  return one;
}

TEST(KubeRules, ZonesThatThePodsCannotBeInDoNotHoldThemUp) {
  const Problem one = for_a_team(SpreadDomains::kReachable);
  const Answer answer = solve(one);
  EXPECT_EQ(placed(answer), 4) << describe(one, answer);
  std::map<std::string, std::int64_t> by_zone;
  for (const NewClaim& claim : answer.claims)
    for (const Share& share : claim.pods) by_zone[claim.offers.front().zone] += share.count;
  EXPECT_EQ(by_zone, (std::map<std::string, std::int64_t>{{"a", 2}, {"b", 2}}));
  EXPECT_EQ(placed(solve(for_a_team(SpreadDomains::kAllPools))), 2) << "as Karpenter";
}

// Zone c sells machines, but none of the kind that the pods ask for.
TEST(KubeRules, ZonesWithoutTheRightMachinesDoNotHoldThemUp) {
  Pool wide = wide_pool();
  std::vector<InstanceType> types = wide.types.items();
  for (InstanceType& type : types) {
    type.requirements.push_back(in("family", {type.name == "m8" ? "big" : "small"}));
    if (type.name == "m8")
      type.offerings.pop_back();
    else
      type.offerings.erase(type.offerings.begin(), type.offerings.end() - 1);
  }
  wide.types = types;
  Problem one = problem(
      {with_term(spread(app(pods(4, 900), "web"), kZone, "web"), {in("family", {"big"})})}, {wide});
  EXPECT_EQ(placed(solve(one)), 4) << describe(one, solve(one));
  one.options.spread_domains = SpreadDomains::kAllPools;
  EXPECT_EQ(placed(solve(one)), 2) << "as Karpenter";
}

Pool refusing(Pool pool) {
  pool.pool.name = model::PoolName("others");
  pool.pool.taints = {{"dedicated", "", model::TaintEffect::kNoSchedule}};
  return pool;
}

Pool in_a_and_b(Pool pool) {
  pool.pool.requirements = {in(kZone, {"a", "b"})};
  return pool;
}

// Only pods of others can have nodes in zone c.
TEST(KubeRules, ZonesOfPoolsThatRefuseThePodsDoNotHoldThemUp) {
  Problem one = problem({spread(app(pods(4, 900), "web"), kZone, "web")},
                        {in_a_and_b(wide_pool()), refusing(wide_pool())});
  EXPECT_EQ(placed(solve(one)), 4) << describe(one, solve(one));
  one.options.spread_domains = SpreadDomains::kAllPools;
  EXPECT_EQ(placed(solve(one)), 2) << "as Karpenter";
}

// As soon as others have one there it counts: the kube-scheduler looks at every node.
TEST(KubeRules, NodesThatOthersGetCount) {
  const PodGroup other =
      tolerating(selecting(app(pods(1, 5000), "batch"), kZone, "c"), "dedicated");
  PodGroup web = spread(app(pods(4, 900), "web"), kZone, "web");
  Problem one = problem({other, web}, {in_a_and_b(wide_pool()), refusing(wide_pool())});
  EXPECT_EQ(placed(solve(one), 1), 2) << describe(one, solve(one));
  one.pods[1].shape.spread[0].honor_node_taints = true;
  EXPECT_EQ(placed(solve(one), 1), 4) << describe(one, solve(one));
}

// A spread that honors taints goes by those that are on a node now: one that is starting does not
// hold it up with its zone, and who is bound there does not count.
TEST(KubeRules, StartingNodesDoNotCountForSpreadsThatHonorTaints) {
  struct Case {
    const char* name;
    std::int64_t starting_millis;  // its room
    std::int64_t bound;            // there
    bool honors;
    std::int64_t want;
  };
  const Case cases[] = {{"its zone", 0, 0, true, 4},
                        {"its zone, where taints do not matter", 0, 0, false, 2},
                        {"pods there", 900, 3, true, 5},
                        {"pods there, where taints do not matter", 900, 3, false, 4}};
  for (const SpreadDomains domains : {SpreadDomains::kReachable, SpreadDomains::kAllPools})
    for (const Case& test : cases) {
      Node starting = node("starting", test.starting_millis, 8, false);
      model::set_label(starting.labels, kZone, "c");
      starting.present_taints = {{"cni-not-ready", "", model::TaintEffect::kNoSchedule}};
      Node far = node("far", 2000, 16);
      model::set_label(far.labels, kZone, "b");
      PodGroup web = spread(app(pods(5, 900), "web"), kZone, "web");
      web.shape.spread[0].honor_node_taints = test.honors;
      Problem one = on({node("near", 2000, 16), far, starting}, problem({web}, {}));
      one.options.spread_domains = domains;
      if (test.bound > 0) one.bound = {{2, "default", {{"app", "web"}}, {}, test.bound}};
      EXPECT_EQ(placed(solve(one)), test.want) << test.name << describe(one, solve(one));
    }
}

// But not where the pods' own node affinity keeps them out.
TEST(KubeRules, NodesThatOthersGetElsewhereDoNotCount) {
  const PodGroup other = selecting(app(pods(1, 5000), "web"), kZone, "a");
  const PodGroup own = selecting(spread(app(pods(3, 900), "web"), kZone, "web"), kZone, "b");
  const Problem one = problem({other, own}, {wide_pool()});
  EXPECT_EQ(placed(solve(one)), 4) << describe(one, solve(one));
}

// Zone c sells no machine that is large enough; where it is only sold out the pods wait.
TEST(KubeRules, ZonesWithoutRoomDoNotHoldThemUp) {
  Pool wide = wide_pool();
  std::vector<InstanceType> types = wide.types.items();
  for (InstanceType& type : types)
    if (type.name == "m8") type.offerings.pop_back();
  wide.types = types;
  const PodGroup large = spread(app(pods(4, 5000), "web"), kZone, "web");
  EXPECT_EQ(placed(solve(problem({large}, {wide}))), 4);
  Pool sold_out = wide_pool();
  types = sold_out.types.items();
  for (InstanceType& type : types) type.offerings.back().available = false;
  sold_out.types = types;
  EXPECT_EQ(placed(solve(problem({large}, {sold_out}))), 2);
}

// A node in zone c that the pods may be on counts, full as it is; one that they may not be on does
// not.
TEST(KubeRules, NodesCountWhereThePodsMayBe) {
  for (const bool theirs : {true, false}) {
    Problem one = for_a_team(SpreadDomains::kReachable);
    Node full = node_in("full", "c", 0);
    if (theirs) model::set_label(full.labels, "team", "blue");
    one.nodes = {full};
    EXPECT_EQ(placed(solve(one)), theirs ? 2 : 4) << describe(one, solve(one));
  }
}

// Nothing is bought for a preference while a node has room.
TEST(KubeRules, ANodeWithRoomIsTakenWhateverIsPreferred) {
  PodGroup elsewhere = pods(1, 500);
  elsewhere.shape.preferred_terms = {{100, {{in(kZone, {"b"})}, false}}};
  PodGroup apart = app(pods(3, 500), "web");
  apart.shape.affinity = {one_per_node("web")};
  apart.shape.affinity[0].preferred_weight = 50;
  PodGroup evenly = spread(app(pods(3, 500), "web"), kZone, "web");
  evenly.shape.spread[0].schedule_anyway = true;
  Node soft = node_in("soft", "a");
  soft.taints = {{"slow", "", model::TaintEffect::kPreferNoSchedule}};
  const Node plain = node_in("plain", "a");
  expect_cases({
      {"of a zone", on({plain}, problem({elsewhere}, {wide_pool()})), {}, {"plain: 0*1"}, {}},
      {"of a node each", on({plain}, problem({apart}, {wide_pool()})), {}, {"plain: 0*3"}, {}},
      {"of even zones", on({plain}, problem({evenly}, {wide_pool()})), {}, {"plain: 0*3"}, {}},
      {"of no taint", on({soft}, problem({pods(1, 500)}, {wide_pool()})), {}, {"soft: 0*1"}, {}},
      {"of no taint, with a choice",
       on({soft, plain}, problem({pods(1, 500)}, {wide_pool()})),
       {},
       {"plain: 0*1"},
       {}},
  });
}

}  // namespace
}  // namespace karst::scheduling::test
