// Every kind that the state keeps as it is, as an API server prints it.
#include "objects/named.h"

#include <gtest/gtest.h>

namespace karst::objects {
namespace {

using model::Operator;

base::Result<ReducedObject> reduce(std::string_view kind, const std::string& text,
                                   bool with_shapes = false) {
  Parser parser;
  const auto parsed = parser.parse(text, kObjectBytesMax);
  EXPECT_TRUE(parsed) << text;
  return reduce_named(kind, *parsed, with_shapes);
}

std::string in_shop(const std::string& rest) {
  return R"({"metadata":{"name":"a","namespace":"shop","uid":"u","generation":2},)" + rest + "}";
}

model::NamedObject buffer() {
  model::CapacityBuffer one;
  one.namespace_name = "shop";
  one.name = "a";
  one.uid = "u";
  one.generation = 2;
  one.scalable_kind = "Deployment";
  one.scalable_name = "web";
  one.percentage = 20;
  one.limits = {{"cpu", 2000}, {"memory", std::int64_t{1} << 30}};
  return one;
}
model::NamedObject overlay() {
  model::NodeOverlay one;
  one.name = "a";
  one.uid = "u";
  one.generation = 2;
  one.weight = 5;
  one.requirements = {{"zone", Operator::kIn, {"x"}, 0}};
  one.percent_micros = -10'500'000;
  one.capacity.set_amount("example.com/gpu", 2);
  return one;
}
model::NamedObject workload(std::int64_t replicas, std::string owner) {
  return model::Workload{"ReplicaSet", "shop",   "a", "u", owner.empty() ? "" : "Deployment",
                         owner,        replicas, {},  {}};
}

TEST(ReduceNamed, EveryKind) {
  const struct {
    const char* name;
    const char* kind;
    std::string input;
    model::NamedObject want;
  } cases[] = {
      {"claim", "PersistentVolumeClaim",
       in_shop(R"("spec":{"storageClassName":"fast","volumeName":"v","accessModes":[
           "ReadWriteOncePod"]},"status":{"phase":"Lost"})"),
       model::VolumeClaim{"shop", "a", "fast", "v", true, false, true}},
      {"claim of the default class", "PersistentVolumeClaim", in_shop(R"("spec":{})"),
       model::VolumeClaim{"shop", "a", std::nullopt, "", false, false}},
      {"volume", "PersistentVolume",
       R"({"metadata":{"name":"a","deletionTimestamp":"2026-01-01T00:00:00Z"},"spec":{
           "csi":{"driver":"d"},"storageClassName":"fast",
           "nodeAffinity":{"required":{"nodeSelectorTerms":[
           {"matchExpressions":[{"key":"zone","operator":"In","values":["y","x"]}]}]}}}})",
       model::PersistentVolume{
           "a", "d", "fast", false, true, {{{"zone", Operator::kIn, {"x", "y"}, 0}}}}},
      {"local volume", "PersistentVolume", R"({"metadata":{"name":"a"},"spec":{"local":{}}})",
       model::PersistentVolume{"a", "", "", true, false, {}}},
      {"class", "StorageClass",
       R"({"metadata":{"name":"a","annotations":{
           "storageclass.kubernetes.io/is-default-class":"true"}},
           "provisioner":"d","volumeBindingMode":"WaitForFirstConsumer",
           "allowedTopologies":[{"matchLabelExpressions":[{"key":"zone","values":["x"]}]}]})",
       model::StorageClass{"a", "d", false, true, {{{"zone", Operator::kIn, {"x"}, 0}}}}},
      {"limits", "CSINode",
       R"({"metadata":{"name":"n"},"spec":{"drivers":[{"name":"e","allocatable":{"count":3}},
           {"name":"d","allocatable":{"count":2}},{"name":"f"}]}})",
       model::CsiNode{"n", {{"d", 2}, {"e", 3}}}},
      {"attachment", "VolumeAttachment",
       R"({"metadata":{"name":"a"},"spec":{"nodeName":"n","source":{"persistentVolumeName":"v"}}})",
       model::VolumeAttachment{"a", "n", "v"}},
      {"namespace", "Namespace", R"({"metadata":{"name":"shop","labels":{"team":"blue"}}})",
       model::Namespace{"shop", {{"team", "blue"}}}},
      {"budget", "PodDisruptionBudget",
       in_shop(R"("spec":{"maxUnavailable":1,"selector":{"matchLabels":{"app":"web"}}},
                  "status":{"disruptionsAllowed":1})"),
       model::DisruptionBudget{
           "shop", "a", "u", {{{"app", Operator::kIn, {"web"}, 0}}, false}, 1, false, false}},
      {"budget that blocks", "PodDisruptionBudget",
       in_shop(
           R"("spec":{"maxUnavailable":0,"selector":{},
               "unhealthyPodEvictionPolicy":"AlwaysAllow"})"),
       model::DisruptionBudget{"shop", "a", "u", {{}, false}, 0, true, true}},
      {"budget of everything", "PodDisruptionBudget", in_shop(R"("spec":{"minAvailable":"100%"})"),
       model::DisruptionBudget{"shop", "a", "u", {{}, true}, 0, true, false}},
      {"overlay", "NodeOverlay",
       in_shop(R"("spec":{"weight":5,"priceAdjustment":"-10.5%","capacity":{"example.com/gpu":"2"},
                  "requirements":[{"key":"zone","operator":"In","values":["x"]}]})"),
       overlay()},
      {"buffer", "CapacityBuffer",
       in_shop(R"("spec":{"scalableRef":{"kind":"Deployment","name":"web"},"percentage":20,
                  "limits":{"memory":"1Gi","cpu":"2"}})"),
       buffer()},
      {"workload", "ReplicaSet", in_shop(R"("spec":{"replicas":3,"template":{}})"),
       workload(3, "")},
      {"workload without a count", "ReplicaSet", in_shop(R"("spec":{})"), workload(1, "")},
  };
  for (const auto& c : cases) {
    const auto got = reduce(c.kind, c.input);
    ASSERT_TRUE(got) << c.name << ": " << got.error().message;
    EXPECT_EQ(got->object, c.want) << c.name;
    EXPECT_FALSE(got->shape) << c.name;
    EXPECT_EQ(model::key_of(got->object).kind, c.kind) << c.name;
  }
}

TEST(ReduceNamed, PodsOfTemplatesAndOfWorkloadsWhereAskedFor) {
  const std::string pods = R"("template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[
      {"resources":{"requests":{"cpu":"2"}}}]}})";
  const auto from_template = reduce("PodTemplate", in_shop(pods));
  ASSERT_TRUE(from_template && from_template->shape);
  EXPECT_EQ(from_template->shape->requests.cpu_millis, 2000);
  EXPECT_EQ(model::shape_of(from_template->object), model::hash_of(*from_template->shape));
  EXPECT_EQ(std::get<model::PodTemplate>(from_template->object).labels,
            (model::Labels{{"app", "web"}}));
  const auto owned = reduce("StatefulSet", in_shop("\"spec\":{\"replicas\":2," + pods + "}"), true);
  ASSERT_TRUE(owned && owned->shape);
  EXPECT_EQ(owned->shape->owner_kind, model::OwnerKind::kStatefulSet);
  EXPECT_EQ(std::get<model::Workload>(owned->object).labels, (model::Labels{{"app", "web"}}));
  EXPECT_EQ(model::shape_of(owned->object), model::hash_of(*owned->shape));
}

TEST(ReduceNamed, WhatIsWrongIsNamed) {
  const struct {
    const char* kind;
    std::string input;
    const char* want;
  } cases[] = {
      {"Namespace", R"({"metadata":{}})", "metadata.name is missing"},
      {"PersistentVolumeClaim", in_shop(R"("spec":{"volumeName":7})"), "spec.volumeName"},
      {"NodeOverlay", in_shop(R"("spec":{"price":"cheap"})"), "price: expected a decimal number"},
      {"Deployment", in_shop(R"("spec":{"replicas":"many"})"), "spec.replicas"},
  };
  for (const auto& c : cases) {
    const auto got = reduce(c.kind, c.input);
    ASSERT_FALSE(got) << c.kind;
    EXPECT_NE(got.error().message.find(c.want), std::string::npos) << got.error().message;
  }
}

}  // namespace
}  // namespace karst::objects
