#include "objects/manifest_workloads.h"

#include <algorithm>
#include <array>

#include "objects/manifest_rules.h"

namespace karst::objects {
namespace {
using ValueType = TreeValue::Type;
}  // namespace

TreeValue map_value() {
  TreeValue value;
  value.type = ValueType::kMap;
  return value;
}

std::string_view metadata_text(const TreeValue& object, std::string_view key) {
  const TreeValue* metadata = object.find("metadata");
  return metadata == nullptr ? std::string_view() : metadata->text_of(key);
}

std::string name_of(const TreeValue& object) {
  const std::string_view name = metadata_text(object, "name");
  return std::string(name.empty() ? metadata_text(object, "generateName") : name);
}

TreeValue completed(const TreeValue& object, const std::string& kind, bool namespaced) {
  TreeValue copy = object;
  const TreeValue* given = object.find("metadata");
  TreeValue metadata = given == nullptr ? map_value() : *given;
  metadata.set("name", text_value(name_of(object)));
  if (namespaced && metadata.text_of("namespace").empty())
    metadata.set("namespace", text_value("default"));
  if (metadata.text_of("uid").empty())
    metadata.set("uid", text_value(kind + "/" + std::string(metadata.text_of("namespace")) + "/" +
                                   name_of(object)));
  copy.set("metadata", std::move(metadata));
  return copy;
}

// The pod that a workload's template makes, called like the workload.
TreeValue templated(const TreeValue& workload, const std::string& kind) {
  const TreeValue* made = workload.at({"spec", "template"});
  TreeValue pod = map_value();
  const TreeValue* given = made == nullptr ? nullptr : made->find("metadata");
  TreeValue metadata = given == nullptr ? map_value() : *given;
  const std::string name = name_of(workload);
  metadata.set("name", text_value(name));
  if (const std::string_view space = metadata_text(workload, "namespace"); !space.empty())
    metadata.set("namespace", text_value(space));
  if (kind == "Job") {
    const TreeValue* known = metadata.find("labels");
    TreeValue labels = known == nullptr ? map_value() : *known;
    for (const std::string_view key : {"job-name", "batch.kubernetes.io/job-name"})
      labels.set(key, text_value(name));
    metadata.set("labels", std::move(labels));
  }
  TreeValue owner = map_value();
  owner.set("kind", text_value(kind == "Deployment" ? "ReplicaSet" : kind));
  owner.set("name", text_value(name));
  TreeValue yes;
  yes.type = ValueType::kBoolean;
  yes.text = "true";
  owner.set("controller", std::move(yes));
  TreeValue owners;
  owners.type = ValueType::kList;
  owners.items.push_back(std::move(owner));
  metadata.set("ownerReferences", std::move(owners));
  pod.set("metadata", std::move(metadata));
  if (made != nullptr && made->find("spec") != nullptr) pod.set("spec", *made->find("spec"));
  return pod;
}

namespace {

bool is_finished(const TreeValue& job) {
  const TreeValue* conditions = job.at({"status", "conditions"});
  if (conditions == nullptr) return false;
  constexpr std::array<std::string_view, 4> kEnds = {"Complete", "Failed", "SuccessCriteriaMet",
                                                     "FailureTarget"};
  return std::any_of(conditions->items.begin(), conditions->items.end(), [&](const TreeValue& one) {
    return one.text_of("status") == "True" &&
           std::find(kEnds.begin(), kEnds.end(), one.text_of("type")) != kEnds.end();
  });
}

}  // namespace

std::int64_t replicas_of(const TreeValue& object, Role role) {
  const TreeValue* spec = object.find("spec");
  if (spec == nullptr) return 0;
  if (role == Role::kWorkload) return number_of(*spec, "replicas", 1);
  const TreeValue* suspend = spec->find("suspend");
  if ((suspend != nullptr && suspend->text == "true") || is_finished(object)) return 0;
  const std::int64_t parallel = number_of(*spec, "parallelism", 1);
  if (spec->find("completions") == nullptr) return parallel;
  const TreeValue* status = object.find("status");
  const std::int64_t done = status == nullptr ? 0 : number_of(*status, "succeeded", 0);
  return std::max<std::int64_t>(0, std::min(parallel, number_of(*spec, "completions", 1) - done));
}

}  // namespace karst::objects
