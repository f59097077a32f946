// How what a pool's limits leave is shared out, as further instance types of its claims.
#include <gtest/gtest.h>

#include "tests/scheduling/cases.h"

namespace karst::scheduling::test {
namespace {

// Four pods, each on a machine of 2 CPUs at least; 32 CPUs would be the largest for all.
TEST(LimitsLists, EachClaimHasAPart) {
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

}  // namespace
}  // namespace karst::scheduling::test
