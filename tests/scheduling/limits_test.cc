// Pools near their limits: who gets a place, and how what is left is shared out as further types.
#include <gtest/gtest.h>

#include "tests/scheduling/cases.h"

namespace karst::scheduling::test {
namespace {

// Four pods, each on a machine of 2 CPUs at least; 32 CPUs would be the largest for all.
TEST(Limits, EachClaimHasAPart) {
  const struct {
    std::int64_t cpus;
    std::vector<std::size_t> types;  // by claim
  } cases[] = {
      {8, {1, 1, 1, 1}},  {13, {2, 2, 1, 1}},  // a part of what is left is too small for anybody
      {16, {2, 2, 2, 2}},                      // not 3, 2, 1, 1
      {24, {3, 3, 2, 2}},                      // nobody would have more by parts
      {32, {3, 3, 3, 3}},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.cpus);
    Pool sizes = pool();
    sizes.types = std::vector<InstanceType>{machine("m2", 2, 8, 10), machine("m4", 4, 16, 20),
                                            machine("m8", 8, 32, 40)};
    const Problem here =
        problem({with_nobody(asking(4, 1500, 100))}, {limited(sizes, "cpu", 1'000 * one.cpus)});
    const Answer answer = solve(here);
    EXPECT_EQ("", wrong(here, answer));
    std::vector<std::size_t> types;
    for (const NewClaim& claim : answer.claims) types.push_back(claim.types.size());
    EXPECT_EQ(one.types, types);
  }
}

// Eight CPUs, of which each machine holds something back: two of the large pods and three small
// ones, or all ten small ones.
TEST(Limits, MorePodsArePlacedWhereTheSmallOnesComeFirst) {
  for (const std::int32_t priority : {0, 1}) {
    PodGroup large = asking(4, 3000, 100);
    large.shape.priority = priority;
    const Problem here =
        problem({large, asking(10, 500, 100)}, {limited(by_the_cpu(8), "cpu", 8'000)});
    const Answer answer = solve(here);
    EXPECT_EQ("", wrong(here, answer));
    EXPECT_EQ(placed(answer), priority == 0 ? 10 : 2 + 3) << "higher priorities first";
  }
}

}  // namespace
}  // namespace karst::scheduling::test
