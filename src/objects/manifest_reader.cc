#include "objects/manifest_reader.h"

#include <algorithm>

#include "base/utf8.h"
#include "objects/capacity_buffer.h"
#include "objects/cluster.h"
#include "objects/manifest_claims.h"
#include "objects/manifest_rules.h"
#include "objects/manifest_selectors.h"
#include "objects/manifest_workloads.h"
#include "objects/name_rules.h"
#include "objects/named.h"
#include "objects/volumes.h"

namespace karst::objects {
namespace {

using ValueType = TreeValue::Type;

constexpr std::int64_t kReservedMachinesMax = 1'000'000;
constexpr std::size_t kListDepthMax = 4;  // lists in lists

std::uint32_t line_of(const TreeValue& object, std::string_view key) {
  for (const TreeField& field : object.fields)
    if (field.key == key) return field.line;
  return object.line;
}

void read_controller(const TreeValue& object, ManifestPods& pods) {
  const TreeValue* owners = object.at({"metadata", "ownerReferences"});
  if (owners == nullptr) return;
  for (const TreeValue& owner : owners->items)
    if (const TreeValue* flag = owner.find("controller"); flag != nullptr && flag->text == "true") {
      pods.owner_kind = owner.text_of("kind");
      pods.owner_name = owner.text_of("name");
    }
}

void read_reservations(Review& review, const TreeValue& node_class,
                       std::vector<ManifestReservation>& out) {
  const TreeValue* all = node_class.at({"status", "capacityReservations"});
  if (all == nullptr || !all->is(ValueType::kList)) return;
  Review::Scope status(review, "status");
  Review::Scope list(review, "capacityReservations");
  for (std::size_t i = 0; i < all->items.size(); ++i) {
    const TreeValue& one = all->items[i];
    Review::Scope element(review, i);
    for (const std::string_view key : {"id", "instanceType", "availabilityZone"})
      if (one.text_of(key).empty())
        return refuse_field(review, one, key, "is missing; it must be there");
    check_range(review, one, "availableInstanceCount", 0, kReservedMachinesMax);
    ManifestReservation reservation;
    reservation.node_class = name_of(node_class);
    reservation.id = one.text_of("id");
    reservation.zone = one.text_of("availabilityZone");
    reservation.instance_type = one.text_of("instanceType");
    if (one.text_of("reservationType") == "capacity-block") reservation.type = "capacity-block";
    const TreeValue* interruptible = one.find("interruptible");
    reservation.interruptible = interruptible != nullptr && interruptible->text == "true";
    reservation.expiring = one.text_of("state") == "expiring";
    if (const TreeValue* count = one.find("availableInstanceCount");
        count != nullptr && !count->is(ValueType::kInteger))
      refuse_field(review, one, "availableInstanceCount",
                   "expected a whole number, found " + describe(*count));
    else if (count != nullptr)
      reservation.available = number_of(one, "availableInstanceCount", 0);
    out.push_back(std::move(reservation));
  }
}

bool says_ready(const TreeValue& node) {
  const TreeValue* conditions = node.at({"status", "conditions"});
  return conditions != nullptr &&
         std::any_of(conditions->items.begin(), conditions->items.end(),
                     [](const TreeValue& one) { return one.text_of("type") == "Ready"; });
}

// The field's value goes to the end of `list`, or its error to the review.
template <class T>
void take(Review& review, const TreeValue& object, base::Result<T> reduced, std::vector<T>& list) {
  if (reduced)
    list.push_back(std::move(*reduced));
  else
    review.refuse(object.line, std::move(reduced.error().message));
}

}  // namespace

void ManifestReader::read(Review& review, const TreeValue& document) {
  read_lists(review, document, 0);
}

void ManifestReader::read_lists(Review& review, const TreeValue& object, std::size_t depth) {
  review.begin("");
  const std::string_view kind = object.text_of("kind");
  const TreeValue* items = object.find("items");
  if (!kind.ends_with("List") || items == nullptr || !items->is(ValueType::kList))
    return read_object(review, object);
  if (depth == kListDepthMax) return review.refuse(object.line, "lists within lists");
  const std::string_view of = kind.substr(0, kind.size() - 4);
  for (const TreeValue& item : items->items) {
    // The elements of a PodList do not say that they are Pods.
    if (of.empty() || !item.is(ValueType::kMap) || item.find("kind") != nullptr) {
      read_lists(review, item, depth + 1);
      continue;
    }
    TreeValue named = item;
    named.set("apiVersion", text_value(object.text_of("apiVersion")));
    named.set("kind", text_value(of));
    read_lists(review, named, depth + 1);
  }
}

void ManifestReader::read_object(Review& review, const TreeValue& object) {
  if (!object.is(ValueType::kMap))
    return review.refuse(
        object.line,
        "expected an object with apiVersion, kind and metadata, found " + describe(object));
  for (const std::string_view name : {"apiVersion", "kind"})
    if (object.text_of(name).empty())
      return review.refuse(name, object.line, "is missing; it must be there");
  if (++objects_ > kManifestObjectsMax)
    return review.refuse(object.line,
                         "more than " + std::to_string(kManifestObjectsMax) + " objects");
  const std::string kind(object.text_of("kind"));
  const KindInfo info = kind_info(object.text_of("apiVersion"), kind);
  const std::string name = name_of(object).substr(0, 253);
  review.begin(std::string(base::cut_utf8(kind, 80)) + (name.empty() ? "" : " " + name));
  if (info.role == Role::kRefused) return review.refuse(line_of(object, "kind"), info.refusal);
  if (info.role == Role::kIgnored) {
    ++out_.ignored[std::string(base::cut_utf8(kind, 80))];
    return;
  }
  const std::size_t before = review.count();
  Schema::instance().check(review, info.type, object);
  if (review.count() == before && check_name(review, object, info)) add(review, object, info, kind);
}

// The name must be there, be well formed, and come once.
bool ManifestReader::check_name(Review& review, const TreeValue& object, const KindInfo& info) {
  const TreeValue* metadata = object.find("metadata");
  const std::string_view name = metadata_text(object, "name");
  const bool generated = name.empty() && !metadata_text(object, "generateName").empty();
  Review::Scope scope(review, "metadata");
  if (name.empty() && !generated) {
    review.refuse("name", metadata == nullptr ? object.line : metadata->line,
                  "is missing; it must be there");
    return false;
  }
  if (generated || object.text_of("kind") == "PodDisruptionBudget") return true;  // any name
  const bool label = info.role == Role::kNamespace || info.role == Role::kNodePool;
  if (std::string bad = label ? bad_dns_label(name) : bad_dns_name(name); !bad.empty()) {
    // A pool's name is the value of a label, but may hold dots.
    if (info.role != Role::kNodePool || name.size() > 63 || !bad_dns_name(name).empty()) {
      refuse_field(review, *metadata, "name", std::move(bad));
      return false;
    }
  }
  const std::string_view space = metadata_text(object, "namespace");
  if (!info.namespaced && !space.empty()) {
    refuse_field(review, *metadata, "namespace", "this kind is not in a namespace; remove it");
    return false;
  }
  const std::string key = std::string(object.text_of("apiVersion")) + "/" +
                          std::string(object.text_of("kind")) + "/" +
                          std::string(space.empty() ? "default" : space) + "/" + std::string(name);
  const auto [at_first, fresh] =
      seen_.emplace(key, review.file() + ":" + std::to_string(object.line));
  if (!fresh)
    refuse_field(review, *metadata, "name", "is there twice; first at " + at_first->second);
  return fresh;
}

void ManifestReader::add(Review& review, const TreeValue& object, const KindInfo& info,
                         const std::string& kind) {
  switch (info.role) {
    case Role::kChecked:
      if (kind == "CronJob") ++out_.ignored[kind];
      return;
    case Role::kPriorityClass:
      return add_priority_class(object);
    case Role::kPod:
      return add_pods(review, completed(object, kind, true), kind, 1);
    case Role::kPodTemplate: {
      TreeValue wrapped = object;
      TreeValue spec = map_value();
      if (const TreeValue* made = object.find("template")) spec.set("template", *made);
      wrapped.set("spec", std::move(spec));
      return add_pods(review, wrapped, kind, 0);
    }
    case Role::kWorkload:
    case Role::kJob:
      return add_pods(review, object, kind, replicas_of(object, info.role));
    case Role::kService:
      ++out_.ignored[kind];
      return out_.services.push_back(service_of(object));
    case Role::kNamespace: {
      model::Labels labels{{"kubernetes.io/metadata.name", name_of(object)}};
      if (const TreeValue* given = object.at({"metadata", "labels"}))
        for (const TreeField& field : given->fields)
          model::set_label(labels, field.key, field.value.text);
      out_.namespaces[name_of(object)] = std::move(labels);
      return;
    }
    default:
      break;
  }
  const std::string text = to_json(completed(object, kind, info.namespaced));
  const auto element = parser_.parse(text, kObjectBytesMax);
  if (!element) return review.refuse(object.line, element.error().message);
  add_reduced(review, object, *element, info, kind);
}

void ManifestReader::note_places(const Review& review, const TreeValue& object,
                                 const std::string& kind) {
  const TreeValue* metadata = object.find("metadata");
  const std::string name = kind + " " + std::string(metadata->text_of("name"));
  const auto note = [&](const std::string& what, std::uint32_t line) {
    out_.places[what] = review.file() + ":" + std::to_string(line);
  };
  note(name, object.line);
  const std::string field = name + ": spec.template.";
  if (const TreeValue* list = object.at({"spec", "template", "spec", "requirements"}))
    for (std::size_t i = 0; i < list->items.size(); ++i)
      note(field + "spec.requirements[" + std::to_string(i) + "].key",
           line_of(list->items[i], "key"));
  if (const TreeValue* labels = object.at({"spec", "template", "metadata", "labels"}))
    for (const TreeField& label : labels->fields)
      note(field + "metadata.labels[" + label.key + "]", label.line);
}

void ManifestReader::add_reduced(Review& review, const TreeValue& object,
                                 simdjson::dom::element element, const KindInfo& info,
                                 const std::string& kind) {
  switch (info.role) {
    case Role::kNodePool:
      note_places(review, object, kind);
      return take(review, object, reduce_node_pool(element), out_.pools);
    case Role::kNodeClaim:
      return take(review, object, reduce_node_claim(element), out_.claims);
    case Role::kNodeOverlay:
      return take(review, object, reduce_overlay(element), out_.overlays);
    case Role::kNodeClass: {
      note_places(review, object, kind);
      read_reservations(review, object, out_.reservations);
      const std::string_view version = object.text_of("apiVersion");
      return take(review, object,
                  reduce_node_class(element, version.substr(0, version.find('/')), kind),
                  out_.node_classes);
    }
    case Role::kNode: {
      const std::size_t before = out_.nodes.size();
      take(review, object, reduce_node(element), out_.nodes);
      if (out_.nodes.size() > before && !says_ready(object)) out_.nodes.back().ready = true;
      return;
    }
    case Role::kDaemonSet:
      return take(review, object, reduce_daemon_set(element), out_.daemon_sets);
    case Role::kCapacityBuffer:
      return take(review, object, reduce_capacity_buffer(element), out_.buffers);
    case Role::kVolumeClaim:
      return take(review, object, reduce_volume_claim(element), out_.volume_claims);
    case Role::kVolume:
      return take(review, object, reduce_volume(element), out_.volumes);
    case Role::kBudget: {
      auto reduced = reduce_named(kind, element, false);
      if (!reduced) return review.refuse(object.line, std::move(reduced.error().message));
      return out_.budgets.push_back(std::get<model::DisruptionBudget>(reduced->object));
    }
    case Role::kStorageClass:
      return take(review, object, reduce_storage_class(element), out_.storage_classes);
    case Role::kCsiNode:
      return take(review, object, reduce_csi_node(element), out_.csi_nodes);
    default:
      return;
  }
}

void ManifestReader::add_pods(Review& review, const TreeValue& object, const std::string& kind,
                              std::int64_t count) {
  const bool single = kind == "Pod";
  if (count > kManifestPodsMax - pods_)
    return review.refuse(object.line,
                         "more than " + std::to_string(kManifestPodsMax) + " pods together");
  pods_ += count;
  const TreeValue pod = single ? object : completed(templated(object, kind), kind, true);
  const std::string text = to_json(pod);
  const auto element = parser_.parse(text, kObjectBytesMax);
  if (!element) return review.refuse(object.line, element.error().message);
  auto reduced = reduce_pod(*element);
  if (!reduced) return review.refuse(object.line, std::move(reduced.error().message));
  ManifestPods pods;
  pods.kind = kind;
  pods.count = count;
  pods.pod = std::move(*reduced);
  read_controller(object, pods);
  pods.selector = selector_of(object, kind);
  pods.templates = claim_templates(object);
  pods.ephemeral = ephemeral_claims(pod);
  (kind == "PodTemplate" ? out_.pod_templates : out_.pods).push_back(std::move(pods));
}

void ManifestReader::add_priority_class(const TreeValue& object) {
  const TreeValue* is_default = object.find("globalDefault");
  out_.priority_classes.push_back({name_of(object),
                                   static_cast<std::int32_t>(number_of(object, "value", 0)),
                                   is_default != nullptr && is_default->text == "true"});
}

}  // namespace karst::objects
