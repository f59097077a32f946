// Objects that the state keeps as they are, by kind, namespace and name: storage, namespaces,
// disruption budgets, overlays, buffers, pod templates, workloads. Each has an event of its own;
// they share one table, one way to be listed and one way to be gone. A new kind is a struct here
// (or in storage.h), its place at the end of NamedObject, its event and its reducer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "model/ids.h"
#include "model/labels.h"
#include "model/pod.h"
#include "model/requirements.h"
#include "model/resources.h"
#include "model/storage.h"
#include "model/variant_fields.h"

namespace karst::model {

struct Namespace {
  static constexpr std::string_view kKind = "Namespace";
  std::string name;
  Labels labels;
  friend bool operator==(const Namespace&, const Namespace&) = default;
};

struct DisruptionBudget {
  static constexpr std::string_view kKind = "PodDisruptionBudget";
  std::string namespace_name;
  std::string name;
  std::string uid;
  LabelSelector selector;
  std::int64_t disruptions_allowed = 0;
  bool fully_blocking = false;  // maxUnavailable 0 or 0 %, or minAvailable 100 %
  bool spares_unready = false;  // unhealthyPodEvictionPolicy AlwaysAllow
  friend bool operator==(const DisruptionBudget&, const DisruptionBudget&) = default;
};

// At most one of price, adjustment and percentage is there.
struct NodeOverlay {
  static constexpr std::string_view kKind = "NodeOverlay";
  std::string name;
  std::string uid;
  std::int64_t generation = 0;
  std::int32_t weight = 0;
  std::vector<RequirementSpec> requirements;
  std::optional<std::int64_t> price_nanos_per_hour;
  std::optional<std::int64_t> adjustment_nanos_per_hour;  // to be added; may be negative
  std::optional<std::int64_t> percent_micros;             // to be added: 1 % is 1,000,000
  Resources capacity;
  friend bool operator==(const NodeOverlay&, const NodeOverlay&) = default;
};

// Room that is kept free for pods that may come, asked for as pods that never do.
struct CapacityBuffer {
  static constexpr std::string_view kKind = "CapacityBuffer";
  std::string namespace_name;
  std::string name;
  std::string uid;
  std::int64_t generation = 0;
  std::string strategy;       // empty: the only one that Karpenter knows
  std::string template_name;  // a PodTemplate; or
  std::string scalable_kind;  // a workload
  std::string scalable_name;
  std::optional<std::int64_t> replicas;
  std::optional<std::int64_t> percentage;                    // of the workload's replicas
  std::vector<std::pair<std::string, std::int64_t>> limits;  // by resource; cpu in millicores
  friend bool operator==(const CapacityBuffer&, const CapacityBuffer&) = default;
};

struct PodTemplate {
  static constexpr std::string_view kKind = "PodTemplate";
  std::string namespace_name;
  std::string name;
  ShapeHash shape;
  Labels labels;  // of the pods
  friend bool operator==(const PodTemplate&, const PodTemplate&) = default;
};

// What makes pods: a Deployment, a ReplicaSet or a StatefulSet. A ReplicaSet of a Deployment that
// wants no pods is left out: it is an old revision.
struct Workload {
  std::string kind;
  std::string namespace_name;
  std::string name;
  std::string uid;
  std::string owner_kind;  // of its controller; empty: nobody's
  std::string owner_name;
  std::int64_t replicas = 0;  // wanted
  // Of its pods; zero and empty where no buffer can ask for it (the gate is off).
  ShapeHash shape;
  Labels labels;
  friend bool operator==(const Workload&, const Workload&) = default;
};

// The order is that of their events (events/body.h): only appended.
using NamedObject =
    std::variant<VolumeClaim, PersistentVolume, StorageClass, CsiNode, VolumeAttachment, Namespace,
                 DisruptionBudget, NodeOverlay, CapacityBuffer, PodTemplate, Workload>;

// Every kind, as list brackets name it.
inline constexpr std::string_view kNamedKinds[] = {"PersistentVolumeClaim",
                                                   "PersistentVolume",
                                                   "StorageClass",
                                                   "CSINode",
                                                   "VolumeAttachment",
                                                   "Namespace",
                                                   "PodDisruptionBudget",
                                                   "NodeOverlay",
                                                   "CapacityBuffer",
                                                   "PodTemplate",
                                                   "Deployment",
                                                   "ReplicaSet",
                                                   "StatefulSet"};

struct ObjectKey {
  std::string kind;
  std::string namespace_name;  // empty: the kind has none
  std::string name;
  friend auto operator<=>(const ObjectKey&, const ObjectKey&) = default;
};
// For look-ups: compares with an ObjectKey as one.
struct ObjectKeyView {
  std::string_view kind;
  std::string_view namespace_name;
  std::string_view name;
};
inline auto operator<=>(const ObjectKey& a, const ObjectKeyView& b) {
  if (const auto order = std::string_view(a.kind) <=> b.kind; order != 0) return order;
  if (const auto order = std::string_view(a.namespace_name) <=> b.namespace_name; order != 0)
    return order;
  return std::string_view(a.name) <=> b.name;
}
ObjectKey key_of(const NamedObject& object);
// "namespace/name", or the name.
std::string place_of(const ObjectKey& key);
// The shape that it refers to; none for most kinds.
std::optional<ShapeHash> shape_of(const NamedObject& object);

template <class Archive>
void fields(Archive& a, Namespace& n) {
  a(n.name, n.labels);
}
template <class Archive>
void fields(Archive& a, DisruptionBudget& b) {
  a(b.namespace_name, b.name, b.uid, b.selector, b.disruptions_allowed, b.fully_blocking,
    b.spares_unready);
}
template <class Archive>
void fields(Archive& a, NodeOverlay& o) {
  a(o.name, o.uid, o.generation, o.weight, o.requirements, o.price_nanos_per_hour,
    o.adjustment_nanos_per_hour, o.percent_micros, o.capacity);
}
template <class Archive>
void fields(Archive& a, CapacityBuffer& b) {
  a(b.namespace_name, b.name, b.uid, b.generation, b.strategy, b.template_name, b.scalable_kind,
    b.scalable_name, b.replicas, b.percentage, b.limits);
}
template <class Archive>
void fields(Archive& a, PodTemplate& t) {
  a(t.namespace_name, t.name, t.shape, t.labels);
}
template <class Archive>
void fields(Archive& a, Workload& w) {
  a(w.kind, w.namespace_name, w.name, w.uid, w.owner_kind, w.owner_name, w.replicas, w.shape,
    w.labels);
}
template <class Archive>
void fields(Archive& a, ObjectKey& k) {
  a(k.kind, k.namespace_name, k.name);
}

template <class Archive>
void fields(Archive& a, NamedObject& object) {
  variant_fields(a, object);
}

}  // namespace karst::model
