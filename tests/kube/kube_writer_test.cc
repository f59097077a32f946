// Every command at the API server's hands, by script: which requests go out, and what each answer
// means.
#include "kube/kube_writer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/kube/writer_play.h"

namespace karst::kube {
namespace {

using nlohmann::json;
using namespace testing_kube;

std::string node_body(const std::string& uid, const std::string& rest = "") {
  return R"({"metadata":{"name":"n","uid":")" + uid +
         R"(","resourceVersion":"7"},"spec":{"taints":[{"key":"a","effect":"NoExecute"}]})" + rest +
         "}";
}
const Reply kNode{200, node_body("nu"), Failure::kNone};
const Reply kNoLine{0, "", Failure::kNotSent};

model::CreateNodeClaim create() {
  model::CreateNodeClaim spec;
  spec.claim.name = model::ClaimName("web-abcde");
  spec.claim.pool = model::PoolName("web");
  return spec;
}
const std::string kOursBody = R"({"metadata":{"uid":"cu","annotations":{"karst.sh/command-id":")" +
                              model::to_string(kId) + "\"}}}";
const std::string kBudgetBody =
    R"({"message":"Cannot evict","details":{"causes":[{"reason":"DisruptionBudget"}]}})";

const std::string kSeveralBudgets =
    R"({"message":"This pod has more than one PodDisruptionBudget, which the eviction subresource )"
    R"(does not support."})";

const model::DeleteObject kDelete{{model::ObjectKind::kNodeClaim, "", "web-abcde", "cu"}};
const model::TaintNode kTaint{model::NodeName("n"),
                              model::NodeUid("nu"),
                              {"karpenter.sh/disrupted", "", model::TaintEffect::kNoSchedule},
                              true};
const model::EvictPod kEvict{model::PodUid("pu"), "ns", "p", model::NodeName("n"), false, -1};
const model::EvictPod kForce{model::PodUid("pu"), "ns", "p", model::NodeName("n"), true, 5};
const model::SetFinalizer kFinalizer{{model::ObjectKind::kNode, "", "n", "nu"}, false};
const model::SyncNodeClass kKept{{"karpenter.k8s.aws", "EC2NodeClass", "c"}, "cu", true, false};
const model::SyncNodeClass kFreed{{"karpenter.k8s.aws", "EC2NodeClass", "c"}, "cu", false, true};
const model::SyncNodeClass kForeign{{"g", "K", "c"}, "cu", true, false};
const char* const kKeptBody =
    R"({"metadata":{"uid":"cu","finalizers":["x","karpenter.k8s.aws/termination"]}})";
const model::ReadBackNode kReadBack{model::NodeName("n"), model::NodeUid("nu")};
std::vector<Case> cases() {
  const std::string claims = "/apis/karpenter.sh/v1/nodeclaims";
  const std::string claim = claims + "/web-abcde";
  const std::string node = "/api/v1/nodes/n";
  const std::string node_class = "/apis/karpenter.k8s.aws/v1/ec2nodeclasses/c";
  const std::string pod = "/api/v1/namespaces/ns/pods/p";
  const std::string evict = "POST " + pod + "/eviction";
  const std::string node_pods = "/api/v1/pods?fieldSelector=spec.nodeName%3Dn";
  const auto done = OutcomeKind::kDone, refused = OutcomeKind::kRefused;
  const auto unclear = OutcomeKind::kUnclear;
  const auto none = RefusalCode::kNone;
  return {
      {"create", create(), {{201, kOursBody}}, {"POST " + claims}, done, none},
      {"create again: ours",
       create(),
       {{409}, {200, kOursBody}},
       {"POST " + claims, "GET " + claim},
       done,
       none},
      {"create: somebody else's",
       create(),
       {{409}, {200, R"({"metadata":{"uid":"x"}})"}},
       {"POST " + claims, "GET " + claim},
       refused,
       RefusalCode::kConflict},
      {"create: gone in between",
       create(),
       {{409}, kGone},
       {"POST " + claims, "GET " + claim},
       refused,
       RefusalCode::kGone},
      {"create: invalid", create(), {{422}}, {"POST " + claims}, refused, RefusalCode::kInvalid},
      {"create: forbidden", create(), {{403}}, {"POST " + claims}, refused, RefusalCode::kDenied},
      {"create: throttled",
       create(),
       {{429}},
       {"POST " + claims},
       refused,
       RefusalCode::kThrottled},
      {"create: cut", create(), {kCut}, {"POST " + claims}, unclear, none},
      {"create: no connection",
       create(),
       {kNoLine},
       {"POST " + claims},
       refused,
       RefusalCode::kRetry},
      {"create: 500", create(), {{500}}, {"POST " + claims}, unclear, none},
      {"delete", kDelete, {{200}}, {"DELETE " + claim}, done, none},
      {"delete what is gone", kDelete, {kGone}, {"DELETE " + claim}, done, RefusalCode::kGone},
      {"delete another's name", kDelete, {{409}}, {"DELETE " + claim}, done, RefusalCode::kGone},
      {"delete: cut", kDelete, {kCut}, {"DELETE " + claim}, unclear, none},
      {"taint", kTaint, {kNode, {200}}, {"GET " + node, "PATCH " + node}, done, none},
      {"taint: changed meanwhile",
       kTaint,
       {kNode, {422}},
       {"GET " + node, "PATCH " + node},
       refused,
       RefusalCode::kConflict},
      {"taint: conflict",
       kTaint,
       {kNode, {409}},
       {"GET " + node, "PATCH " + node},
       refused,
       RefusalCode::kConflict},
      {"taint: node gone", kTaint, {kGone}, {"GET " + node}, refused, RefusalCode::kGone},
      {"taint: another node",
       kTaint,
       {{200, node_body("other")}},
       {"GET " + node},
       refused,
       RefusalCode::kGone},
      {"taint: read cut", kTaint, {kCut}, {"GET " + node}, refused, RefusalCode::kRetry},
      {"taint: patch cut", kTaint, {kNode, kCut}, {"GET " + node, "PATCH " + node}, unclear, none},
      {"evict", kEvict, {{201}}, {evict}, done, none},
      {"evict: gone", kEvict, {kGone}, {evict}, done, none},
      {"evict: another pod", kEvict, {{409}}, {evict}, done, none},
      {"evict: budget", kEvict, {{429, kBudgetBody}}, {evict}, refused, RefusalCode::kBlocked},
      {"evict: server busy", kEvict, {{429}}, {evict}, refused, RefusalCode::kThrottled},
      {"evict: two budgets", kEvict, {{500}}, {evict}, refused, RefusalCode::kRetry},
      {"evict: two budgets, as the API server says it",
       kEvict,
       {{500, kSeveralBudgets}},
       {evict},
       refused,
       RefusalCode::kBlocked},
      {"evict: cut", kEvict, {kCut}, {evict}, unclear, none},
      {"force", kForce, {{200}}, {"DELETE " + pod}, done, none},
      {"force: 500", kForce, {{500}}, {"DELETE " + pod}, unclear, none},
      {"finalizer: none there", kFinalizer, {kNode}, {"GET " + node}, done, none},
      {"finalizer: gone", kFinalizer, {kGone}, {"GET " + node}, done, none},
      {"finalizer: another node",
       kFinalizer,
       {{200, node_body("other")}},
       {"GET " + node},
       done,
       none},
      {"finalizer: removed",
       kFinalizer,
       {{200, R"({"metadata":{"uid":"nu","finalizers":["x","karpenter.sh/termination"]}})"}, {200}},
       {"GET " + node, "PATCH " + node},
       done,
       none},
      {"finalizer: went with the patch",
       kFinalizer,
       {{200, R"({"metadata":{"uid":"nu","finalizers":["karpenter.sh/termination"]}})"}, kGone},
       {"GET " + node, "PATCH " + node},
       done,
       none},
      {"class kept",
       kKept,
       {{200, R"({"metadata":{"uid":"cu"}})"}, {200}},
       {"GET " + node_class, "PATCH " + node_class},
       done,
       none},
      {"class kept already", kKept, {{200, kKeptBody}}, {"GET " + node_class}, done, none},
      {"class kept: gone", kKept, {kGone}, {"GET " + node_class}, refused, RefusalCode::kGone},
      {"class kept: another's name",
       kKept,
       {{200, R"({"metadata":{"uid":"x"}})"}},
       {"GET " + node_class},
       refused,
       RefusalCode::kGone},
      {"class freed",
       kFreed,
       {{200, kKeptBody}, {200}},
       {"GET " + node_class, "PATCH " + node_class},
       done,
       none},
      {"class freed: changed meanwhile",
       kFreed,
       {{200, kKeptBody}, {422}},
       {"GET " + node_class, "PATCH " + node_class},
       refused,
       RefusalCode::kConflict},
      {"class freed: went with the patch",
       kFreed,
       {{200, kKeptBody}, kGone},
       {"GET " + node_class, "PATCH " + node_class},
       done,
       none},
      {"class freed: gone", kFreed, {kGone}, {"GET " + node_class}, done, none},
      {"a class that is only read", kForeign, {}, {}, refused, RefusalCode::kInvalid},
      {"read back",
       kReadBack,
       {kNode, {200, R"({"metadata":{},"items":[]})"}},
       {"GET " + node, "GET " + node_pods},
       done,
       none},
      {"read back: node gone",
       kReadBack,
       {kGone, {200, R"({"metadata":{},"items":[]})"}},
       {"GET " + node, "GET " + node_pods},
       done,
       none},
      {"read back: no list",
       kReadBack,
       {kNode, {200, "{}"}},
       {"GET " + node, "GET " + node_pods},
       refused,
       RefusalCode::kRetry},
      {"read back: half a list",
       kReadBack,
       {kNode, {200, R"({"metadata":{"continue":"x"},"items":[]})"}},
       {"GET " + node, "GET " + node_pods},
       refused,
       RefusalCode::kRetry},
      {"read back: cut",
       kReadBack,
       {kNode, kCut},
       {"GET " + node, "GET " + node_pods},
       refused,
       RefusalCode::kRetry},
  };
}

TEST(KubeWriter, EveryCommandEndsInOneOutcome) {
  play_all(cases());
}

TEST(KubeWriter, CreateCarriesTheCommandAndReturnsTheUid) {
  const Played got = play(create(), {{201, kOursBody}});
  const json body = json::parse(got.requests[0].body);
  EXPECT_EQ(body["metadata"]["annotations"]["karst.sh/command-id"], model::to_string(kId));
  EXPECT_EQ(got.outcomes[0].object_uid, "cu");
}

TEST(KubeWriter, DeletesAndEvictionsNameTheUid) {
  EXPECT_EQ(json::parse(play(kDelete, {{200}}).requests[0].body)["preconditions"]["uid"], "cu");
  const json eviction = json::parse(play(kEvict, {{201}}).requests[0].body);
  EXPECT_EQ(eviction["apiVersion"], "policy/v1");
  EXPECT_EQ(eviction["deleteOptions"]["preconditions"]["uid"], "pu");
  EXPECT_FALSE(eviction["deleteOptions"].contains("gracePeriodSeconds"));
  const json force = json::parse(play(kForce, {{200}}).requests[0].body);
  EXPECT_EQ(force["preconditions"]["uid"], "pu");
  EXPECT_EQ(force["gracePeriodSeconds"], 5);
}

TEST(KubeWriter, SyncsANodeInOnePatchAndNotTwice) {
  model::SyncNode sync;
  sync.node = model::NodeName("n");
  sync.uid = model::NodeUid("nu");
  sync.labels = {{"karpenter.sh/registered", "true"}, {"kept", "1"}};
  sync.remove_taints = {{"a", "", model::TaintEffect::kNoExecute}};
  sync.add_taints = {{"b", "v", model::TaintEffect::kNoSchedule}};
  sync.add_finalizer = true;
  sync.owner = model::ClaimName("web-abcde");
  sync.owner_uid = model::ClaimUid("cu");
  const std::string before =
      R"({"metadata":{"uid":"nu","labels":{"kept":"1"}},"spec":{"taints":[{"key":"a","effect":
           "NoExecute","timeAdded":"x"}]}})";
  const Played got = play(sync, {{200, before}, {200}});
  ASSERT_EQ(got.requests.size(), 2u);
  EXPECT_NE(std::find(got.requests[1].headers.begin(), got.requests[1].headers.end(),
                      "Content-Type: application/json-patch+json"),
            got.requests[1].headers.end());
  json changes = json::array();  // without the tests: that an absent list is "null" is the API
                                 // server's own reading
  for (const json& operation : json::parse(got.requests[1].body))
    if (operation["op"] != "test") changes.push_back(operation);
  const json node = json::parse(before).patch(changes);
  EXPECT_EQ(node["metadata"]["labels"]["karpenter.sh/registered"], "true");
  EXPECT_EQ(node["metadata"]["finalizers"], json::array({"karpenter.sh/termination"}));
  EXPECT_EQ(node["metadata"]["ownerReferences"][0]["uid"], "cu");
  EXPECT_EQ(node["spec"]["taints"],
            json::parse(R"([{"key":"b","effect":"NoSchedule","value":"v"}])"));
  const Played again = play(sync, {{200, node.dump()}});
  EXPECT_EQ(again.requests.size(), 1u) << "already so: nothing is sent";
  EXPECT_EQ(again.outcomes[0].kind, OutcomeKind::kDone);
}

// A replica that was stopped between the read and the write may lead again when the answer arrives:
// the command is of its former epoch.
TEST(KubeWriter, AWriteLeavesOnlyInTheEpochInWhichItsCommandWasIssued) {
  for (const model::CommandSpec& spec : {model::CommandSpec(kTaint), model::CommandSpec(kEvict)}) {
    FakeTransport transport;
    FakeSink sink;
    FakeClock clock;
    Client client(transport, ServerAccess{"https://s", {}, "t", ""}, "karst/test");
    int epoch = 2;
    client.guard_writes([] { return [] { return true; }; });  // of any moment
    KubeWriter writer(client, sink, clock);
    writer.submit({kId, 1, spec, [&epoch] { return epoch == 2; }});
    const bool reads_first = std::holds_alternative<model::TaintNode>(spec);
    if (reads_first) {
      epoch = 4;
      EXPECT_FALSE(transport.open.front().request.may_leave) << "a read";
      transport.answer(200, node_body("nu"));
    }
    ASSERT_EQ(transport.open.size(), 1u);
    ASSERT_TRUE(transport.open.front().request.may_leave);
    EXPECT_EQ(transport.open.front().request.may_leave(), !reads_first);
    transport.fail(Failure::kNotSent);
  }
}

TEST(KubeWriter, ReadsBackWhatMustLeave) {
  const std::string pods = R"({"metadata":{"resourceVersion":"9"},"items":[
    {"metadata":{"uid":"1","name":"plain"},"status":{"phase":"Running"}},
    {"metadata":{"uid":"2","name":"finished"},"status":{"phase":"Succeeded"}},
    {"metadata":{"uid":"3","name":"mirror","annotations":{"kubernetes.io/config.mirror":"x"}},
           "status":{"phase":"Running"}},
    {"metadata":{"uid":"4","name":"tolerant"},"spec":{"tolerations":[{"operator":"Exists"}]},
           "status":{"phase":"Running"}},
    {"metadata":{"uid":"5","name":"agent","ownerReferences":[{"kind":"DaemonSet","name":"d",
           "controller":true}]},"status":{"phase":"Running"}},
    {"metadata":{"uid":"6","name":"dear","annotations":{"karpenter.sh/do-not-disrupt":"true"}},
           "status":{"phase":"Running"}}]})";
  const std::string node =
      R"({"metadata":{"name":"n","uid":"nu"},"spec":{"taints":[{"key":"karpenter.sh/disrupted",
           "effect":"NoSchedule"}]}})";
  const Played got = play(kReadBack, {{200, node}, {200, pods}});
  ASSERT_EQ(got.outcomes.size(), 1u);
  ASSERT_TRUE(got.outcomes[0].read_back);
  EXPECT_TRUE(got.outcomes[0].read_back->exists);
  EXPECT_TRUE(got.outcomes[0].read_back->tainted);
  std::string seen;
  for (const model::ReadBackPod& pod : got.outcomes[0].read_back->pods)
    seen += pod.name + (pod.drainable ? " leaves" : "") + (pod.daemon ? " daemon" : "") +
            (pod.do_not_disrupt ? " dear" : "") + ";";
  EXPECT_EQ(seen, "plain leaves;finished;mirror;tolerant;agent leaves daemon;dear leaves dear;");
  const Played gone = play(kReadBack, {kGone, {200, R"({"items":[]})"}});
  EXPECT_FALSE(gone.outcomes[0].read_back->exists);
  const Played unreadable =
      play(kReadBack, {{200, node}, {200, R"({"items":[{"metadata":{"name":5}}]})"}});
  EXPECT_EQ(unreadable.outcomes[0].kind, OutcomeKind::kRefused)
      << "a pod that cannot be read is not no pod";
}

}  // namespace
}  // namespace karst::kube
