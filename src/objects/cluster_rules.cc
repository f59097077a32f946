// Nodes, volumes, classes.
#include <set>

#include "model/quantity.h"
#include "objects/manifest_rules.h"
#include "objects/name_rules.h"

namespace karst::objects {
namespace {

constexpr std::int64_t kUserPriorityMax = 1'000'000'000;
constexpr std::int64_t kClusterCritical = 2'000'000'000;
constexpr std::int64_t kNodeCritical = 2'000'001'000;
constexpr std::int64_t kPriorityMin = -2'147'483'648;

void check_taint(Review& review, const TreeValue& taint) {
  check_text(review, taint, "key", bad_label_key);
  check_text(review, taint, "value", bad_label_value);
  if (taint.text_of("effect").empty())
    refuse_field(review, taint, "effect", "must be NoSchedule, PreferNoSchedule or NoExecute");
}

void check_node(Review& review, const TreeValue& spec) {
  const TreeValue* taints = spec.find("taints");
  if (taints == nullptr) return;
  std::set<std::pair<std::string_view, std::string_view>> seen;
  Review::Scope scope(review, "taints");
  for (std::size_t i = 0; i < taints->items.size(); ++i) {
    const TreeValue& taint = taints->items[i];
    if (seen.emplace(taint.text_of("key"), taint.text_of("effect")).second) continue;
    Review::Scope inner(review, i);
    review.refuse(taint.line, "the same key and effect are there twice");
  }
}

void check_class_name(Review& review, const TreeValue& spec) {
  check_text(review, spec, "storageClassName", [](std::string_view text) {
    return text.empty() ? std::string() : bad_dns_name(text);
  });
}

void check_claim(Review& review, const TreeValue& spec) {
  check_class_name(review, spec);
  check_not_empty(review, spec, "accessModes");
  const TreeValue* resources = spec.find("resources");
  const TreeValue* requests = resources == nullptr ? nullptr : resources->find("requests");
  const TreeValue* storage = requests == nullptr ? nullptr : requests->find("storage");
  Review::Scope scope(review, "resources");
  Review::Scope inner(review, "requests");
  if (storage == nullptr)
    review.refuse("storage", spec.line, "is missing; it must be there");
  else if (model::parse_quantity_units(storage->text, model::Rounding::kUp).value_or(0) == 0)
    review.refuse("storage", storage->line, "must be more than 0");
}

// The kinds of volumes are the fields that are maps, but for these.
void check_volume_source(Review& review, const TreeValue& spec) {
  std::size_t sources = 0;
  for (const TreeField& field : spec.fields)
    sources += field.value.is(TreeValue::Type::kMap) && field.key != "capacity" &&
               field.key != "claimRef" && field.key != "nodeAffinity";
  if (sources != 1)
    review.refuse(spec.line, "a volume must have one source (csi, local, nfs, ...), found " +
                                 std::to_string(sources));
}

void check_volume(Review& review, const TreeValue& spec) {
  check_not_empty(review, spec, "accessModes");
  check_not_empty(review, spec, "capacity");
  check_volume_source(review, spec);
  const TreeValue* affinity = spec.find("nodeAffinity");
  if (affinity == nullptr && spec.find("local") != nullptr)
    return refuse_field(review, spec, "nodeAffinity", "is missing; a local volume needs it");
  if (affinity == nullptr || affinity->find("required") != nullptr) return;
  Review::Scope scope(review, "nodeAffinity");
  refuse_field(review, *affinity, "required", "is missing; it must be there");
}

void check_storage_class(Review& review, const TreeValue& object) {
  if (object.text_of("provisioner").empty())
    refuse_field(review, object, "provisioner", "must not be empty");
  else
    check_text(review, object, "provisioner", bad_label_key);
}

void check_topology_label(Review& review, const TreeValue& requirement) {
  check_text(review, requirement, "key", bad_label_key);
  check_not_empty(review, requirement, "values");
}

void check_drivers(Review& review, const TreeValue& spec) {
  check_unique(review, spec, "drivers", "name");
}

void check_driver(Review& review, const TreeValue& driver) {
  check_text(review, driver, "name", [](std::string_view text) {
    std::string lower(text);
    for (char& c : lower)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
    return bad_dns_name(lower);
  });
}

void check_priority_class(Review& review, const TreeValue& object) {
  const TreeValue* metadata = object.find("metadata");
  const std::string_view name = metadata == nullptr ? "" : metadata->text_of("name");
  if (!name.starts_with("system-"))
    return check_range(review, object, "value", kPriorityMin, kUserPriorityMax);
  const bool is_node = name == "system-node-critical";
  if (!is_node && name != "system-cluster-critical") {
    Review::Scope scope(review, "metadata");
    return refuse_field(review, *metadata, "name",
                        "names that begin with system- are Kubernetes' own; there are "
                        "system-node-critical and system-cluster-critical");
  }
  const std::int64_t value = is_node ? kNodeCritical : kClusterCritical;
  if (number_of(object, "value", value) != value)
    refuse_field(review, object, "value", "must be " + std::to_string(value) + " for this class");
}

}  // namespace

std::vector<RuleEntry> cluster_rules() {
  return {{"Taint", check_taint},
          {"NodeSpec", check_node},
          {"PersistentVolumeClaimSpec", check_claim},
          {"PersistentVolumeSpec", check_volume},
          {"StorageClass", check_storage_class},
          {"TopologySelectorLabelRequirement", check_topology_label},
          {"CSINodeSpec", check_drivers},
          {"CSINodeDriver", check_driver},
          {"PersistentVolume", check_spec_is_there},
          {"PersistentVolumeClaim", check_spec_is_there},
          {"PriorityClass", check_priority_class}};
}

}  // namespace karst::objects
