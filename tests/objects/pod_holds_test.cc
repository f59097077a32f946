// What keeps a pod's node: the annotation, and a pod that cannot be read.
#include <gtest/gtest.h>

#include <string>

#include "objects/pod.h"

namespace karst::objects {
namespace {

base::Result<ReducedPod> reduced_of(const std::string& text) {
  Parser parser;
  const auto parsed = parser.parse(text, kObjectBytesMax);
  EXPECT_TRUE(parsed) << text.substr(0, 200);
  return reduce_pod(*parsed);
}

TEST(ReducePod, DoNotDisruptIsTrueOrAPositiveDuration) {
  struct Case {
    const char* value;
    model::DoNotDisrupt want;
  };
  const Case cases[] = {
      {"true", model::DoNotDisrupt::kForever}, {"5m", model::DoNotDisrupt::kForDuration},
      {"false", model::DoNotDisrupt::kNo},     {"0s", model::DoNotDisrupt::kNo},
      {"-5m", model::DoNotDisrupt::kNo},       {"True", model::DoNotDisrupt::kNo},
      {"", model::DoNotDisrupt::kNo}};
  for (const Case& test : cases) {
    const auto reduced = reduced_of(
        R"({"metadata":{"uid":"u","name":"n","annotations":{"karpenter.sh/do-not-disrupt":")" +
        std::string(test.value) + R"("}}})");
    ASSERT_TRUE(reduced);
    EXPECT_EQ(reduced->shape.do_not_disrupt, test.want) << test.value;
  }
}

TEST(ReducePod, AnAnnotationOfAnyLengthIsOnlyNotHeeded) {
  for (const char* name :
       {"karpenter.sh/do-not-disrupt", "controller.kubernetes.io/pod-deletion-cost"}) {
    const auto reduced =
        reduced_of(R"({"metadata":{"uid":"u","name":"n","annotations":{")" + std::string(name) +
                   R"(":")" + std::string(200'000, '1') + R"("}}})");
    ASSERT_TRUE(reduced) << reduced.error().message;
    EXPECT_EQ(reduced->shape.do_not_disrupt, model::DoNotDisrupt::kNo);
    EXPECT_EQ(reduced->shape.deletion_cost, 0);
  }
}

TEST(ReducePod, OneThatCannotBeReadHoldsItsNode) {
  Parser parser;
  const auto instead = [&](const std::string& node) {
    const std::string text =
        R"({"metadata":{"uid":"u","namespace":"s","name":"n"},"spec":{"nodeName":")" + node +
        R"(","tolerations":[{"effect":"Never"}]},"status":{"phase":"Running"}})";
    const auto object = parser.parse(text, kObjectBytesMax);
    EXPECT_FALSE(reduce_pod(*object));
    return pod_in_place_of(*object);
  };
  const auto bound = instead("node-1");
  ASSERT_TRUE(bound);
  EXPECT_EQ(bound->pod.node.str(), "node-1");
  EXPECT_EQ(bound->pod.phase, model::PodPhase::kRunning);
  EXPECT_EQ(bound->shape.do_not_disrupt, model::DoNotDisrupt::kForever);
  EXPECT_EQ(bound->pod.shape, model::hash_of(bound->shape));
  EXPECT_FALSE(instead("")) << "on no node, it holds none";
}

}  // namespace
}  // namespace karst::objects
