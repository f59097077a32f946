// Taints and tolerations: Kubernetes' table of which tolerates which.
#include "model/taint.h"

#include <gtest/gtest.h>

namespace karst::model {
namespace {

constexpr auto kNo = TaintEffect::kNoSchedule;
constexpr auto kPrefer = TaintEffect::kPreferNoSchedule;
constexpr auto kExecute = TaintEffect::kNoExecute;

TEST(Taint, Tolerates) {
  const Taint taint{"db", "blue", kNo};
  struct Case {
    const char* name;
    Toleration toleration;
    bool want;
  };
  const Case cases[] = {
      {"equal", {"db", false, "blue", kNo, {}}, true},
      {"every effect", {"db", false, "blue", {}, {}}, true},
      {"exists", {"db", true, "", {}, {}}, true},
      {"everything", {"", true, "", {}, {}}, true},
      {"everything of another effect", {"", true, "", kExecute, {}}, false},
      {"empty key needs Exists", {"", false, "blue", {}, {}}, false},
      {"other value", {"db", false, "red", kNo, {}}, false},
      {"other key", {"web", true, "", {}, {}}, false},
      {"other effect", {"db", false, "blue", kExecute, {}}, false},
  };
  for (const Case& test : cases)
    EXPECT_EQ(test.want, tolerates(test.toleration, taint)) << test.name;
  EXPECT_TRUE(tolerates(std::vector{cases[6].toleration, cases[0].toleration}, taint));
  EXPECT_FALSE(tolerates(std::vector<Toleration>{}, taint));
}

TEST(Taint, FirstUntolerated) {
  const std::vector<Taint> taints = {{"soft", "", kPrefer}, {"a", "", kNo}, {"b", "", kExecute}};
  EXPECT_EQ(&taints[1], first_untolerated(taints, {}));
  EXPECT_EQ(&taints[2], first_untolerated(taints, {{"a", true, "", {}, {}}}));
  EXPECT_EQ(nullptr, first_untolerated(taints, {{"a", true, "", {}, {}}, {"b", true, "", {}, {}}}));
  EXPECT_EQ(nullptr, first_untolerated({}, {}));
}

TEST(Taint, EffectNamesThereAndBack) {
  for (const auto effect : {kNo, kPrefer, kExecute})
    EXPECT_EQ(effect, parse_taint_effect(taint_effect_name(effect)));
  EXPECT_EQ(std::nullopt, parse_taint_effect("noschedule"));
}

TEST(Taint, KnownEphemeral) {
  struct Case {
    Taint taint;
    bool want;
  };
  const Case cases[] = {
      {{"node.kubernetes.io/not-ready", "", kNo}, true},
      {{"node.kubernetes.io/not-ready", "", kExecute}, true},
      {{"node.kubernetes.io/unreachable", "", kNo}, true},
      {{"node.kubernetes.io/unreachable", "", kExecute}, false},
      {{"node.cloudprovider.kubernetes.io/uninitialized", "true", kNo}, true},
      {{"karpenter.sh/unregistered", "", kExecute}, true},
      {{"karpenter.sh/unregistered", "", kNo}, false},
      {{"readiness.k8s.io/net", "", kNo}, true},
      {{"readiness.k8s.iox", "", kNo}, false},
      {{"karpenter.sh/disrupted", "", kNo}, false},
  };
  for (const Case& test : cases)
    EXPECT_EQ(test.want, is_known_ephemeral(test.taint)) << test.taint.key;
}

}  // namespace
}  // namespace karst::model
