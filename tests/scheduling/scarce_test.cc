// What is left over when a pool's limit is reached: many rows in trouble that nobody can help. The
// answers came after minutes, or the memory was used up before.
#include <gtest/gtest.h>

#include "tests/scheduling/cases.h"

namespace karst::scheduling::test {
namespace {

// Each of another size, so that each is a row of its own.
PodGroup one_pod(int number, std::int64_t cpu_millis, const std::string& name) {
  return app(pods(1, cpu_millis + number, 0), name);
}

TEST(Scarce, PodsThatGoByEachOtherAndHaveNoNode) {
  std::vector<PodGroup> groups;
  for (int i = 0; i < 32; ++i)
    groups.push_back(with_affinity(spread(one_pod(i, 700, "web"), kZone, "web", 32), kZone, "web",
                                   /*anti=*/false));
  const Problem one = problem(std::move(groups), {limited(pool(), "cpu", 1000)});
  const Answer answer = solve(one);
  EXPECT_EQ(wrong(one, answer), "");
  EXPECT_EQ(placed(answer), 1);
}

TEST(Scarce, ThreeApplicationsOfWhichEachGoesByTheNext) {
  std::vector<PodGroup> groups;
  const std::string names[] = {"web", "api", "db"};
  for (int i = 0; i < 240; ++i) {
    PodGroup group = one_pod(i, 500, names[i % 3]);
    if (i % 2 == 0) group = spread(std::move(group), kZone, names[i % 3]);
    if (i % 5 == 0) group = with_affinity(std::move(group), kZone, names[(i + 1) % 3], false);
    if (i % 7 == 0) group = with_affinity(std::move(group), kHost, names[i % 3], true);
    groups.push_back(std::move(group));
  }
  const Problem one = problem(std::move(groups), {limited(pool(), "cpu", 40'000)});
  const Answer answer = solve(one);
  EXPECT_EQ(wrong(one, answer), "");
  EXPECT_GE(placed(answer), 60);
}

// "Never this one", as people write it: nobody pays it, and no sum of it turns negative.
TEST(Scarce, APriceThatIsMeantToKeepAway) {
  Pool dear = pool("a");
  std::vector<InstanceType> types = {machine("m1", 1, 4, 100)};
  Pool cheap = pool("b");
  cheap.types = types;
  for (Offering& one : types[0].offerings) one.price_nanos_per_hour = 1'000'000'000'000'000'000;
  dear.types = types;
  for (const std::int64_t count : {1, 9, 10, 18, 40}) {
    const Problem one = problem({pods(count, 800, 0)}, {dear, cheap});
    const Answer answer = solve(one);
    ASSERT_EQ(placed(answer), count);
    for (const NewClaim& claim : answer.claims) EXPECT_EQ(claim.pool, 1u) << count;
  }
}

}  // namespace
}  // namespace karst::scheduling::test
