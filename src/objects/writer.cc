#include "objects/writer.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/time.h"

namespace karst::objects {
namespace {

using nlohmann::json;

json labels_json(const model::Labels& labels) {
  json object = json::object();
  for (const auto& [key, value] : labels) object[key] = value;
  return object;
}

json resources_json(const model::Resources& resources) {
  json object = json::object();
  for (const char* name : {"cpu", "memory", "ephemeral-storage", "pods"})
    if (resources.amount(name) != 0) object[name] = quantity(name, resources.amount(name));
  for (const auto& [name, amount] : resources.extended) object[name] = quantity(name, amount);
  return object;
}

// What a pool has in use: Karpenter writes these also when they are zero.
json usage_json(const model::Resources& resources) {
  json object = resources_json(resources);
  for (const char* name : {"cpu", "memory", "ephemeral-storage", "pods", "nodes"})
    if (!object.contains(name)) object[name] = "0";
  return object;
}

json taints_json(const std::vector<model::Taint>& taints) {
  json array = json::array();
  for (const model::Taint& taint : taints) {
    json object = {{"key", taint.key},
                   {"effect", std::string(model::taint_effect_name(taint.effect))}};
    if (!taint.value.empty()) object["value"] = taint.value;
    array.push_back(std::move(object));
  }
  return array;
}

json requirements_json(const std::vector<model::RequirementSpec>& requirements) {
  json array = json::array();
  for (const model::RequirementSpec& spec : requirements) {
    json object = {{"key", spec.key}, {"operator", std::string(model::operator_name(spec.op))}};
    if (!spec.values.empty()) object["values"] = spec.values;
    if (spec.min_values > 0) object["minValues"] = spec.min_values;
    array.push_back(std::move(object));
  }
  return array;
}

// As Go prints a duration of whole seconds, which is how Kubernetes writes those that do not keep
// what was read: "12h30m0s", "30m0s", "90s" as "1m30s".
std::string go_duration(std::int64_t millis) {
  const std::int64_t seconds = millis / base::kMillisPerSecond;
  std::string text;
  if (seconds >= 3600) text += std::to_string(seconds / 3600) + "h";
  if (seconds >= 60) text += std::to_string(seconds / 60 % 60) + "m";
  return text + std::to_string(seconds % 60) + "s";
}

// As it was written; where nobody has kept that, as Go prints it.
std::string expire_after_text(const model::NodeClaim& claim) {
  if (!claim.expire_after_millis) return "Never";
  return claim.expire_after.empty() ? go_duration(*claim.expire_after_millis) : claim.expire_after;
}

json metadata_json(const model::NodeClaim& claim) {
  json metadata = {{"name", claim.name.str()},
                   {"labels", labels_json(claim.labels)},
                   {"annotations", labels_json(claim.annotations)},
                   {"finalizers", json::array({std::string(model::kTerminationFinalizer)})}};
  if (!claim.pool_uid.empty()) {
    metadata["ownerReferences"] = json::array({{{"apiVersion", "karpenter.sh/v1"},
                                                {"kind", "NodePool"},
                                                {"name", claim.pool.str()},
                                                {"uid", claim.pool_uid},
                                                {"blockOwnerDeletion", true}}});
  }
  return metadata;
}

const char* status_name(model::ConditionStatus status) {
  if (status == model::ConditionStatus::kTrue) return "True";
  return status == model::ConditionStatus::kFalse ? "False" : "Unknown";
}

// RFC 3339 as Kubernetes writes it, in whole seconds; a fraction is kept if there is one, so that
// what is read back is equal.
std::string time_text(std::int64_t millis) {
  std::string text = base::format_rfc3339(millis);
  if (const auto at = text.find(".000Z"); at != std::string::npos) text.erase(at, 4);
  return text;
}

json conditions_json(const std::vector<model::Condition>& conditions) {
  json array = json::array();
  for (const model::Condition& condition : conditions) {
    json object = {{"type", condition.type},
                   {"status", status_name(condition.status)},
                   {"reason", condition.reason},
                   {"message", condition.message},
                   {"lastTransitionTime", time_text(condition.transition_millis)}};
    if (condition.observed_generation != 0)
      object["observedGeneration"] = condition.observed_generation;
    array.push_back(std::move(object));
  }
  return array;
}

std::string dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

json at(const json& object, const char* pointer) {
  const json::json_pointer path(pointer);
  return object.contains(path) ? object.at(path) : json();
}

std::string text(const json& object, const char* key) {
  const json value = object.is_object() ? object.value(key, json()) : json();
  return value.is_string() ? value.get<std::string>() : std::string();
}

// The list that is there with those of the types in `said` replaced and those in `cleared` left
// out, in Karpenter's order: by transition time, with the root last.
json merged_conditions(const json& known, const json& said,
                       const std::vector<std::string>& cleared) {
  std::set<std::string> replaced(cleared.begin(), cleared.end());
  for (const json& one : said) replaced.insert(text(one, "type"));
  json merged = json::array();
  if (known.is_array())
    for (const json& one : known)
      if (!replaced.contains(text(one, "type"))) merged.push_back(one);
  merged.insert(merged.end(), said.begin(), said.end());
  const auto place = [](const json& one) {
    return std::pair(text(one, "type") == "Ready", text(one, "lastTransitionTime"));
  };
  std::stable_sort(merged.begin(), merged.end(),
                   [&](const json& a, const json& b) { return place(a) < place(b); });
  return merged;
}

// `fields` is a merge patch in one level: null is to go. Every operation rests on the first test.
std::string status_patch(const json& object, json fields,
                         const std::vector<model::Condition>& conditions,
                         const std::vector<std::string>& cleared) {
  const json known = at(object, "/status");
  fields["conditions"] =
      merged_conditions(at(object, "/status/conditions"), conditions_json(conditions), cleared);
  json patch = json::array({{{"op", "test"},
                             {"path", "/metadata/resourceVersion"},
                             {"value", at(object, "/metadata/resourceVersion")}}});
  if (!known.is_object())
    patch.push_back({{"op", "add"}, {"path", "/status"}, {"value", json::object()}});
  for (const auto& [key, value] : fields.items()) {
    const std::string path = "/status/" + key;
    if (!value.is_null())
      patch.push_back({{"op", "add"}, {"path", path}, {"value", value}});
    else if (known.is_object() && known.contains(key))
      patch.push_back({{"op", "remove"}, {"path", path}});
  }
  return dump(patch);
}

}  // namespace

std::string quantity(std::string_view resource, std::int64_t amount) {
  if (resource == "cpu") return model::format_millis(amount);
  if (resource == "memory" || resource == "ephemeral-storage" || resource.starts_with("hugepages-"))
    return model::format_bytes(amount);
  return std::to_string(amount);
}

std::string node_claim_json(const model::NodeClaim& claim) {
  json spec = {{"requirements", requirements_json(claim.requirements)},
               {"nodeClassRef",
                {{"group", claim.node_class.group},
                 {"kind", claim.node_class.kind},
                 {"name", claim.node_class.name}}},
               {"resources", {{"requests", resources_json(claim.requests)}}},
               {"expireAfter", expire_after_text(claim)}};
  if (!claim.taints.empty()) spec["taints"] = taints_json(claim.taints);
  if (!claim.startup_taints.empty()) spec["startupTaints"] = taints_json(claim.startup_taints);
  if (claim.termination_grace_millis)
    spec["terminationGracePeriod"] = go_duration(*claim.termination_grace_millis);
  return dump({{"apiVersion", "karpenter.sh/v1"},
               {"kind", "NodeClaim"},
               {"metadata", metadata_json(claim)},
               {"spec", spec}});
}

std::string claim_metadata_patch(const model::MirrorClaim& mirror) {
  if (mirror.labels.empty() && mirror.annotations.empty()) return {};
  json metadata = {{"uid", mirror.uid.str()}};
  if (!mirror.labels.empty()) metadata["labels"] = labels_json(mirror.labels);
  if (!mirror.annotations.empty()) metadata["annotations"] = labels_json(mirror.annotations);
  return dump({{"metadata", std::move(metadata)}});
}

std::string claim_status_patch(const json& object, const model::MirrorClaim& mirror) {
  json status = json::object();
  if (!mirror.provider_id.empty()) status["providerID"] = mirror.provider_id.str();
  if (!mirror.node_name.empty()) status["nodeName"] = mirror.node_name.str();
  if (!mirror.image.empty()) status["imageID"] = mirror.image;
  if (mirror.capacity != model::Resources{}) status["capacity"] = resources_json(mirror.capacity);
  if (mirror.allocatable != model::Resources{})
    status["allocatable"] = resources_json(mirror.allocatable);
  return status_patch(object, std::move(status), mirror.conditions, mirror.cleared);
}

std::string pool_annotations_patch(const model::MirrorPool& mirror) {
  return dump({{"metadata",
                {{"uid", mirror.uid},
                 {"annotations",
                  {{std::string(model::kPoolHashAnnotation), mirror.hash},
                   {std::string(model::kPoolHashVersionAnnotation), mirror.hash_version}}}}}});
}

std::string pool_status_patch(const json& object, const model::MirrorPool& mirror) {
  json status = {{"resources", usage_json(mirror.resources)},
                 {"nodes", mirror.nodes},
                 {"nodeClassObservedGeneration", nullptr}};
  if (mirror.node_class_observed_generation != 0)
    status["nodeClassObservedGeneration"] = mirror.node_class_observed_generation;
  return status_patch(object, std::move(status), mirror.conditions, {});
}

std::string status_patch(const json& object, const model::MirrorStatus& mirror) {
  json status = json::object();
  if (!mirror.fields_json.empty()) status = json::parse(mirror.fields_json, nullptr, false);
  KARST_CHECK(status.is_object(), "a status is an object");
  return status_patch(object, std::move(status), mirror.conditions, mirror.cleared);
}

}  // namespace karst::objects
