// How many pods a CapacityBuffer stands for (Karpenter v1.14, its capacity buffer controller).
#include "scheduling/buffers.h"

#include <gtest/gtest.h>

#include <limits>

namespace karst::scheduling {
namespace {

TEST(Buffers, StandForTheLargerOfTheirSizesWithinTheirLimits) {
  using Limits = std::vector<std::pair<std::string, std::int64_t>>;
  const struct {
    const char* name;
    std::optional<std::int64_t> replicas;
    std::optional<std::int64_t> percentage;
    bool of_a_workload;
    Limits limits;
    std::int64_t want;
  } cases[] = {
      {"a number", 3, {}, false, {}, 3},
      {"a share, rounded up", {}, 15, true, {}, 2},
      {"the larger one is the share", 1, 50, true, {}, 5},
      {"the larger one is the number", 7, 50, true, {}, 7},
      {"a share of nothing", {}, 50, false, {}, 0},
      {"a number within a limit", 9, {}, false, {{"cpu", 5'000}}, 2},
      {"the narrowest limit", 9, {}, false, {{"cpu", 9'000}, {"memory", 300}}, 3},
      {"a limit on what no pod asks for", 9, {}, false, {{"example.com/gpu", 1}}, 9},
      {"no size: what the limits allow", {}, {}, false, {{"cpu", 8'000}}, 4},
      {"no size, no limit that counts", {}, {}, false, {{"example.com/gpu", 1}}, 0},
      {"nothing", {}, {}, false, {}, 0},
      {"more than anybody may ask for", 1'000'000, {}, false, {}, 100},
  };
  model::Resources pod;
  pod.cpu_millis = 2'000;
  pod.memory_bytes = 100;
  for (const auto& c : cases) {
    model::CapacityBuffer buffer;
    buffer.replicas = c.replicas;
    buffer.percentage = c.percentage;
    if (c.of_a_workload) buffer.scalable_name = "web";
    buffer.limits = c.limits;
    EXPECT_EQ(buffer_pods(buffer, pod, c.of_a_workload ? 10 : 0, 100), c.want) << c.name;
  }
}

TEST(Buffers, OfAnotherStrategyAreNotOurs) {
  model::CapacityBuffer buffer;
  EXPECT_TRUE(is_active(buffer));
  buffer.strategy = "buffer.x-k8s.io/active-capacity";
  EXPECT_TRUE(is_active(buffer));
  buffer.strategy = "example.com/other";
  EXPECT_FALSE(is_active(buffer));
}

TEST(Buffers, AskForPodsOfTheLowestPriorityWithoutVolumes) {
  model::PodShape pod;
  pod.volume_claims = {"data"};
  pod.priority = 7;
  const model::PodShape shape = buffer_shape(pod);
  EXPECT_TRUE(shape.volume_claims.empty());
  EXPECT_EQ(shape.priority, std::numeric_limits<std::int32_t>::min());
}

}  // namespace
}  // namespace karst::scheduling
