// Named objects: what the state keeps as it is.
#include "events/codec_values.h"

namespace karst::events::codec {
namespace {

auto put_terms(Builder& b, const model::Topology& topology) {
  std::vector<Offset<log::TopologyTerm>> terms;
  terms.reserve(topology.size());
  for (const auto& term : topology) terms.push_back(log::CreateTopologyTerm(b, put_all(b, term)));
  return terms.empty() ? Offset<Vector<log::TopologyTerm>>() : b.CreateVector(terms);
}
void get_terms(const Vector<log::TopologyTerm>* in, model::Topology& out) {
  if (in == nullptr) return;
  out.reserve(in->size());
  for (const log::TopologyTerm* term : *in) get_all(term->requirements(), out.emplace_back());
}

}  // namespace

Offset<log::VolumeClaimObserved> put(Builder& b, const model::VolumeClaim& v) {
  const auto namespace_name = put(b, v.namespace_name);
  const auto name = put(b, v.name);
  const auto storage_class = put(b, v.storage_class.value_or(""));
  return log::CreateVolumeClaimObserved(b, namespace_name, name, v.storage_class.has_value(),
                                        storage_class, put(b, v.volume), v.lost, v.deleting,
                                        v.once_per_pod);
}
void get(const log::VolumeClaimObserved& in, model::VolumeClaim& out) {
  get(in.namespace_name(), out.namespace_name);
  get(in.name(), out.name);
  if (in.has_storage_class()) get(in.storage_class(), out.storage_class.emplace());
  get(in.volume(), out.volume);
  out.lost = in.lost();
  out.deleting = in.deleting();
  out.once_per_pod = in.once_per_pod();
}

Offset<log::PersistentVolumeObserved> put(Builder& b, const model::PersistentVolume& v) {
  const auto name = put(b, v.name);
  const auto driver = put(b, v.driver);
  const auto storage_class = put(b, v.storage_class);
  return log::CreatePersistentVolumeObserved(b, name, driver, storage_class, v.on_node, v.deleting,
                                             put_terms(b, v.topology));
}
void get(const log::PersistentVolumeObserved& in, model::PersistentVolume& out) {
  get(in.name(), out.name);
  get(in.driver(), out.driver);
  get(in.storage_class(), out.storage_class);
  out.on_node = in.on_node();
  out.deleting = in.deleting();
  get_terms(in.topology(), out.topology);
}

Offset<log::StorageClassObserved> put(Builder& b, const model::StorageClass& v) {
  const auto name = put(b, v.name);
  const auto provisioner = put(b, v.provisioner);
  return log::CreateStorageClassObserved(b, name, provisioner, v.immediate, v.is_default,
                                         put_terms(b, v.topology));
}
void get(const log::StorageClassObserved& in, model::StorageClass& out) {
  get(in.name(), out.name);
  get(in.provisioner(), out.provisioner);
  out.immediate = in.immediate();
  out.is_default = in.is_default();
  get_terms(in.topology(), out.topology);
}

Offset<log::CsiNodeObserved> put(Builder& b, const model::CsiNode& v) {
  const auto name = put(b, v.name);
  return log::CreateCsiNodeObserved(b, name, put_all(b, v.limits));
}
void get(const log::CsiNodeObserved& in, model::CsiNode& out) {
  get(in.name(), out.name);
  get_all(in.limits(), out.limits);
}

Offset<log::VolumeAttachmentObserved> put(Builder& b, const model::VolumeAttachment& v) {
  const auto name = put(b, v.name);
  const auto node = put(b, v.node);
  return log::CreateVolumeAttachmentObserved(b, name, node, put(b, v.volume));
}
void get(const log::VolumeAttachmentObserved& in, model::VolumeAttachment& out) {
  get(in.name(), out.name);
  get(in.node(), out.node);
  get(in.volume(), out.volume);
}

Offset<log::NamespaceObserved> put(Builder& b, const model::Namespace& v) {
  const auto name = put(b, v.name);
  return log::CreateNamespaceObserved(b, name, put_all(b, v.labels));
}
void get(const log::NamespaceObserved& in, model::Namespace& out) {
  get(in.name(), out.name);
  get_all(in.labels(), out.labels);
}

Offset<log::DisruptionBudgetObserved> put(Builder& b, const model::DisruptionBudget& v) {
  const auto namespace_name = put(b, v.namespace_name);
  const auto name = put(b, v.name);
  const auto uid = put(b, v.uid);
  return log::CreateDisruptionBudgetObserved(b, namespace_name, name, uid, put_some(b, v.selector),
                                             v.disruptions_allowed, v.fully_blocking,
                                             v.spares_unready);
}
void get(const log::DisruptionBudgetObserved& in, model::DisruptionBudget& out) {
  get(in.namespace_name(), out.namespace_name);
  get(in.name(), out.name);
  get(in.uid(), out.uid);
  get_some(in.selector(), out.selector);
  out.disruptions_allowed = in.disruptions_allowed();
  out.fully_blocking = in.fully_blocking();
  out.spares_unready = in.spares_unready();
}

Offset<log::NodeOverlayObserved> put(Builder& b, const model::NodeOverlay& v) {
  const auto name = put(b, v.name);
  const auto uid = put(b, v.uid);
  const auto requirements = put_all(b, v.requirements);
  return log::CreateNodeOverlayObserved(
      b, name, uid, v.generation, v.weight, requirements, v.price_nanos_per_hour.has_value(),
      v.price_nanos_per_hour.value_or(0), v.adjustment_nanos_per_hour.has_value(),
      v.adjustment_nanos_per_hour.value_or(0), v.percent_micros.has_value(),
      v.percent_micros.value_or(0), put_some(b, v.capacity));
}
void get(const log::NodeOverlayObserved& in, model::NodeOverlay& out) {
  get(in.name(), out.name);
  get(in.uid(), out.uid);
  out.generation = in.generation();
  out.weight = in.weight();
  get_all(in.requirements(), out.requirements);
  get_optional(in.has_price(), in.price_nanos_per_hour(), out.price_nanos_per_hour);
  get_optional(in.has_adjustment(), in.adjustment_nanos_per_hour(), out.adjustment_nanos_per_hour);
  get_optional(in.has_percent(), in.percent_micros(), out.percent_micros);
  get_some(in.capacity(), out.capacity);
}

Offset<log::CapacityBufferObserved> put(Builder& b, const model::CapacityBuffer& v) {
  const auto namespace_name = put(b, v.namespace_name);
  const auto name = put(b, v.name);
  const auto uid = put(b, v.uid);
  const auto strategy = put(b, v.strategy);
  const auto template_name = put(b, v.template_name);
  const auto scalable_kind = put(b, v.scalable_kind);
  const auto scalable_name = put(b, v.scalable_name);
  return log::CreateCapacityBufferObserved(
      b, namespace_name, name, uid, v.generation, strategy, template_name, scalable_kind,
      scalable_name, v.replicas.has_value(), v.replicas.value_or(0), v.percentage.has_value(),
      v.percentage.value_or(0), put_all(b, v.limits));
}
void get(const log::CapacityBufferObserved& in, model::CapacityBuffer& out) {
  get(in.namespace_name(), out.namespace_name);
  get(in.name(), out.name);
  get(in.uid(), out.uid);
  out.generation = in.generation();
  get(in.strategy(), out.strategy);
  get(in.template_name(), out.template_name);
  get(in.scalable_kind(), out.scalable_kind);
  get(in.scalable_name(), out.scalable_name);
  get_optional(in.has_replicas(), in.replicas(), out.replicas);
  get_optional(in.has_percentage(), in.percentage(), out.percentage);
  get_all(in.limits(), out.limits);
}

Offset<log::PodTemplateObserved> put(Builder& b, const model::PodTemplate& v) {
  const auto namespace_name = put(b, v.namespace_name);
  const auto name = put(b, v.name);
  const log::ShapeHash shape = wire(v.shape);
  return log::CreatePodTemplateObserved(b, namespace_name, name, &shape, put_all(b, v.labels));
}
void get(const log::PodTemplateObserved& in, model::PodTemplate& out) {
  get(in.namespace_name(), out.namespace_name);
  get(in.name(), out.name);
  get(in.shape(), out.shape);
  get_all(in.labels(), out.labels);
}

Offset<log::WorkloadObserved> put(Builder& b, const model::Workload& v) {
  const auto kind = put(b, v.kind);
  const auto namespace_name = put(b, v.namespace_name);
  const auto name = put(b, v.name);
  const auto uid = put(b, v.uid);
  const auto owner_kind = put(b, v.owner_kind);
  const auto owner_name = put(b, v.owner_name);
  const auto labels = put_all(b, v.labels);
  const log::ShapeHash shape = wire(v.shape);
  return log::CreateWorkloadObserved(b, kind, namespace_name, name, uid, owner_kind, owner_name,
                                     v.replicas, v.shape == model::ShapeHash{} ? nullptr : &shape,
                                     labels);
}
void get(const log::WorkloadObserved& in, model::Workload& out) {
  get(in.kind(), out.kind);
  get(in.namespace_name(), out.namespace_name);
  get(in.name(), out.name);
  get(in.uid(), out.uid);
  get(in.owner_kind(), out.owner_kind);
  get(in.owner_name(), out.owner_name);
  out.replicas = in.replicas();
  get(in.shape(), out.shape);
  get_all(in.labels(), out.labels);
}

Offset<log::ObjectGone> put(Builder& b, const ObjectGone& v) {
  const auto kind = put(b, v.key.kind);
  const auto namespace_name = put(b, v.key.namespace_name);
  return log::CreateObjectGone(b, kind, namespace_name, put(b, v.key.name));
}
void get(const log::ObjectGone& in, ObjectGone& out) {
  get(in.kind(), out.key.kind);
  get(in.namespace_name(), out.key.namespace_name);
  get(in.name(), out.key.name);
}

}  // namespace karst::events::codec
