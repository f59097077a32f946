// Pod shapes.
#include "events/codec_values.h"

namespace karst::events::codec {
Offset<log::NodeSelectorTerm> put(Builder& b, const model::NodeSelectorTerm& v) {
  return log::CreateNodeSelectorTerm(b, put_all(b, v.expressions), v.has_match_fields);
}
void get(const log::NodeSelectorTerm& in, model::NodeSelectorTerm& out) {
  get_all(in.expressions(), out.expressions);
  out.has_match_fields = in.has_match_fields();
}

Offset<log::PreferredTerm> put(Builder& b, const model::PreferredTerm& v) {
  return log::CreatePreferredTerm(b, v.weight, put(b, v.term));
}
void get(const log::PreferredTerm& in, model::PreferredTerm& out) {
  out.weight = in.weight();
  if (in.term() != nullptr) get(*in.term(), out.term);
}

Offset<log::Toleration> put(Builder& b, const model::Toleration& v) {
  const auto key = put(b, v.key);
  const auto value = put(b, v.value);
  return log::CreateToleration(
      b, key, v.exists, value, v.effect.has_value(),
      as<log::TaintEffect>(v.effect.value_or(model::TaintEffect::kNoSchedule)),
      v.seconds.has_value(), v.seconds.value_or(0));
}
void get(const log::Toleration& in, model::Toleration& out) {
  get(in.key(), out.key);
  out.exists = in.exists();
  get(in.value(), out.value);
  if (in.has_effect()) out.effect = as<model::TaintEffect>(in.effect());
  get_optional(in.has_seconds(), in.seconds(), out.seconds);
}

Offset<log::LabelSelector> put(Builder& b, const model::LabelSelector& v) {
  return log::CreateLabelSelector(b, put_all(b, v.expressions), v.matches_nothing);
}
void get(const log::LabelSelector& in, model::LabelSelector& out) {
  get_all(in.expressions(), out.expressions);
  out.matches_nothing = in.matches_nothing();
}

Offset<log::SpreadConstraint> put(Builder& b, const model::SpreadConstraint& v) {
  const auto key = put(b, v.topology_key);
  const auto selector = put(b, v.selector);
  return log::CreateSpreadConstraint(b, key, v.max_skew, v.schedule_anyway, selector, v.min_domains,
                                     put_texts(b, v.match_label_keys), v.ignore_node_affinity,
                                     v.honor_node_taints);
}
void get(const log::SpreadConstraint& in, model::SpreadConstraint& out) {
  get(in.topology_key(), out.topology_key);
  out.max_skew = in.max_skew();
  out.schedule_anyway = in.schedule_anyway();
  if (in.selector() != nullptr) get(*in.selector(), out.selector);
  out.min_domains = in.min_domains();
  get_texts(in.match_label_keys(), out.match_label_keys);
  out.ignore_node_affinity = in.ignore_node_affinity();
  out.honor_node_taints = in.honor_node_taints();
}

Offset<log::PodAffinityTerm> put(Builder& b, const model::PodAffinityTerm& v) {
  const auto key = put(b, v.topology_key);
  const auto selector = put(b, v.selector);
  const auto namespaces = put_texts(b, v.namespaces);
  const auto namespace_selector =
      v.namespace_selector ? put(b, *v.namespace_selector) : Offset<log::LabelSelector>();
  const auto match = put_texts(b, v.match_label_keys);
  const auto mismatch = put_texts(b, v.mismatch_label_keys);
  return log::CreatePodAffinityTerm(b, v.anti, v.preferred_weight, key, selector, namespaces,
                                    namespace_selector, match, mismatch);
}
void get(const log::PodAffinityTerm& in, model::PodAffinityTerm& out) {
  out.anti = in.anti();
  out.preferred_weight = in.preferred_weight();
  get(in.topology_key(), out.topology_key);
  if (in.selector() != nullptr) get(*in.selector(), out.selector);
  get_texts(in.namespaces(), out.namespaces);
  if (in.namespace_selector() != nullptr)
    get(*in.namespace_selector(), out.namespace_selector.emplace());
  get_texts(in.match_label_keys(), out.match_label_keys);
  get_texts(in.mismatch_label_keys(), out.mismatch_label_keys);
}

Offset<log::HostPort> put(Builder& b, const model::HostPort& v) {
  const auto ip = put(b, v.ip);
  return log::CreateHostPort(b, ip, v.port, put(b, v.protocol));
}
void get(const log::HostPort& in, model::HostPort& out) {
  get(in.ip(), out.ip);
  out.port = in.port();
  get(in.protocol(), out.protocol);
}

Offset<log::PodShape> put(Builder& b, const model::PodShape& v) {
  const auto requests = put_some(b, v.requests);
  const auto node_selector = put_all(b, v.node_selector);
  const auto required = put_all(b, v.required_terms);
  const auto preferred = put_all(b, v.preferred_terms);
  const auto tolerations = put_all(b, v.tolerations);
  const auto spread = put_all(b, v.spread);
  const auto affinity = put_all(b, v.affinity);
  const auto host_ports = put_all(b, v.host_ports);
  const auto volume_claims = put_texts(b, v.volume_claims);
  const auto priority_class = put(b, v.priority_class);
  return log::CreatePodShape(
      b, requests, node_selector, required, preferred, tolerations, spread, affinity, host_ports,
      volume_claims, v.priority, priority_class, v.grace_seconds, v.deletion_cost,
      as<log::DoNotDisrupt>(v.do_not_disrupt), v.do_not_disrupt_millis, v.gated, v.uses_dra,
      as<log::OwnerKind>(v.owner_kind), v.other_scheduler);
}
void get(const log::PodShape& in, model::PodShape& out) {
  get_some(in.requests(), out.requests);
  get_all(in.node_selector(), out.node_selector);
  get_all(in.required_terms(), out.required_terms);
  get_all(in.preferred_terms(), out.preferred_terms);
  get_all(in.tolerations(), out.tolerations);
  get_all(in.spread(), out.spread);
  get_all(in.affinity(), out.affinity);
  get_all(in.host_ports(), out.host_ports);
  get_texts(in.volume_claims(), out.volume_claims);
  out.priority = in.priority();
  get(in.priority_class(), out.priority_class);
  out.grace_seconds = in.grace_seconds();
  out.deletion_cost = in.deletion_cost();
  out.do_not_disrupt = as<model::DoNotDisrupt>(in.do_not_disrupt());
  out.do_not_disrupt_millis = in.do_not_disrupt_millis();
  out.gated = in.gated();
  out.uses_dra = in.uses_dra();
  out.owner_kind = as<model::OwnerKind>(in.owner_kind());
  out.other_scheduler = in.other_scheduler();
}

}  // namespace karst::events::codec
