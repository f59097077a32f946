// Pods whose containers are resized in place: what they count with meanwhile.
#include <gtest/gtest.h>

#include <string>

#include "objects/pod.h"

namespace karst::objects {
namespace {

// What the kubelet still holds counts until it is given back; what it will never give does not.
TEST(ReducePod, AResizeInPlaceCountsOnceItIsCarriedOut) {
  struct Case {
    const char* name;
    const char* status;
    std::int64_t cpu_millis;
  };
  const Case cases[] = {
      {"no status", "null", 1200},
      {"as the spec says",
       R"({"containerStatuses":[{"name":"c","resources":{"requests":{"cpu":"200m"}}}]})", 1200},
      {"shrinking",
       R"({"containerStatuses":[{"name":"c","allocatedResources":{"cpu":"500m"},
           "resources":{"requests":{"cpu":"1500m"}}}]})",
       2500},
      {"growing", R"({"containerStatuses":[{"name":"c","resources":{"requests":{"cpu":"100m"}}}]})",
       1200},
      {"a sidecar that shrinks",
       R"({"initContainerStatuses":[{"name":"side","resources":{"requests":{"cpu":"3"}}}]})", 3200},
      {"an init container keeps what the spec says",
       R"({"initContainerStatuses":[{"name":"first","resources":{"requests":{"cpu":"9"}}}]})",
       1200},
      {"it cannot grow",
       R"({"conditions":[{"type":"PodResizePending","status":"True","reason":"Infeasible"}],
           "containerStatuses":[{"name":"c","resources":{"requests":{"cpu":"100m"}}}]})",
       1100},
      {"it may grow later",
       R"({"conditions":[{"type":"PodResizePending","status":"True","reason":"Deferred"}],
           "containerStatuses":[{"name":"c","resources":{"requests":{"cpu":"100m"}}}]})",
       1200},
      {"what runs says nothing of requests",
       R"({"containerStatuses":[{"name":"c","allocatedResources":{"cpu":"1500m"}}]})", 1200},
  };
  const std::string spec = R"({"containers":[{"name":"c","resources":{"requests":{"cpu":"200m"}}}],
      "initContainers":[{"name":"first","resources":{"requests":{"cpu":"100m"}}},
      {"name":"side","restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}}]})";
  for (const Case& test : cases) {
    Parser parser;
    const auto parsed = parser.parse(R"({"metadata":{"uid":"u","name":"n"},"spec":)" + spec +
                                         R"(,"status":)" + test.status + "}",
                                     kObjectBytesMax);
    ASSERT_TRUE(parsed) << test.name;
    const auto reduced = reduce_pod(*parsed);
    ASSERT_TRUE(reduced) << test.name << ": " << reduced.error().message;
    EXPECT_EQ(reduced->shape.requests.cpu_millis, test.cpu_millis) << test.name;
  }
}

}  // namespace
}  // namespace karst::objects
