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

}  // namespace
}  // namespace karst::scheduling::test
