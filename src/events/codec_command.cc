// Commands.
#include "events/codec_values.h"

namespace karst::events::codec {

WhyOffset put_why(Builder& b, const model::Command& v) {
  const auto rule = put(b, v.rule);
  const auto reason = put(b, v.reason);
  Offset<flatbuffers::Vector<std::uint64_t>> evidence;
  if (!v.evidence.empty()) {
    std::vector<std::uint64_t> positions;
    positions.reserve(v.evidence.size());
    for (const model::Position& position : v.evidence) positions.push_back(position.value());
    evidence = b.CreateVector(positions);
  }
  return log::CreateWhy(b, rule, reason, evidence);
}
void get_why(const log::Why* in, model::Command& out) {
  if (in == nullptr) return;
  get(in->rule(), out.rule);
  get(in->reason(), out.reason);
  if (in->evidence() == nullptr) return;
  for (const std::uint64_t position : *in->evidence()) out.evidence.emplace_back(position);
}

Offset<log::ObjectRef> put(Builder& b, const model::ObjectRef& v) {
  const auto namespace_name = put(b, v.namespace_name);
  const auto name = put(b, v.name);
  return log::CreateObjectRef(b, as<log::ObjectKind>(v.kind), namespace_name, name, put(b, v.uid));
}
void get(const log::ObjectRef& in, model::ObjectRef& out) {
  out.kind = as<model::ObjectKind>(in.kind());
  get(in.namespace_name(), out.namespace_name);
  get(in.name(), out.name);
  get(in.uid(), out.uid);
}

Offset<log::NodeClaimCreateRequested> put(Builder& b, WhyOffset why,
                                          const model::CreateNodeClaim& v) {
  return log::CreateNodeClaimCreateRequested(b, why, put(b, v.claim));
}
void get(const log::NodeClaimCreateRequested& in, model::CreateNodeClaim& out) {
  get_some(in.claim(), out.claim);
}

Offset<log::ObjectDeleteRequested> put(Builder& b, WhyOffset why, const model::DeleteObject& v) {
  return log::CreateObjectDeleteRequested(b, why, put(b, v.object));
}
void get(const log::ObjectDeleteRequested& in, model::DeleteObject& out) {
  get_some(in.object(), out.object);
}

Offset<log::LaunchItem> put(Builder& b, const model::LaunchItem& v) {
  const auto claim = put(b, v.claim);
  return log::CreateLaunchItem(b, claim, put(b, v.name), v.attempt);
}
void get(const log::LaunchItem& in, model::LaunchItem& out) {
  get(in.claim_uid(), out.claim);
  get(in.name(), out.name);
  out.attempt = in.attempt();
}

Offset<log::AddressUse> put(Builder& b, const model::AddressUse& v) {
  const auto subnet = put(b, v.subnet);
  return log::CreateAddressUse(b, subnet, put(b, v.zone), v.each);
}
void get(const log::AddressUse& in, model::AddressUse& out) {
  get(in.subnet(), out.subnet);
  get(in.zone(), out.zone);
  out.each = in.each();
}

Offset<log::LaunchRequested> put(Builder& b, WhyOffset why, const model::Launch& v) {
  const auto items = put_all(b, v.items);
  const auto token = put(b, v.token);
  const auto pool = put(b, v.pool);
  const auto offers = put_all(b, v.offers);
  const auto requests = put_some(b, v.requests);
  Offset<flatbuffers::Vector<std::uint8_t>> request;
  if (!v.request.empty())
    request =
        b.CreateVector(reinterpret_cast<const std::uint8_t*>(v.request.data()), v.request.size());
  return log::CreateLaunchRequested(b, why, items, token, pool, offers, requests, request,
                                    put_all(b, v.addresses));
}
void get(const log::LaunchRequested& in, model::Launch& out) {
  get_all(in.items(), out.items);
  get(in.token(), out.token);
  get(in.pool(), out.pool);
  get_all(in.offers(), out.offers);
  get_some(in.requests(), out.requests);
  if (in.request() != nullptr) out.request.assign(in.request()->begin(), in.request()->end());
  get_all(in.addresses(), out.addresses);
}

Offset<log::TerminateRequested> put(Builder& b, WhyOffset why, const model::Terminate& v) {
  const auto provider_id = put(b, v.provider_id);
  const auto claim = put(b, v.claim);
  const auto claim_name = put(b, v.claim_name);
  return log::CreateTerminateRequested(b, why, provider_id, claim, claim_name, put(b, v.pool));
}
void get(const log::TerminateRequested& in, model::Terminate& out) {
  get(in.provider_id(), out.provider_id);
  get(in.claim_uid(), out.claim);
  get(in.claim_name(), out.claim_name);
  get(in.pool(), out.pool);
}

Offset<log::TaintRequested> put(Builder& b, WhyOffset why, const model::TaintNode& v) {
  const auto node = put(b, v.node);
  const auto uid = put(b, v.uid);
  return log::CreateTaintRequested(b, why, node, uid, put(b, v.taint), v.add);
}
void get(const log::TaintRequested& in, model::TaintNode& out) {
  get(in.node(), out.node);
  get(in.node_uid(), out.uid);
  get_some(in.taint(), out.taint);
  out.add = in.add();
}

Offset<log::EvictRequested> put(Builder& b, WhyOffset why, const model::EvictPod& v) {
  const auto uid = put(b, v.uid);
  const auto namespace_name = put(b, v.namespace_name);
  const auto name = put(b, v.name);
  return log::CreateEvictRequested(b, why, uid, namespace_name, name, put(b, v.node), v.force,
                                   v.grace_seconds);
}
void get(const log::EvictRequested& in, model::EvictPod& out) {
  get(in.pod_uid(), out.uid);
  get(in.namespace_name(), out.namespace_name);
  get(in.name(), out.name);
  get(in.node(), out.node);
  out.force = in.force();
  out.grace_seconds = in.grace_seconds();
}

Offset<log::FinalizerRequested> put(Builder& b, WhyOffset why, const model::SetFinalizer& v) {
  return log::CreateFinalizerRequested(b, why, put(b, v.object), v.add);
}
void get(const log::FinalizerRequested& in, model::SetFinalizer& out) {
  get_some(in.object(), out.object);
  out.add = in.add();
}

Offset<log::ReadBackRequested> put(Builder& b, WhyOffset why, const model::ReadBackNode& v) {
  const auto node = put(b, v.node);
  return log::CreateReadBackRequested(b, why, node, put(b, v.uid));
}
void get(const log::ReadBackRequested& in, model::ReadBackNode& out) {
  get(in.node(), out.node);
  get(in.node_uid(), out.uid);
}

Offset<log::InstanceFindRequested> put(Builder& b, WhyOffset why, const model::FindInstances& v) {
  const auto claim = put(b, v.claim);
  return log::CreateInstanceFindRequested(b, why, claim, put(b, v.provider_id));
}
void get(const log::InstanceFindRequested& in, model::FindInstances& out) {
  get(in.claim_uid(), out.claim);
  get(in.provider_id(), out.provider_id);
}

Offset<log::NodeSyncRequested> put(Builder& b, WhyOffset why, const model::SyncNode& v) {
  const auto node = put(b, v.node);
  const auto uid = put(b, v.uid);
  const auto labels = put_all(b, v.labels);
  const auto annotations = put_all(b, v.annotations);
  const auto add_taints = put_all(b, v.add_taints);
  const auto remove_taints = put_all(b, v.remove_taints);
  const auto owner = put(b, v.owner);
  return log::CreateNodeSyncRequested(b, why, node, uid, labels, annotations, add_taints,
                                      remove_taints, v.add_finalizer, owner, put(b, v.owner_uid));
}
void get(const log::NodeSyncRequested& in, model::SyncNode& out) {
  get(in.node(), out.node);
  get(in.node_uid(), out.uid);
  get_all(in.labels(), out.labels);
  get_all(in.annotations(), out.annotations);
  get_all(in.add_taints(), out.add_taints);
  get_all(in.remove_taints(), out.remove_taints);
  out.add_finalizer = in.add_finalizer();
  get(in.owner(), out.owner);
  get(in.owner_uid(), out.owner_uid);
}

Offset<log::ClaimMirrorRequested> put(Builder& b, WhyOffset why, const model::MirrorClaim& v) {
  const auto name = put(b, v.name);
  const auto uid = put(b, v.uid);
  const auto labels = put_all(b, v.labels);
  const auto provider_id = put(b, v.provider_id);
  const auto node_name = put(b, v.node_name);
  const auto image = put(b, v.image);
  const auto capacity = put_some(b, v.capacity);
  const auto allocatable = put_some(b, v.allocatable);
  const auto conditions = put_all(b, v.conditions);
  const auto annotations = put_all(b, v.annotations);
  return log::CreateClaimMirrorRequested(b, why, name, uid, labels, provider_id, node_name, image,
                                         capacity, allocatable, conditions, annotations,
                                         put_texts(b, v.cleared));
}
void get(const log::ClaimMirrorRequested& in, model::MirrorClaim& out) {
  get(in.name(), out.name);
  get(in.uid(), out.uid);
  get_all(in.labels(), out.labels);
  get(in.provider_id(), out.provider_id);
  get(in.node_name(), out.node_name);
  get(in.image(), out.image);
  get_some(in.capacity(), out.capacity);
  get_some(in.allocatable(), out.allocatable);
  get_all(in.conditions(), out.conditions);
  get_all(in.annotations(), out.annotations);
  get_texts(in.cleared(), out.cleared);
}

Offset<log::PoolMirrorRequested> put(Builder& b, WhyOffset why, const model::MirrorPool& v) {
  const auto name = put(b, v.name);
  const auto uid = put(b, v.uid);
  const auto resources = put_some(b, v.resources);
  const auto conditions = put_all(b, v.conditions);
  const auto hash = put(b, v.hash);
  return log::CreatePoolMirrorRequested(b, why, name, uid, resources, v.nodes,
                                        v.node_class_observed_generation, conditions, hash,
                                        put(b, v.hash_version));
}
void get(const log::PoolMirrorRequested& in, model::MirrorPool& out) {
  get(in.name(), out.name);
  get(in.uid(), out.uid);
  get_some(in.resources(), out.resources);
  out.nodes = in.nodes();
  out.node_class_observed_generation = in.node_class_observed_generation();
  get_all(in.conditions(), out.conditions);
  get(in.hash(), out.hash);
  get(in.hash_version(), out.hash_version);
}

Offset<log::StatusMirrorRequested> put(Builder& b, WhyOffset why, const model::MirrorStatus& v) {
  const auto group = put(b, v.group);
  const auto kind = put(b, v.kind);
  const auto namespace_name = put(b, v.namespace_name);
  const auto name = put(b, v.name);
  const auto uid = put(b, v.uid);
  const auto conditions = put_all(b, v.conditions);
  const auto fields_json = put(b, v.fields_json);
  return log::CreateStatusMirrorRequested(b, why, group, kind, namespace_name, name, uid,
                                          conditions, fields_json, put_texts(b, v.cleared));
}
void get(const log::StatusMirrorRequested& in, model::MirrorStatus& out) {
  get(in.group(), out.group);
  get(in.kind(), out.kind);
  get(in.namespace_name(), out.namespace_name);
  get(in.name(), out.name);
  get(in.uid(), out.uid);
  get_all(in.conditions(), out.conditions);
  get(in.fields_json(), out.fields_json);
  get_texts(in.cleared(), out.cleared);
}

Offset<log::NodeClassResolveRequested> put(Builder& b, WhyOffset why,
                                           const model::ResolveNodeClass& v) {
  const auto ref = put_some(b, v.ref);
  const auto uid = put(b, v.uid);
  const auto request = put(b, v.request);
  return log::CreateNodeClassResolveRequested(b, why, ref, uid, v.generation, request,
                                              put(b, v.known));
}
void get(const log::NodeClassResolveRequested& in, model::ResolveNodeClass& out) {
  get_some(in.ref(), out.ref);
  get(in.uid(), out.uid);
  out.generation = in.generation();
  get(in.request(), out.request);
  get(in.known(), out.known);
}

Offset<log::NodeClassSyncRequested> put(Builder& b, WhyOffset why, const model::SyncNodeClass& v) {
  const auto ref = put_some(b, v.ref);
  const auto uid = put(b, v.uid);
  const auto hash = put(b, v.hash);
  return log::CreateNodeClassSyncRequested(b, why, ref, uid, v.add_finalizer, v.remove_finalizer,
                                           hash, put(b, v.hash_version));
}
void get(const log::NodeClassSyncRequested& in, model::SyncNodeClass& out) {
  get_some(in.ref(), out.ref);
  get(in.uid(), out.uid);
  out.add_finalizer = in.add_finalizer();
  out.remove_finalizer = in.remove_finalizer();
  get(in.hash(), out.hash);
  get(in.hash_version(), out.hash_version);
}

Offset<log::NodeClassReleaseRequested> put(Builder& b, WhyOffset why,
                                           const model::ReleaseNodeClass& v) {
  const auto ref = put_some(b, v.ref);
  const auto uid = put(b, v.uid);
  return log::CreateNodeClassReleaseRequested(b, why, ref, uid, put(b, v.request));
}
void get(const log::NodeClassReleaseRequested& in, model::ReleaseNodeClass& out) {
  get_some(in.ref(), out.ref);
  get(in.uid(), out.uid);
  get(in.request(), out.request);
}

}  // namespace karst::events::codec
