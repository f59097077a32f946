// Reducers on objects as a real API server (1.34) printed them, and on what no server should send.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "base/time.h"
#include "model/pool_hash.h"
#include "objects/cluster.h"
#include "objects/pod.h"

namespace karst::objects {
namespace {

using model::Operator;
using model::RequirementSpec;

std::string data(const std::string& name) {
  std::ifstream file(std::string(KARST_SOURCE_DIR) + "/tests/objects/data/" + name);
  EXPECT_TRUE(file) << name;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

template <class Reduce>
auto reduce_text(const std::string& text, Reduce reduce) {
  Parser parser;
  const auto parsed = parser.parse(text, kObjectBytesMax);
  EXPECT_TRUE(parsed) << text.substr(0, 200);
  return reduce(*parsed);
}

TEST(ReducePod, ReadsWhatTheSolverNeedsFromARealPod) {
  const auto reduced = reduce_text(data("pod_full.json"), reduce_pod);
  ASSERT_TRUE(reduced) << reduced.error().message;
  const model::PodShape& shape = reduced->shape;
  EXPECT_EQ(shape.requests.cpu_millis, 3000);  // the first init container
  EXPECT_EQ(shape.requests.memory_bytes, (std::int64_t{2048} + 32)
                                             << 20);  // the last one beside the sidecar
  EXPECT_EQ(shape.requests.ephemeral_bytes, std::int64_t{1} << 30);
  EXPECT_EQ(shape.requests.pods, 1);
  EXPECT_EQ(shape.requests.amount("example.com/gpu"), 1);
  EXPECT_EQ(shape.node_selector, (model::Labels{{"team", "web"}}));
  ASSERT_EQ(shape.required_terms.size(), 2u);
  EXPECT_EQ(shape.required_terms[0].expressions,
            (std::vector<RequirementSpec>{
                {"gpu", Operator::kDoesNotExist, {}, 0},
                {"topology.kubernetes.io/zone", Operator::kIn, {"zone-a", "zone-b"}, 0}}));
  EXPECT_TRUE(shape.required_terms[1].has_match_fields);
  ASSERT_EQ(shape.preferred_terms.size(), 1u);
  EXPECT_EQ(shape.preferred_terms[0].weight, 7);
  ASSERT_EQ(shape.affinity.size(), 2u);
  EXPECT_TRUE(shape.affinity[0].anti);
  EXPECT_EQ(shape.affinity[0].namespaces, std::vector<std::string>{"default"});
  EXPECT_EQ(shape.affinity[1].preferred_weight, 3);
  ASSERT_TRUE(shape.affinity[1].namespace_selector);
  EXPECT_FALSE(shape.affinity[1].namespace_selector->matches_nothing);
  ASSERT_EQ(shape.spread.size(), 1u);
  EXPECT_EQ(shape.spread[0].max_skew, 2);
  EXPECT_TRUE(shape.spread[0].schedule_anyway);
  EXPECT_TRUE(shape.spread[0].honor_node_taints);
  EXPECT_EQ(shape.host_ports, (std::vector<model::HostPort>{{"", 8080, "TCP"}}));
  EXPECT_EQ(shape.volume_claims, (std::vector<std::string>{"data", "full-scratch"}));
  EXPECT_EQ(shape.grace_seconds, 45);
  EXPECT_EQ(shape.deletion_cost, -5);
  EXPECT_EQ(shape.do_not_disrupt, model::DoNotDisrupt::kForDuration);
  EXPECT_EQ(shape.do_not_disrupt_millis, 90 * base::kMillisPerMinute);
  EXPECT_TRUE(shape.gated);
  EXPECT_EQ(shape.owner_kind, model::OwnerKind::kNone);
  EXPECT_TRUE(std::any_of(shape.tolerations.begin(), shape.tolerations.end(), [](const auto& t) {
    return t.key == "dedicated" && t.value == "batch" && !t.exists;
  }));
  EXPECT_EQ(reduced->pod.labels, (model::Labels{{"app", "full"}, {"tier", "front"}}));
  EXPECT_EQ(reduced->pod.phase, model::PodPhase::kPending);
  EXPECT_FALSE(reduced->pod.unschedulable);  // gated is not unschedulable
  EXPECT_EQ(reduced->pod.shape, model::hash_of(shape));
  EXPECT_FALSE(reduced->mirror);
}

TEST(ReducePod, RequestsFollowKubernetesRule) {
  struct Case {
    const char* name;
    const char* spec;
    std::int64_t cpu_millis;
  };
  const Case cases[] = {
      {"containers add up",
       R"({"containers":[{"resources":{"requests":{"cpu":"1"}}},{"resources":{"requests":{"cpu":
           "500m"}}}]})",
       1500},
      {"a fraction rounds up", R"({"containers":[{"resources":{"requests":{"cpu":"100u"}}}]})", 1},
      {"a number is a quantity", R"({"containers":[{"resources":{"requests":{"cpu":2}}}]})", 2000},
      {"a limit stands in", R"({"containers":[{"resources":{"limits":{"cpu":"2"}}}]})", 2000},
      {"a request goes before its limit",
       R"({"containers":[{"resources":{"requests":{"cpu":"1"},"limits":{"cpu":"2"}}}]})", 1000},
      {"the larger of start and run",
       R"({"initContainers":[{"resources":{"requests":{"cpu":"3"}}}],"containers":[{"resources":{
           "requests":{"cpu":"1"}}}]})",
       3000},
      {"a sidecar runs on",
       R"({"initContainers":[{"restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}}],
           "containers":[{"resources":{"requests":{"cpu":"1"}}}]})",
       2000},
      {"a sidecar beside a later init container",
       R"({"initContainers":[{"restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}},{
           "resources":{"requests":{"cpu":"5"}}}],"containers":[{}]})",
       6000},
      {"an init container before the sidecar is alone",
       R"({"initContainers":[{"resources":{"requests":{"cpu":"5"}}},{"restartPolicy":"Always",
           "resources":{"requests":{"cpu":"1"}}}],"containers":[{}]})",
       5000},
      {"overhead is added",
       R"({"overhead":{"cpu":"250m"},"containers":[{"resources":{"requests":{"cpu":"1"}}}]})",
       1250},
      {"the whole pod's amount",
       R"({"resources":{"requests":{"cpu":"4"}},"containers":[{"resources":{"requests":{"cpu":
           "1"}}}]})",
       4000},
      {"the whole pod's limit",
       R"({"resources":{"limits":{"cpu":"4"},"requests":{"memory":"1Gi"}},"containers":[{}]})",
       4000},
      {"containers before the whole pod's limit",
       R"({"resources":{"limits":{"cpu":"4"}},"containers":[{"resources":{"requests":{"cpu":
           "1"}}}]})",
       1000},
      {"the whole pod's request before its limit",
       R"({"resources":{"limits":{"cpu":"4"},"requests":{"cpu":"2"}},"containers":[{}]})", 2000},
  };
  for (const Case& test : cases) {
    const auto reduced = reduce_text(
        R"({"metadata":{"uid":"u","name":"n"},"spec":)" + std::string(test.spec) + "}", reduce_pod);
    ASSERT_TRUE(reduced) << test.name << ": " << reduced.error().message;
    EXPECT_EQ(reduced->shape.requests.cpu_millis, test.cpu_millis) << test.name;
    EXPECT_EQ(reduced->shape.requests.pods, 1) << test.name;
  }
}

TEST(ReducePod, SaysWhichFieldIsWrong) {
  struct Case {
    const char* object;
    const char* message;
  };
  const Case cases[] = {
      {R"([])", "object: expected an object, found an array"},
      {R"({"metadata":{"name":"n"}})", "object: metadata.uid or metadata.name is missing"},
      {R"({"metadata":{"uid":"u","name":5}})", "metadata.name: expected a string, found a number"},
      {R"({"metadata":{"uid":"u","name":"n","labels":{"a":1}}})",
       "metadata.labels.a: expected a string, found a number"},
      {R"({"metadata":{"uid":"u","name":"n","creationTimestamp":"soon"}})",
       "metadata.creationTimestamp: expected a time as RFC 3339, found \"soon\""},
      {R"({"metadata":{"uid":"u","name":"n"},"spec":{"containers":[{},{"resources":{"requests":{
           "cpu":"-1"}}}]}})",
       "spec.containers[1].resources.requests.cpu: "},
      {R"({"metadata":{"uid":"u","name":"n"},"spec":{"containers":[{"resources":{"requests":{
           "cpu":"-1"}}}]},"status":{"phase":"Pending"}})",
       "spec.containers[0].resources.requests.cpu: "},
      {R"({"metadata":{"uid":"u","name":"n"},"spec":{"containers":[{}]},"status":{
           "containerStatuses":[{"name":"c","resources":{"requests":{"cpu":"-1"}}}]}})",
       "status.containerStatuses[0].resources.requests.cpu: "},
      {R"({"metadata":{"uid":"u","name":"n"},"spec":{"containers":{}}})",
       "spec.containers: expected an array, found an object"},
      {R"({"metadata":{"uid":"u","name":"n"},"spec":{"priority":5000000000}})",
       "spec.priority: expected a whole number of 32 bits"},
      {R"({"metadata":{"uid":"u","name":"n"},"spec":{"tolerations":[{"effect":"Never"}]}})",
       "spec.tolerations[0].effect: \"Never\" is not known: expected NoSchedule, PreferNoSchedule "
       "or "
       "NoExecute"},
      {R"({"metadata":{"uid":"u","name":"n"},"spec":{"affinity":{"nodeAffinity":{
           "requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{
           "matchExpressions":[{"key":"a","operator":"Near"}]}]}}}}})",
       "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
       "nodeSelectorTerms[0].matchExpressions[0].operator: \"Near\" is not known: expected In, "
       "NotIn, Exists, DoesNotExist, Gt, Lt, Gte or Lte"},
  };
  for (const Case& test : cases) {
    const auto reduced = reduce_text(test.object, reduce_pod);
    ASSERT_FALSE(reduced) << test.object;
    EXPECT_EQ(reduced.error().kind, base::Kind::kInvalid);
    EXPECT_EQ(reduced.error().message.substr(0, std::string(test.message).size()), test.message)
        << test.object;
  }
}

TEST(ReducePod, EqualDemandsInAnotherOrderAreOneShape) {
  const std::string head = R"({"metadata":{"uid":"u","name":"n"},"spec":{"containers":[{}],)";
  const auto a = reduce_text(
      head +
          R"("tolerations":[{"key":"a","operator":"Exists"},{"key":"b","operator":"Exists"}],
           "nodeSelector":{"x":"1","y":"2"}}})",
      reduce_pod);
  const auto b = reduce_text(
      head +
          R"("nodeSelector":{"y":"2","x":"1"},"tolerations":[{"key":"b","operator":"Exists"},{
           "key":"a","operator":"Exists"}]}})",
      reduce_pod);
  const auto c = reduce_text(
      head +
          R"("nodeSelector":{"y":"2","x":"3"},"tolerations":[{"key":"b","operator":"Exists"},{
           "key":"a","operator":"Exists"}]}})",
      reduce_pod);
  ASSERT_TRUE(a && b && c);
  EXPECT_EQ(a->pod.shape, b->pod.shape);
  EXPECT_NE(a->pod.shape, c->pod.shape);
}

TEST(ReducePod, KnowsWhoseSchedulerItsIs) {
  const struct {
    const char* field;
    bool other;
  } cases[] = {{"", false},
               {R"("schedulerName": "default-scheduler",)", false},
               {R"("schedulerName": "yunikorn",)", true}};
  for (const auto& one : cases) {
    const auto reduced =
        reduce_text(R"({"metadata": {"name": "p", "namespace": "d", "uid": "u"}, "spec": {)" +
                        std::string(one.field) + R"("containers": [{"name": "c"}]}})",
                    reduce_pod);
    ASSERT_TRUE(reduced) << reduced.error().message;
    EXPECT_EQ(reduced->shape.other_scheduler, one.other) << one.field;
  }
}

TEST(ReduceDaemonSet, TakesTheTemplateWithLimitsForRequests) {
  const auto reduced = reduce_text(data("daemon_set.json"), reduce_daemon_set);
  ASSERT_TRUE(reduced) << reduced.error().message;
  EXPECT_EQ(reduced->daemon_set.name, "agent");
  EXPECT_EQ(reduced->daemon_set.namespace_name, "kube-system");
  EXPECT_EQ(reduced->shape.requests.cpu_millis, 20);
  EXPECT_EQ(reduced->shape.requests.memory_bytes, 50 << 20);
  EXPECT_EQ(reduced->shape.owner_kind, model::OwnerKind::kDaemonSet);
  EXPECT_EQ(reduced->shape.priority_class, "system-node-critical");
  ASSERT_EQ(reduced->shape.tolerations.size(), 1u);
  EXPECT_TRUE(reduced->shape.tolerations[0].exists);
  EXPECT_EQ(reduced->daemon_set.shape, model::hash_of(reduced->shape));
}

TEST(ReduceNode, ReadsARealNode) {
  const auto node = reduce_text(data("node.json"), reduce_node);
  ASSERT_TRUE(node) << node.error().message;
  EXPECT_EQ(node->name.str(), "kwok-hand-1");
  EXPECT_EQ(node->provider_id.str(), "kwok://kwok-hand-1");
  EXPECT_TRUE(node->ready);
  EXPECT_TRUE(node->has_finalizer);
  EXPECT_EQ(node->allocatable.cpu_millis, 4000);
  EXPECT_EQ(node->allocatable.pods, 110);
  EXPECT_EQ(model::label_value(node->labels, "team"), "a");
  EXPECT_TRUE(node->annotations.empty()) << "foreign annotations are dropped";
  EXPECT_GT(node->creation_millis, 0);
}

TEST(ReduceNode, KeepsTheConditionsThatMayBeRepairedFor) {
  struct Case {
    const char* name;
    const char* conditions;
    std::vector<model::Condition> want;
  };
  const std::int64_t noon = base::parse_rfc3339("2026-11-21T12:00:00Z").value_or(0);
  const std::vector<Case> cases = {
      {"all is well",
       R"([{"type":"Ready","status":"True","lastTransitionTime":"2026-11-21T12:00:00Z"},
           {"type":"MemoryPressure","status":"True"},{"type":"KernelReady","status":"True"}])",
       {}},
      {"two are not, in the order of their names",
       R"([{"type":"StorageReady","status":"False","reason":"x","message":"y",
            "lastHeartbeatTime":"2026-11-21T13:00:00Z","lastTransitionTime":"2026-11-21T12:00:00Z"},
           {"type":"Ready","status":"Unknown","lastTransitionTime":"2026-11-21T12:00:00Z"}])",
       {{"Ready", model::ConditionStatus::kUnknown, "", "", noon, 0},
        {"StorageReady", model::ConditionStatus::kFalse, "", "", noon, 0}}},
      {"others are nobody's concern", R"([{"type":"DiskPressure","status":"Unknown"}])", {}},
  };
  for (const Case& row : cases) {
    const auto node =
        reduce_text(std::string(R"({"metadata":{"uid":"u","name":"n"},"status":{"conditions":)") +
                        row.conditions + "}}",
                    reduce_node);
    ASSERT_TRUE(node) << row.name;
    EXPECT_EQ(node->troubles, row.want) << row.name;
  }
}

TEST(ReduceNodePool, ReadsARealPool) {
  const auto pool = reduce_text(data("node_pool.json"), reduce_node_pool);
  ASSERT_TRUE(pool) << pool.error().message;
  EXPECT_EQ(pool->name.str(), "batch");
  EXPECT_EQ(pool->template_labels, (model::Labels{{"team", "batch"}}));
  EXPECT_EQ(pool->taints,
            (std::vector<model::Taint>{{"dedicated", "batch", model::TaintEffect::kNoSchedule}}));
  EXPECT_EQ(pool->node_class,
            (model::NodeClassRef{"karpenter.kwok.sh", "KWOKNodeClass", "default"}));
  EXPECT_EQ(pool->expire_after_millis, 720 * base::kMillisPerHour);
  EXPECT_EQ(pool->expire_after, "720h") << "as it is written";
  EXPECT_EQ(pool->consolidate_after_millis, 1000);
  EXPECT_EQ(pool->consolidation_policy, model::ConsolidationPolicy::kWhenEmpty);
  EXPECT_EQ(pool->limits, (std::vector<std::pair<std::string, std::int64_t>>{{"cpu", 200'000}}));
  ASSERT_EQ(pool->budgets.size(), 1u);
  EXPECT_EQ(pool->budgets[0].nodes, "100%");
  ASSERT_EQ(pool->requirements.size(), 3u);
  EXPECT_EQ(pool->requirements[2].values, (std::vector<std::string>{"spot", "on-demand"}))
      << "the manifest's order";
}

// Karpenter's drift hash counts a list that is there and empty.
TEST(ReduceNodePool, WhatIsThereAndEmptyCountsInTheHash) {
  struct Case {
    const char* name;
    const char* metadata;
    const char* spec;
  };
  const Case cases[] = {{"nothing", "", ""},
                        {"labels", R"("labels":{})", ""},
                        {"annotations", R"("annotations":{})", ""},
                        {"taints", "", R"(,"taints":[])"},
                        {"startup taints", "", R"(,"startupTaints":[])"}};
  std::set<std::string> hashes;
  for (const Case& test : cases) {
    const std::string text =
        std::string(R"({"metadata":{"uid":"u","name":"n"},"spec":{"template":{"metadata":{)") +
        test.metadata + R"(},"spec":{"nodeClassRef":{"group":"g","kind":"K","name":"n"})" +
        test.spec + "}}}}";
    const auto pool = reduce_text(text, reduce_node_pool);
    ASSERT_TRUE(pool) << test.name;
    EXPECT_TRUE(hashes.insert(model::pool_hash(*pool)).second) << test.name;
  }
  const auto full = reduce_text(
      R"({"metadata":{"uid":"u","name":"n"},
          "spec":{"template":{"metadata":{"labels":{"a":"b"}}}}})",
      reduce_node_pool);
  ASSERT_TRUE(full);
  model::NodePool plain = *full;
  plain.empty_fields = 0;
  EXPECT_EQ(model::pool_hash(plain), model::pool_hash(*full));
}

TEST(ReduceNodePool, FillsInWhatTheCrdWould) {
  const auto pool = reduce_text(
      R"({"metadata":{"uid":"u","name":"n"},"spec":{"disruption":{"consolidateAfter":"Never"},
      "template":{"spec":{"expireAfter":"Never"}},"limits":{"nodes":3,"memory":"1Ti"},
           "replicas":0}})",
      reduce_node_pool);
  ASSERT_TRUE(pool) << pool.error().message;
  EXPECT_EQ(pool->consolidate_after_millis, std::nullopt);
  EXPECT_EQ(pool->expire_after_millis, std::nullopt);
  EXPECT_EQ(pool->budgets, std::vector<model::Budget>{{}});
  EXPECT_EQ(pool->limits, (std::vector<std::pair<std::string, std::int64_t>>{
                              {"memory", std::int64_t{1} << 40}, {"nodes", 3}}));
  EXPECT_EQ(pool->replicas, 0);
  const auto bare = reduce_text(R"({"metadata":{"uid":"u","name":"n"}})", reduce_node_pool);
  ASSERT_TRUE(bare);
  EXPECT_EQ(bare->consolidate_after_millis, 0);
  const auto none =
      reduce_text(R"({"metadata":{"uid":"u","name":"n"},"spec":{"disruption":{"budgets":[]}}})",
                  reduce_node_pool);
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->budgets.empty()) << "given, and without a limit";
  const auto bad = reduce_text(
      R"({"metadata":{"uid":"u","name":"n"},"spec":{"disruption":{"consolidateAfter":"soon"}}})",
      reduce_node_pool);
  ASSERT_FALSE(bad);
  EXPECT_EQ(
      bad.error().message,
      "spec.disruption.consolidateAfter: expected a duration such as 30m or Never, found \"soon\"");
}

TEST(ReduceNodeClass, KeepsTheSpecAsCanonicalJson) {
  const auto real = reduce_text(data("node_class.json"), [](auto object) {
    return reduce_node_class(object, "karpenter.kwok.sh", "KWOKNodeClass");
  });
  ASSERT_TRUE(real) << real.error().message;
  EXPECT_EQ(real->ref.name, "default");
  EXPECT_TRUE(real->ready) << "without a status it is ready";
  EXPECT_FALSE(real->has_finalizer);
  for (const auto& [finalizer, ours] :
       {std::pair("g/termination", true), std::pair("karpenter.sh/termination", false)}) {
    const auto kept = reduce_text(
        std::string(R"({"metadata":{"uid":"u","name":"n","finalizers":[")") + finalizer + "\"]}}",
        [](auto object) { return reduce_node_class(object, "g", "K"); });
    ASSERT_TRUE(kept);
    EXPECT_EQ(kept->has_finalizer, ours) << finalizer;
  }
  const auto reduce = [](auto object) { return reduce_node_class(object, "g", "K"); };
  const auto a = reduce_text(
      R"({"metadata":{"uid":"u","name":"n"},"spec":{"b":[1,2.5,null,true],"a":{"z":"x\n\"y\"",
           "c":-1}}})",
      reduce);
  const auto b = reduce_text(
      R"({"spec":{"a":{"c":-1,"z":"x\n\"y\""},"b":[1,2.5,null,true]},"metadata":{"uid":"u",
           "name":"n"},
      "status":{"conditions":[{"type":"Ready","status":"False"}]}})",
      reduce);
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->spec_json, R"({"a":{"c":-1,"z":"x\u000a\"y\""},"b":[1,2.5,null,true]})");
  EXPECT_EQ(a->spec_json, b->spec_json);
  EXPECT_FALSE(b->ready);
}

}  // namespace
}  // namespace karst::objects
