// Pools by weight, after pods were dealt out anew.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/scheduling/cases.h"
#include "tests/scheduling/replay.h"

namespace karst::scheduling::test {
namespace {

// What is left on a claim of the lighter pool, once those are gone for whom it was made, is the
// heavier one's, if that takes it.
TEST(Heavier, TakesWhatALighterClaimWasLeftWith) {
  Pool heavy = tainted(weighing(by_the_cpu(4), 10), "team");
  heavy.pool.name = model::PoolName("heavy");
  for (std::int64_t pods = 3; pods < 40; ++pods) {
    const Problem one =
        problem({with_nobody(asking(pods, 1500, 1800)), tolerating(asking(pods, 700, 900), "team"),
                 tolerating(asking(3 * pods / 2, 300, 100), "team")},
                {by_the_cpu(7), heavy});
    const Answer answer = solve(one);
    EXPECT_EQ("", wrong(one, answer)) << pods;
    EXPECT_EQ("", wrong_order(one, answer)) << pods;
    EXPECT_TRUE(answer.unplaced.empty());
    for (const NewClaim& claim : answer.claims) {
      if (claim.pool == 1) continue;
      const bool has_its_own = std::any_of(claim.pods.begin(), claim.pods.end(),
                                           [](const auto& share) { return share.group == 0; });
      EXPECT_TRUE(has_its_own || claim.requests.cpu_millis > 3900) << pods;
    }
  }
}

// Claims of two pools may belong on the same heavier one, whose limits count for both.
TEST(Heavier, SharesItsLimitsAmongLighterPools) {
  const auto own = [](model::Operator op, const std::string& name) {
    return model::RequirementSpec{"own", op, {name}};
  };
  for (std::int64_t pods = 3; pods < 40; ++pods)
    for (const bool by_nodes : {false, true}) {
      std::vector<Pool> pools = {tainted(weighing(by_the_cpu(by_nodes ? 3 : 4), 10), "team")};
      pools[0] = limited(std::move(pools[0]), by_nodes ? "nodes" : "cpu", by_nodes ? 1 : 3'000);
      std::vector<PodGroup> groups;
      for (const bool second : {false, true}) {
        const std::string name = second ? "l1" : "l0";
        pools.push_back(requiring(by_the_cpu(7), own(model::Operator::kIn, name)));
        pools.back().pool.name = model::PoolName(name);
        const auto theirs = [&](std::int64_t count, std::int64_t cpu_millis, std::int64_t mib) {
          return with_term(tolerating(asking(count, cpu_millis, mib), "team"),
                           {own(model::Operator::kNotIn, second ? "l0" : "l1")});
        };
        groups.push_back(selecting(alone(asking(pods, 1500, 1800), "a" + name), "own", name));
        groups.push_back(theirs(pods, 700, 900));
        groups.push_back(theirs(3 * pods / 2, 300, 100));
      }
      const Problem one = problem(groups, pools);
      const Answer answer = solve(one);
      EXPECT_EQ("", wrong(one, answer)) << pods;
      EXPECT_TRUE(answer.unplaced.empty()) << pods;
    }
}

// A pool that has more of something than its limit already gets no claim, not even of machines that
// have none of it.
TEST(Heavier, LeavesAPoolAloneThatIsOverItsLimit) {
  for (const std::int32_t weight : {0, 10})
    for (std::int64_t pods = 3; pods < 40; ++pods) {
      Pool over = weighing(by_the_cpu(4), weight);
      over = limited(std::move(over), "example.com/gpu", 2, 4);
      over.pool.name = model::PoolName("over");
      const Problem one = problem({with_nobody(asking(pods, 1500, 1800)), asking(pods, 700, 900),
                                   asking(3 * pods / 2, 300, 100)},
                                  {by_the_cpu(7), over});
      const Answer answer = solve(one);
      EXPECT_EQ("", wrong(one, answer)) << pods;
      EXPECT_TRUE(answer.unplaced.empty()) << pods;
    }
}

// A pod that no pool could take, whatever its limits, changes nothing for the others.
TEST(Heavier, AHopelessPodCostsTheOthersNothing) {
  for (std::int64_t pods = 3; pods < 40; ++pods) {
    const auto asked = [&](bool with_hopeless) {
      std::vector<PodGroup> groups = {with_nobody(asking(pods, 1500, 1800)), asking(pods, 700, 900),
                                      asking(3 * pods / 2, 300, 100)};
      if (with_hopeless) groups.push_back(selecting(asking(1, 100, 100), "nobody", "has"));
      return problem(groups, {limited(by_the_cpu(7), "cpu", 1'000'000)});
    };
    const Answer plain = solve(asked(false));
    const Answer beside = solve(asked(true));
    EXPECT_TRUE(plain.unplaced.empty());
    EXPECT_EQ(beside.unplaced.size(), 1u);
    EXPECT_EQ(price(beside), price(plain)) << pods;
  }
}

}  // namespace
}  // namespace karst::scheduling::test
