// What we write is read back as the same value, and carries what other readers expect of a
// NodeClaim.
#include "objects/writer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "objects/cluster.h"

namespace karst::objects {
namespace {

using nlohmann::json;

model::NodeClaim claim() {
  model::NodeClaim claim;
  claim.name = model::ClaimName("web-abcde");
  claim.pool = model::PoolName("web");
  claim.pool_uid = "pool-uid";
  claim.labels = {{"karpenter.sh/nodepool", "web"}, {"team", "web"}};
  claim.annotations = {{"karst.sh/command-id", "log-1"}};
  claim.requirements = {{"node.kubernetes.io/instance-type", model::Operator::kIn, {"b", "a"}, 2},
                        {"gpu", model::Operator::kDoesNotExist, {}, 0}};
  claim.requests.cpu_millis = 1500;
  claim.requests.memory_bytes = std::int64_t{3} << 30;
  claim.requests.pods = 2;
  claim.requests.set_amount("example.com/gpu", 1);
  claim.taints = {{"dedicated", "batch", model::TaintEffect::kNoSchedule}};
  claim.startup_taints = {{"starting", "", model::TaintEffect::kNoExecute}};
  claim.node_class = {"karpenter.kwok.sh", "KWOKNodeClass", "default"};
  claim.termination_grace_millis = 90'000;
  return claim;
}

TEST(NodeClaimJson, ReadsBackEqual) {
  model::NodeClaim wanted = claim();
  json object = json::parse(node_claim_json(wanted));
  EXPECT_EQ(object["spec"]["expireAfter"], "Never");
  EXPECT_EQ(object["spec"]["terminationGracePeriod"], "90s");
  EXPECT_EQ(object["spec"]["resources"]["requests"]["memory"], "3Gi");
  EXPECT_EQ(object["metadata"]["finalizers"], json::array({"karpenter.sh/termination"}));
  EXPECT_EQ(object["metadata"]["ownerReferences"][0]["kind"], "NodePool");
  EXPECT_EQ(object["metadata"]["ownerReferences"][0]["blockOwnerDeletion"], true);
  EXPECT_FALSE(object["metadata"]["ownerReferences"][0].contains("controller"));
  object["metadata"]["uid"] = "claim-uid";  // as the API server does
  Parser parser;
  const auto parsed = parser.parse(object.dump(), kObjectBytesMax);
  ASSERT_TRUE(parsed);
  const auto read = reduce_node_claim(*parsed);
  ASSERT_TRUE(read) << read.error().message;
  wanted.uid = model::ClaimUid("claim-uid");
  wanted.has_finalizer = true;
  EXPECT_EQ(*read, wanted);
}

TEST(ClaimPatches, AreTiedToTheUidAndReadBackEqual) {
  model::MirrorClaim mirror;
  mirror.uid = model::ClaimUid("claim-uid");
  mirror.labels = {{"a", "1"}};
  mirror.provider_id = model::ProviderId("kwok://n");
  mirror.capacity.cpu_millis = 4000;
  mirror.conditions = {
      {"Launched", model::ConditionStatus::kTrue, "Launched", "", 1'700'000'000'000},
      {"Ready", model::ConditionStatus::kUnknown, "ReconcilingDependents", "Initialized=Unknown",
       1'700'000'000'250}};
  const json labels = json::parse(claim_metadata_patch(mirror));
  EXPECT_EQ(labels, json::parse(R"({"metadata":{"uid":"claim-uid","labels":{"a":"1"}}})"));
  const json patch = json::parse(claim_status_patch(mirror));
  EXPECT_EQ(patch[0], json::parse(R"({"op":"test","path":"/metadata/uid","value":"claim-uid"})"));
  const json status = json::parse(R"({"metadata":{"uid":"claim-uid","name":"n"}})").patch(patch);
  EXPECT_FALSE(status["status"].contains("nodeName"));
  EXPECT_EQ(status["status"]["conditions"][0]["lastTransitionTime"], "2023-11-14T22:13:20Z");
  Parser parser;
  const auto read = reduce_node_claim(*parser.parse(status.dump(), kObjectBytesMax));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->conditions, mirror.conditions);
  EXPECT_EQ(read->capacity, mirror.capacity);
}

TEST(PoolPatches, AreTiedToTheUidAndReadBackEqual) {
  model::MirrorPool mirror;
  mirror.uid = "pool-uid";
  mirror.resources.cpu_millis = 4000;
  mirror.resources.set_amount("nodes", 2);
  mirror.nodes = 2;
  mirror.node_class_observed_generation = 7;
  mirror.conditions = {{"Ready", model::ConditionStatus::kFalse, "UnhealthyDependents", "why",
                        1'700'000'000'000, 3}};
  mirror.hash = "6821555240594823858";
  mirror.hash_version = "v3";
  json object = json::parse(
      R"({"metadata":{"uid":"pool-uid","name":"p","creationTimestamp":"2023-11-14T22:13:20Z"}})");
  object.merge_patch(json::parse(pool_annotations_patch(mirror)));
  EXPECT_EQ(object["metadata"]["uid"], "pool-uid");
  const json patch = json::parse(pool_status_patch(mirror));
  EXPECT_EQ(patch[0], json::parse(R"({"op":"test","path":"/metadata/uid","value":"pool-uid"})"));
  Parser parser;
  const auto read = reduce_node_pool(*parser.parse(object.patch(patch).dump(), kObjectBytesMax));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->conditions, mirror.conditions);
  EXPECT_EQ(read->status_resources, mirror.resources);
  EXPECT_EQ(read->status_nodes, 2);
  EXPECT_EQ(read->node_class_observed_generation, 7);
  EXPECT_EQ(read->hash, mirror.hash);
  EXPECT_EQ(read->hash_version, "v3");
  EXPECT_EQ(read->creation_millis, 1'700'000'000'000);
}

TEST(PoolStatus, AnEmptyPoolShowsZeros) {
  const json patch = json::parse(pool_status_patch(model::MirrorPool{}));
  EXPECT_EQ(patch[1]["value"]["resources"],
            json::parse(R"({"cpu":"0","ephemeral-storage":"0","memory":"0","nodes":"0",)"
                        R"("pods":"0"})"));
}

TEST(ReduceNodeClass, SaysWhyItIsNotReady) {
  const struct {
    const char* name;
    const char* conditions;
    bool ready;
    model::Condition want;
  } cases[] = {
      {"none", "[]", true, {}},
      {"false",
       R"([{"type":"Ready","status":"False","reason":"NoSubnets","message":"none"}])",
       false,
       {"Ready", model::ConditionStatus::kFalse, "NoSubnets", "none"}},
      {"unknown",
       R"([{"type":"Ready","status":"Unknown","observedGeneration":4}])",
       false,
       {"Ready", model::ConditionStatus::kUnknown, "", "", 0, 4}},
      {"true",
       R"([{"type":"Other","status":"False"},{"type":"Ready","status":"True"}])",
       true,
       {"Ready", model::ConditionStatus::kTrue}},
  };
  for (const auto& c : cases) {
    Parser parser;
    const std::string text = R"({"metadata":{"uid":"u","name":"n"},"status":{"conditions":)" +
                             std::string(c.conditions) + "}}";
    const auto read = reduce_node_class(*parser.parse(text, kObjectBytesMax), "g", "K");
    ASSERT_TRUE(read) << c.name;
    EXPECT_EQ(read->ready, c.ready) << c.name;
    EXPECT_EQ(read->ready_condition, c.want) << c.name;
  }
}

}  // namespace
}  // namespace karst::objects
