// Claims that another log's process, or Karpenter, has launched.
#include "tests/engine/stage.h"

namespace karst::engine {
namespace {

using namespace testing;

TEST(Adopted, ClaimsHaveThePriceOfTheirOffer) {
  struct Case {
    const char* name;
    model::Labels labels;
    std::int64_t want;
  };
  const std::vector<Case> cases = {
      {"in the catalogue",
       {{"karpenter.sh/capacity-type", "spot"},
        {"node.kubernetes.io/instance-type", "c-1x-amd64-linux"},
        {"topology.kubernetes.io/zone", "test-zone-a"}},
       19'003'239},
      {"in a zone that is not",
       {{"karpenter.sh/capacity-type", "spot"},
        {"node.kubernetes.io/instance-type", "c-1x-amd64-linux"},
        {"topology.kubernetes.io/zone", "elsewhere"}},
       0},
      {"without labels", {}, 0},
  };
  for (const Case& row : cases) {
    events::MemoryLog log(model::LogId("log"));
    Story story(log);
    set_the_stage(story);
    model::NodeClaim claim;
    claim.name = model::ClaimName("default-a");
    claim.uid = model::ClaimUid("uid-a");
    claim.pool = model::PoolName("default");
    claim.labels = row.labels;
    claim.node_class = {"karpenter.kwok.sh", "KWOKNodeClass", "default"};
    claim.provider_id = model::ProviderId("kwok://a");
    story.fact(events::NodeClaimObserved{claim});
    story.step();
    const auto* known = story.state().claims().find(claim.name);
    ASSERT_NE(known, nullptr);
    EXPECT_EQ(known->instance.offer.price_nanos_per_hour, row.want) << row.name;
    EXPECT_EQ(verified(log).difference, std::nullopt);
  }
}

}  // namespace
}  // namespace karst::engine
