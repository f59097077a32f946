// Spreads and affinities: tables, and a law over random problems judged by a naive replay.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>
#include <set>
#include <string>

#include "tests/scheduling/cases.h"
#include "tests/scheduling/random.h"
#include "tests/scheduling/replay.h"

namespace karst::scheduling::test {
namespace {

const std::string kType(model::kCapacityTypeLabel);

Problem with_bound(Problem problem, std::size_t node, const std::string& name, std::int64_t count) {
  problem.bound.push_back({node, "default", {{"app", name}}, {}, count});
  return problem;
}

// Who must be on the host of others is left over by greed: these are on a machine that others fill,
// or on one of a kind that is too small.
TEST(Topology, RoomIsKeptForWhoMustBeOnTheHost) {
  const std::string instance_type(model::kInstanceTypeLabel);
  const PodGroup db = app(pods(1, 500), "db");
  const auto beside = [](PodGroup group, const std::string& name) {
    return with_affinity(std::move(group), kHost, name, false);
  };
  expect_cases({
      {"others fill it",
       problem({pods(1, 7500), db, beside(pods(1, 6000), "db"), pods(8, 100)}),
       {"default m8: 0*1 3*5", "default m8: 1*1 2*1 3*3"},
       {},
       {}},
      {"a chain",
       problem({pods(1, 7500), db, beside(app(pods(1, 400), "web"), "db"),
                beside(pods(1, 6000), "web"), pods(8, 100)}),
       {"default m8: 0*1 4*5", "default m8: 1*1 2*1 3*1 4*3"},
       {},
       {}},
      {"of a kind of machine",
       problem({spread(db, instance_type, "db"), beside(pods(1, 6000), "db")}),
       {"default m8: 0*1 1*1"},
       {},
       {}},
  });
}

// The zone is chosen by what the node costs with all that is on it, not by the last pod's own
// price.
TEST(Topology, TheZoneIsTheCheapestForTheWholeNode) {
  Pool one = pool();
  InstanceType small = machine("m1", 1, 4, 10);
  small.offerings = {offering("a", "on-demand", 1 * kCent), offering("b", "on-demand", 10 * kCent)};
  InstanceType large = machine("m8", 8, 32, 80);
  large.offerings = {offering("a", "on-demand", 100 * kCent),
                     offering("b", "on-demand", 80 * kCent)};
  one.types = std::vector<InstanceType>{small, large};
  const Problem asked =
      problem({pods(1, 6000), spread(app(pods(1, 500), "web"), kZone, "web")}, {one});
  EXPECT_EQ(price(solve(asked)), 80 * kCent) << describe(asked, solve(asked));
}

TEST(Topology, Tables) {
  Node far = node("far", 4000, 16);
  far.labels = {{kHost, "far"}, {kZone, "b"}};
  const Problem two_nodes = on({far, node("near", 4000, 16)}, problem({}));
  const auto asking = [&](PodGroup group, Problem base) {
    base.pods = {std::move(group)};
    return base;
  };
  expect_cases({
      {"zones in turn",
       problem({spread(app(pods(4, 500), "web"), kZone, "web")}),
       {"default m1: 0*2", "default m1: 0*2"},
       {},
       {}},
      {"two a host",
       problem({spread(app(pods(4, 100), "web"), kHost, "web", 2)}),
       {"default m1: 0*2", "default m1: 0*2"},
       {},
       {}},
      {"where the fewest are",
       asking(spread(app(pods(2, 500), "web"), kZone, "web"), with_bound(two_nodes, 1, "web", 2)),
       {},
       {"far: 0*2"},
       {}},
      {"beside the only one",
       asking(with_affinity(pods(1, 500), kHost, "db", false), with_bound(two_nodes, 0, "db", 1)),
       {},
       {"far: 0*1"},
       {}},
      {"in the same zone, on a new node",
       asking(with_affinity(pods(1, 6000), kZone, "db", false), with_bound(two_nodes, 0, "db", 1)),
       {"default m8: 0*1"},
       {},
       {}},
      {"the first of its kind stays with the rest",
       problem({with_affinity(app(pods(3, 500), "web"), kHost, "web", false)}),
       {"default m2: 0*3"},
       {},
       {}},
      {"one a zone",
       problem({with_affinity(app(pods(3, 500), "web"), kZone, "web", true)}),
       {"default m1: 0*1", "default m1: 0*1"},
       {},
       {"0*1 topology"}},
      {"another namespace",
       [] {
         PodGroup group = with_affinity(app(pods(1, 500), "web"), kHost, "web", true);
         Problem one = on({node("n", 4000, 16)}, problem({group}));
         one.bound = {{0, "other", {{"app", "web"}}, {}, 1}};
         return one;
       }(),
       {},
       {"n: 0*1"},
       {}},
      {"a namespace by its label",
       [] {
         PodGroup group = with_affinity(app(pods(1, 500), "web"), kHost, "web", true);
         group.shape.affinity[0].namespace_selector =
             model::LabelSelector{{in("team", {"x"})}, false};
         Problem one = on({node("n", 4000, 16)}, problem({group}));
         one.bound = {{0, "other", {{"app", "web"}}, {}, 1}};
         one.namespaces["other"] = {{"team", "x"}};
         return one;
       }(),
       {"default m1: 0*1"},
       {},
       {}},
  });
}

PodGroup random_spread_pods() {
  const std::string apps[] = {"web", "api", "db"};
  const auto name = [&] { return apps[static_cast<std::size_t>(pick(0, 3))]; };
  PodGroup group = app(pods(pick(1, 6), pick(1, 30) * 100), name());
  const std::string key = pick(0, 2) == 0 ? kZone : kHost;
  switch (pick(0, 5)) {
    case 0:
      return spread(std::move(group), key, name(), static_cast<std::int32_t>(pick(1, 3)));
    case 1:
      return with_affinity(std::move(group), key, name(), true);
    case 2:
      return with_affinity(std::move(group), key, name(), false);
    case 3:
      return with_affinity(spread(std::move(group), kZone, name()), kHost, name(), true);
    default:
      return group;
  }
}

TEST(Topology, EveryConstraintHoldsAtItsTurn) {
  EXPECT_TRUE(rc::check("replay", [] {
    std::vector<PodGroup> groups;
    for (std::int64_t i = pick(1, 6); i > 0; --i) groups.push_back(random_spread_pods());
    Problem one = problem(std::move(groups));
    for (std::int64_t i = pick(0, 4); i > 0; --i) {
      Node place = node("n" + std::to_string(i), pick(0, 60) * 100, 16);
      if (pick(0, 2) == 0) model::set_label(place.labels, kZone, "b");
      one.nodes.push_back(place);
      if (pick(0, 2) == 0) one = with_bound(one, one.nodes.size() - 1, "web", pick(1, 3));
    }
    const Answer answer = solve(one);
    RC_LOG() << describe(one, answer);
    RC_ASSERT(wrong_order(one, answer) == "");
    std::int64_t told = 0;
    for (const Turn& turn : answer.order) told += turn.count;
    RC_ASSERT(told == placed(answer));
    RC_TAG(answer.unplaced.empty() ? "all placed" : "some left");
  }));
}

PodGroup random_over_two_keys() {
  const std::string apps[] = {"web", "api"};
  const auto name = [&] { return apps[static_cast<std::size_t>(pick(0, 2))]; };
  PodGroup group = app(pods(pick(1, 6), pick(1, 30) * 100), name());
  if (pick(0, 3) == 0) return group;
  const std::string key = pick(0, 2) == 0 ? kZone : kType;
  if (pick(0, 5) == 0) return with_affinity(std::move(group), key, name(), pick(0, 2) == 0);
  return spread(std::move(group), key, name(), static_cast<std::int32_t>(pick(1, 3)));
}

// A pod without constraints of its own may be counted over both keys, and be decided on one.
TEST(Topology, TurnsHoldOverZonesAndCapacityTypes) {
  EXPECT_TRUE(rc::check("replay over two keys", [] {
    std::vector<PodGroup> groups;
    for (std::int64_t i = pick(2, 6); i > 0; --i) groups.push_back(random_over_two_keys());
    Problem one = problem(std::move(groups));
    for (std::int64_t i = pick(0, 3); i > 0; --i) {
      Node place = node("n" + std::to_string(i), pick(0, 60) * 100, 16);
      if (pick(0, 2) == 0) model::set_label(place.labels, kZone, "b");
      model::set_label(place.labels, kType, pick(0, 2) == 0 ? "spot" : "on-demand");
      one.nodes.push_back(place);
    }
    const Answer answer = solve(one);
    RC_LOG() << describe(one, answer);
    RC_ASSERT(wrong_order(one, answer) == "");
    RC_TAG(answer.unplaced.empty() ? "all placed" : "some left");
  }));
}

// Pods that are counted over zones, which are decided, and over capacity types, which are not: who
// is to be beside them has its turn after theirs.
TEST(Topology, NobodyGoesByPodsThatAreToldLater) {
  const Problem asked =
      problem({spread(app(pods(1, 100), "web"), kType, "api"),
               with_affinity(app(pods(4, 300), "web"), kZone, "api", false),
               app(pods(1, 1000), "api"), app(pods(3, 2100), "web"), app(pods(1, 100), "web")});
  const Answer answer = solve(asked);
  EXPECT_TRUE(answer.unplaced.empty()) << describe(asked, answer);
  EXPECT_EQ("", wrong_order(asked, answer)) << describe(asked, answer);
}

// What every machine that a claim may come up as has of the key; "": they differ.
std::string decided(const NewClaim& claim, const std::string& key) {
  std::set<std::string> values;
  for (const model::Offer& offer : claim.offers)
    values.insert(key == kZone ? offer.zone : offer.capacity_type);
  return values.size() == 1 ? *values.begin() : "";
}

// Two rows that count each other, each over a key of its own: whoever has a turn before others are
// counted has decided on the domains that these count.
TEST(Topology, TurnsHoldWhereSpreadsOverTwoKeysCountTheSamePods) {
  PodGroup by_zone = spread(app(pods(2, 3000), "web"), kZone, "web", 2, 3);  // none where none are
  by_zone.shape.priority = 10;
  const Problem asked = problem({by_zone, spread(app(pods(2, 7000), "web"), kType, "web")},
                                {requiring(pool(), in(kZone, {"a"}))});
  const Answer answer = solve(asked);
  EXPECT_TRUE(answer.unplaced.empty()) << describe(asked, answer);
  std::int64_t in_zone = 0;
  std::map<std::string, std::int64_t> by_type = {{"spot", 0}, {"on-demand", 0}};
  for (const Turn& turn : answer.order)
    for (std::int64_t i = 0; i < turn.count; ++i) {
      const std::string chosen = decided(answer.claims[turn.target], kType);
      ++in_zone;
      EXPECT_TRUE(turn.group == 1 || in_zone <= 2) << describe(asked, answer);
      ASSERT_NE("", chosen) << describe(asked, answer);
      ++by_type[chosen];
      const std::int64_t fewest = std::min(by_type["spot"], by_type["on-demand"]);
      EXPECT_TRUE(turn.group == 0 || by_type[chosen] <= fewest + 1) << describe(asked, answer);
    }
}

// A larger pod that wants nobody of its kind on its host goes first by size, and is the only one
// that those who want company of their kind could follow: they begin a host of their own.
TEST(Topology, ACrowdIsNotLeftOverForALonerThatCameFirst) {
  const PodGroup crowd = with_affinity(app(pods(9, 500), "db"), kHost, "db", false);
  const Problem one = problem({alone(pods(1, 2000), "db"), crowd});
  const Answer answer = solve(one);
  EXPECT_TRUE(answer.unplaced.empty()) << describe(one, answer);
  EXPECT_EQ("", wrong(one, answer));
  EXPECT_EQ("", wrong_order(one, answer));
}

// The replay is worth something: with two pods of a spread put on one host it says no.
TEST(Topology, TheReplayCanSayNo) {
  const Problem one = problem({spread(app(pods(2, 100), "web"), kHost, "web")});
  Answer answer = solve(one);
  ASSERT_EQ("", wrong_order(one, answer));
  ASSERT_EQ(2u, answer.order.size());
  answer.order[1].target = answer.order[0].target;
  EXPECT_NE("", wrong_order(one, answer));
}

}  // namespace
}  // namespace karst::scheduling::test
