// What is said of pods that are pinned to a host.
#include <gtest/gtest.h>

#include "tests/scheduling/cases.h"

namespace karst::scheduling::test {
namespace {

// As Karpenter says it, whether the host is there and full or was never there.
TEST(Reasons, OfAPodThatIsPinnedToAHost) {
  const std::string host(model::kHostnameLabel);
  Problem full = problem({selecting(pods(1, 500), host, "full")});
  full.nodes = {node("full", 100, 1)};
  Problem by_term = problem({pods(1, 500)}, {pool(), pool("other")});
  by_term.pods[0].shape.required_terms = {{{in(host, {"gone"})}, false}};
  by_term.options.label_domain = "cloud.example";
  const std::string front =
      "Failed to schedule pod, using label kubernetes.io/hostname is not allowed as it might "
      "interfere with the internal provisioning logic; specify a well known label: [";
  const std::string middle = "], or a custom label that does not use a restricted domain: [";
  for (const auto& [posed, domains] :
       {std::pair(full, "karpenter.sh]"), std::pair(by_term, "cloud.example karpenter.sh]")}) {
    const Answer answer = solve(posed);
    ASSERT_EQ(1u, answer.unplaced.size());
    const Unplaced& left = answer.unplaced[0];
    EXPECT_TRUE(left.message.starts_with(front)) << left.message;
    EXPECT_TRUE(left.message.ends_with(middle + domains)) << left.message;
    ASSERT_EQ(1u, left.reasons.size());
    EXPECT_EQ("requirements", left.reasons[0].code);
  }
}

}  // namespace
}  // namespace karst::scheduling::test
