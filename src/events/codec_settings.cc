// Observations of what people set and clouds offer: pools, node classes, catalogues, prices.
#include "events/codec_values.h"

namespace karst::events::codec {

Offset<log::Budget> put(Builder& b, const model::Budget& v) {
  const auto nodes = put(b, v.nodes);
  const auto reasons = put_texts(b, v.reasons);
  return log::CreateBudget(b, nodes, reasons, put(b, v.schedule), v.duration_millis);
}
void get(const log::Budget& in, model::Budget& out) {
  out.nodes.clear();  // left out means empty, not the default of a budget that nobody wrote
  get(in.nodes(), out.nodes);
  get_texts(in.reasons(), out.reasons);
  get(in.schedule(), out.schedule);
  out.duration_millis = in.duration_millis();
}

Offset<log::NodePoolObserved> put(Builder& b, const NodePoolObserved& v) {
  const model::NodePool& pool = v.pool;
  const auto name = put(b, pool.name);
  const auto uid = put(b, pool.uid);
  const auto labels = put_all(b, pool.template_labels);
  const auto annotations = put_all(b, pool.template_annotations);
  const auto requirements = put_all(b, pool.requirements);
  const auto taints = put_all(b, pool.taints);
  const auto startup_taints = put_all(b, pool.startup_taints);
  const auto node_class = put_some(b, pool.node_class);
  const auto budgets = put_all(b, pool.budgets);
  const auto limits = put_all(b, pool.limits);
  const auto hash = put(b, pool.hash);
  const auto hash_version = put(b, pool.hash_version);
  const auto conditions = put_all(b, pool.conditions);
  const auto status_resources = put_some(b, pool.status_resources);
  const auto expire_after = put(b, pool.expire_after);
  return log::CreateNodePoolObserved(
      b, name, uid, pool.generation, labels, annotations, requirements, taints, startup_taints,
      node_class, pool.expire_after_millis.has_value(), pool.expire_after_millis.value_or(0),
      pool.termination_grace_millis.has_value(), pool.termination_grace_millis.value_or(0),
      pool.consolidate_after_millis.has_value(), pool.consolidate_after_millis.value_or(0),
      as<log::ConsolidationPolicy>(pool.consolidation_policy), budgets, limits, pool.weight,
      pool.replicas.has_value(), pool.replicas.value_or(0), pool.deletion_millis,
      pool.creation_millis, hash, hash_version, conditions, status_resources, pool.status_nodes,
      pool.node_class_observed_generation, pool.empty_fields, expire_after);
}
void get(const log::NodePoolObserved& in, NodePoolObserved& out) {
  model::NodePool& pool = out.pool;
  get(in.name(), pool.name);
  get(in.uid(), pool.uid);
  pool.generation = in.generation();
  get_all(in.template_labels(), pool.template_labels);
  get_all(in.template_annotations(), pool.template_annotations);
  get_all(in.requirements(), pool.requirements);
  get_all(in.taints(), pool.taints);
  get_all(in.startup_taints(), pool.startup_taints);
  get_some(in.node_class(), pool.node_class);
  get_optional(in.has_expire_after(), in.expire_after_millis(), pool.expire_after_millis);
  get_optional(in.has_termination_grace(), in.termination_grace_millis(),
               pool.termination_grace_millis);
  get_optional(in.has_consolidate_after(), in.consolidate_after_millis(),
               pool.consolidate_after_millis);
  pool.consolidation_policy = as<model::ConsolidationPolicy>(in.consolidation_policy());
  get_all(in.budgets(), pool.budgets);
  get_all(in.limits(), pool.limits);
  pool.weight = in.weight();
  get_optional(in.has_replicas(), in.replicas(), pool.replicas);
  pool.deletion_millis = in.deletion_millis();
  pool.creation_millis = in.creation_millis();
  get(in.hash(), pool.hash);
  get(in.hash_version(), pool.hash_version);
  get_all(in.conditions(), pool.conditions);
  get_some(in.status_resources(), pool.status_resources);
  pool.status_nodes = in.status_nodes();
  pool.node_class_observed_generation = in.node_class_observed_generation();
  pool.empty_fields = in.empty_fields();
  get(in.expire_after(), pool.expire_after);
}

Offset<log::NodePoolGone> put(Builder& b, const NodePoolGone& v) {
  return log::CreateNodePoolGone(b, put(b, v.name));
}
void get(const log::NodePoolGone& in, NodePoolGone& out) {
  get(in.name(), out.name);
}

Offset<log::NodeClassObserved> put(Builder& b, const NodeClassObserved& v) {
  const auto ref = put_some(b, v.node_class.ref);
  const auto uid = put(b, v.node_class.uid);
  const auto spec = put(b, v.node_class.spec_json);
  const auto ready = put_some(b, v.node_class.ready_condition);
  const auto hash = put(b, v.node_class.hash);
  return log::CreateNodeClassObserved(
      b, ref, uid, v.node_class.generation, v.node_class.ready, v.node_class.deletion_millis, spec,
      ready, v.node_class.has_finalizer, hash, put(b, v.node_class.hash_version));
}
void get(const log::NodeClassObserved& in, NodeClassObserved& out) {
  get_some(in.ref(), out.node_class.ref);
  get(in.uid(), out.node_class.uid);
  out.node_class.generation = in.generation();
  out.node_class.ready = in.ready();
  out.node_class.deletion_millis = in.deletion_millis();
  get(in.spec_json(), out.node_class.spec_json);
  get_some(in.ready_condition(), out.node_class.ready_condition);
  out.node_class.has_finalizer = in.has_finalizer();
  get(in.hash(), out.node_class.hash);
  get(in.hash_version(), out.node_class.hash_version);
}

Offset<log::NodeClassGone> put(Builder& b, const NodeClassGone& v) {
  return log::CreateNodeClassGone(b, put_some(b, v.ref));
}
void get(const log::NodeClassGone& in, NodeClassGone& out) {
  get_some(in.ref(), out.ref);
}

Offset<log::Offering> put(Builder& b, const model::Offering& v) {
  const auto zone = put(b, v.zone);
  const auto capacity_type = put(b, v.capacity_type);
  const auto reservation = put(b, v.reservation);
  return log::CreateOffering(b, zone, capacity_type, v.price_nanos_per_hour, v.available,
                             reservation, v.reservation_count, put_all(b, v.labels));
}
void get(const log::Offering& in, model::Offering& out) {
  get(in.zone(), out.zone);
  get(in.capacity_type(), out.capacity_type);
  out.price_nanos_per_hour = in.price_nanos_per_hour();
  out.available = in.available();
  get(in.reservation(), out.reservation);
  out.reservation_count = in.reservation_count();
  get_all(in.labels(), out.labels);
}

Offset<log::InstanceType> put(Builder& b, const model::InstanceType& v) {
  const auto name = put(b, v.name);
  const auto requirements = put_all(b, v.requirements);
  const auto capacity = put_some(b, v.capacity);
  const auto allocatable = put_some(b, v.allocatable);
  const auto offerings = put_all(b, v.offerings);
  const auto facts = put(b, v.facts);
  return log::CreateInstanceType(b, name, requirements, capacity, allocatable, offerings, facts,
                                 put_all(b, v.attach_limits));
}
void get(const log::InstanceType& in, model::InstanceType& out) {
  get(in.name(), out.name);
  get_all(in.requirements(), out.requirements);
  get_some(in.capacity(), out.capacity);
  get_some(in.allocatable(), out.allocatable);
  get_all(in.offerings(), out.offerings);
  get(in.facts(), out.facts);
  get_all(in.attach_limits(), out.attach_limits);
}

Offset<log::CatalogueObserved> put(Builder& b, const CatalogueObserved& v) {
  const auto provider = put(b, v.catalogue.provider);
  const auto types = put_all(b, v.catalogue.types);
  const auto on_demand_source = put(b, v.on_demand_source);
  return log::CreateCatalogueObserved(b, provider, types, on_demand_source, put(b, v.spot_source));
}
void get(const log::CatalogueObserved& in, CatalogueObserved& out) {
  get(in.provider(), out.catalogue.provider);
  get_all(in.types(), out.catalogue.types);
  get(in.on_demand_source(), out.on_demand_source);
  get(in.spot_source(), out.spot_source);
}

Offset<log::PricesObserved> put(Builder& b, const PricesObserved& v) {
  const auto provider = put(b, v.update.provider);
  return log::CreatePricesObserved(b, provider, put_all(b, v.update.prices), v.on_demand_read,
                                   v.spot_read);
}
void get(const log::PricesObserved& in, PricesObserved& out) {
  get(in.provider(), out.update.provider);
  get_all(in.prices(), out.update.prices);
  out.on_demand_read = in.on_demand_read();
  out.spot_read = in.spot_read();
}

}  // namespace karst::events::codec
