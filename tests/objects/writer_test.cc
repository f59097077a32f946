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
  EXPECT_EQ(object["spec"]["terminationGracePeriod"], "1m30s");
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

// As Karpenter: what the pool says of expireAfter is repeated letter by letter, and a
// terminationGracePeriod is printed anew.
TEST(NodeClaimJson, DurationsAreAsKarpenterWritesThem) {
  struct Case {
    const char* name;
    std::string given;
    std::int64_t millis;
    const char* expire_after;
    const char* grace;
  };
  constexpr std::int64_t kHour = base::kMillisPerHour;
  const Case cases[] = {
      {"hours and minutes", "12h30m", 25 * kHour / 2, "12h30m", "12h30m0s"},
      {"minutes alone", "750m", 25 * kHour / 2, "750m", "12h30m0s"},
      {"not kept", "", 720 * kHour, "720h0m0s", "720h0m0s"},
      {"seconds", "45s", 45'000, "45s", "45s"},
      {"minutes", "0h5m", 300'000, "0h5m", "5m0s"},
  };
  for (const Case& test : cases) {
    model::NodeClaim wanted = claim();
    wanted.expire_after_millis = wanted.termination_grace_millis = test.millis;
    wanted.expire_after = test.given;
    const json spec = json::parse(node_claim_json(wanted))["spec"];
    EXPECT_EQ(spec["expireAfter"], test.expire_after) << test.name;
    EXPECT_EQ(spec["terminationGracePeriod"], test.grace) << test.name;
  }
}

TEST(ClaimPatches, ReadBackEqual) {
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
  const json claim =
      json::parse(R"({"metadata":{"uid":"claim-uid","name":"n","resourceVersion":"7"}})");
  const json status = claim.patch(json::parse(claim_status_patch(claim, mirror)));
  EXPECT_FALSE(status["status"].contains("nodeName"));
  EXPECT_EQ(status["status"]["conditions"][0]["lastTransitionTime"], "2023-11-14T22:13:20Z");
  Parser parser;
  const auto read = reduce_node_claim(*parser.parse(status.dump(), kObjectBytesMax));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->conditions, mirror.conditions);
  EXPECT_EQ(read->capacity, mirror.capacity);
}

TEST(PoolPatches, ReadBackEqual) {
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
  json object = json::parse(R"({"metadata":{"uid":"pool-uid","name":"p","resourceVersion":"7",)"
                            R"("creationTimestamp":"2023-11-14T22:13:20Z"}})");
  object.merge_patch(json::parse(pool_annotations_patch(mirror)));
  EXPECT_EQ(object["metadata"]["uid"], "pool-uid");
  const json patch = json::parse(pool_status_patch(object, mirror));
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

// A claim that Karpenter has looked after, and another controller, too.
const char* const kAdopted = R"({"metadata":{"uid":"u","name":"n","resourceVersion":"7"},"status":{
  "providerID":"kwok://old","imageID":"ami-1","capacity":{"cpu":"2","example.com/gone":"1"},
  "lastPodEventTime":"2026-01-01T00:00:00Z","conditions":[
  {"type":"Launched","status":"True","reason":"Launched","message":"",
   "lastTransitionTime":"2023-11-14T22:13:20Z"},
  {"type":"DisruptionReason","status":"True","reason":"Drifted","message":"",
   "lastTransitionTime":"2023-11-14T22:13:30Z"},
  {"type":"example.com/Audited","status":"True","severity":"Info",
   "lastTransitionTime":"2023-11-14T22:13:25Z"},
  {"type":"Ready","status":"False","reason":"Why","message":"",
   "lastTransitionTime":"2023-11-14T22:13:20Z"}]}})";

TEST(StatusPatches, ChangeNothingOfOthers) {
  const json claim = json::parse(kAdopted);
  model::MirrorClaim mirror;
  mirror.provider_id = model::ProviderId("kwok://new");
  mirror.capacity.cpu_millis = 4000;
  mirror.conditions = {{"Ready", model::ConditionStatus::kTrue, "Ready", "", 1'700'000'001'000, 1}};
  mirror.cleared = {"DisruptionReason", "NeverThere"};
  const json after = claim.patch(json::parse(claim_status_patch(claim, mirror)));
  json wanted = claim;
  wanted["status"]["providerID"] = "kwok://new";
  wanted["status"]["capacity"] = {{"cpu", "4"}};
  const json ready = {{"type", "Ready"},
                      {"status", "True"},
                      {"reason", "Ready"},
                      {"message", ""},
                      {"lastTransitionTime", "2023-11-14T22:13:21Z"},
                      {"observedGeneration", 1}};
  const json& known = claim["status"]["conditions"];
  wanted["status"]["conditions"] = json::array({known[0], known[2], ready});
  EXPECT_EQ(after, wanted) << after.dump(2);
}

TEST(StatusPatches, AreRefusedWhenTheObjectHasChanged) {
  const json read = json::parse(kAdopted);
  json now = read;
  now["metadata"]["resourceVersion"] = "8";
  const std::string patches[] = {claim_status_patch(read, {}), pool_status_patch(read, {}),
                                 status_patch(read, model::MirrorStatus{})};
  for (const std::string& text : patches) {
    EXPECT_NO_THROW((void)read.patch(json::parse(text))) << text;
    EXPECT_THROW((void)now.patch(json::parse(text)), json::exception) << text;
  }
}

TEST(StatusPatches, AFieldThatIsNullGoes) {
  const json object =
      json::parse(R"({"metadata":{"resourceVersion":"7"},"status":{"replicas":2,"theirs":1}})");
  model::MirrorStatus mirror;
  mirror.fields_json = R"({"replicas":null,"podTemplateRef":null,"strategy":"s"})";
  const json after = object.patch(json::parse(status_patch(object, mirror)));
  EXPECT_EQ(after["status"], json::parse(R"({"theirs":1,"strategy":"s","conditions":[]})"));
  json pool = json::parse(
      R"({"metadata":{"resourceVersion":"7"},"status":{"nodeClassObservedGeneration":3}})");
  pool = pool.patch(json::parse(pool_status_patch(pool, {})));
  EXPECT_FALSE(pool["status"].contains("nodeClassObservedGeneration")) << "its class is gone";
}

TEST(PoolStatus, AnEmptyPoolShowsZeros) {
  const json pool = json::parse(R"({"metadata":{"resourceVersion":"7"}})");
  const json after = pool.patch(json::parse(pool_status_patch(pool, {})));
  EXPECT_EQ(after["status"]["resources"],
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
