// Values that several events share.
#include "events/codec_values.h"

namespace karst::events::codec {

Offset<log::Pair> put(Builder& b, const std::pair<std::string, std::string>& v) {
  const auto key = put(b, v.first);
  return log::CreatePair(b, key, put(b, v.second));
}
void get(const log::Pair& in, std::pair<std::string, std::string>& out) {
  get(in.key(), out.first);
  get(in.value(), out.second);
}

Offset<log::Amount> put(Builder& b, const std::pair<std::string, std::int64_t>& v) {
  return log::CreateAmount(b, put(b, v.first), v.second);
}
void get(const log::Amount& in, std::pair<std::string, std::int64_t>& out) {
  get(in.name(), out.first);
  out.second = in.amount();
}

Offset<log::Resources> put(Builder& b, const model::Resources& v) {
  return log::CreateResources(b, v.cpu_millis, v.memory_bytes, v.ephemeral_bytes, v.pods,
                              put_all(b, v.extended));
}
void get(const log::Resources& in, model::Resources& out) {
  out.cpu_millis = in.cpu_millis();
  out.memory_bytes = in.memory_bytes();
  out.ephemeral_bytes = in.ephemeral_bytes();
  out.pods = in.pods();
  get_all(in.extended(), out.extended);
}

Offset<log::Requirement> put(Builder& b, const model::RequirementSpec& v) {
  const auto key = put(b, v.key);
  return log::CreateRequirement(b, key, as<log::Operator>(v.op), put_texts(b, v.values),
                                v.min_values);
}
void get(const log::Requirement& in, model::RequirementSpec& out) {
  get(in.key(), out.key);
  out.op = as<model::Operator>(in.op());
  get_texts(in.values(), out.values);
  out.min_values = in.min_values();
}

Offset<log::Taint> put(Builder& b, const model::Taint& v) {
  const auto key = put(b, v.key);
  return log::CreateTaint(b, key, put(b, v.value), as<log::TaintEffect>(v.effect));
}
void get(const log::Taint& in, model::Taint& out) {
  get(in.key(), out.key);
  get(in.value(), out.value);
  out.effect = as<model::TaintEffect>(in.effect());
}

Offset<log::NodeClassRef> put(Builder& b, const model::NodeClassRef& v) {
  const auto group = put(b, v.group);
  const auto kind = put(b, v.kind);
  return log::CreateNodeClassRef(b, group, kind, put(b, v.name));
}
void get(const log::NodeClassRef& in, model::NodeClassRef& out) {
  get(in.group(), out.group);
  get(in.kind(), out.kind);
  get(in.name(), out.name);
}

Offset<log::Offer> put(Builder& b, const model::Offer& v) {
  const auto instance_type = put(b, v.instance_type);
  const auto zone = put(b, v.zone);
  const auto capacity_type = put(b, v.capacity_type);
  return log::CreateOffer(b, instance_type, zone, capacity_type, v.price_nanos_per_hour,
                          put(b, v.reservation));
}
void get(const log::Offer& in, model::Offer& out) {
  get(in.instance_type(), out.instance_type);
  get(in.zone(), out.zone);
  get(in.capacity_type(), out.capacity_type);
  out.price_nanos_per_hour = in.price_nanos_per_hour();
  get(in.reservation(), out.reservation);
}

Offset<log::Instance> put(Builder& b, const model::Instance& v) {
  const auto provider_id = put(b, v.provider_id);
  const auto claim = put(b, v.claim);
  const auto command_tag = put(b, v.command_tag);
  const auto offer = put_some(b, v.offer);
  const auto capacity = put_some(b, v.capacity);
  const auto allocatable = put_some(b, v.allocatable);
  const auto image = put(b, v.image);
  const auto claim_name = put(b, v.claim_name);
  const auto subnet = put(b, v.subnet);
  return log::CreateInstance(b, provider_id, claim, v.attempt, command_tag, offer,
                             as<log::InstanceState>(v.state), capacity, allocatable, image,
                             v.launch_millis, claim_name, subnet, put_texts(b, v.security_groups));
}
void get(const log::Instance& in, model::Instance& out) {
  get(in.provider_id(), out.provider_id);
  get(in.claim_uid(), out.claim);
  out.attempt = in.attempt();
  get(in.command_tag(), out.command_tag);
  get_some(in.offer(), out.offer);
  out.state = as<model::InstanceState>(in.state());
  get_some(in.capacity(), out.capacity);
  get_some(in.allocatable(), out.allocatable);
  get(in.image(), out.image);
  out.launch_millis = in.launch_millis();
  get(in.claim_name(), out.claim_name);
  get(in.subnet(), out.subnet);
  get_texts(in.security_groups(), out.security_groups);
}

Offset<log::Condition> put(Builder& b, const model::Condition& v) {
  const auto type = put(b, v.type);
  const auto reason = put(b, v.reason);
  return log::CreateCondition(b, type, as<log::ConditionStatus>(v.status), reason,
                              put(b, v.message), v.transition_millis, v.observed_generation);
}
void get(const log::Condition& in, model::Condition& out) {
  get(in.type(), out.type);
  out.status = as<model::ConditionStatus>(in.status());
  get(in.reason(), out.reason);
  get(in.message(), out.message);
  out.transition_millis = in.transition_millis();
  out.observed_generation = in.observed_generation();
}

Offset<log::NodeClaim> put(Builder& b, const model::NodeClaim& v) {
  const auto name = put(b, v.name);
  const auto uid = put(b, v.uid);
  const auto pool = put(b, v.pool);
  const auto pool_uid = put(b, v.pool_uid);
  const auto labels = put_all(b, v.labels);
  const auto annotations = put_all(b, v.annotations);
  const auto requirements = put_all(b, v.requirements);
  const auto requests = put_some(b, v.requests);
  const auto taints = put_all(b, v.taints);
  const auto startup_taints = put_all(b, v.startup_taints);
  const auto node_class = put_some(b, v.node_class);
  const auto provider_id = put(b, v.provider_id);
  const auto node_name = put(b, v.node_name);
  const auto capacity = put_some(b, v.capacity);
  const auto allocatable = put_some(b, v.allocatable);
  const auto conditions = put_all(b, v.conditions);
  const auto expire_after = put(b, v.expire_after);
  return log::CreateNodeClaim(
      b, name, uid, pool, pool_uid, labels, annotations, requirements, requests, taints,
      startup_taints, node_class, v.expire_after_millis.has_value(),
      v.expire_after_millis.value_or(0), v.termination_grace_millis.has_value(),
      v.termination_grace_millis.value_or(0), v.has_finalizer, v.creation_millis, v.deletion_millis,
      provider_id, node_name, capacity, allocatable, conditions, expire_after);
}
void get(const log::NodeClaim& in, model::NodeClaim& out) {
  get(in.name(), out.name);
  get(in.uid(), out.uid);
  get(in.pool(), out.pool);
  get(in.pool_uid(), out.pool_uid);
  get_all(in.labels(), out.labels);
  get_all(in.annotations(), out.annotations);
  get_all(in.requirements(), out.requirements);
  get_some(in.requests(), out.requests);
  get_all(in.taints(), out.taints);
  get_all(in.startup_taints(), out.startup_taints);
  get_some(in.node_class(), out.node_class);
  get_optional(in.has_expire_after(), in.expire_after_millis(), out.expire_after_millis);
  get_optional(in.has_termination_grace(), in.termination_grace_millis(),
               out.termination_grace_millis);
  out.has_finalizer = in.has_finalizer();
  out.creation_millis = in.creation_millis();
  out.deletion_millis = in.deletion_millis();
  get(in.provider_id(), out.provider_id);
  get(in.node_name(), out.node_name);
  get_some(in.capacity(), out.capacity);
  get_some(in.allocatable(), out.allocatable);
  get_all(in.conditions(), out.conditions);
  get(in.expire_after(), out.expire_after);
}

}  // namespace karst::events::codec
