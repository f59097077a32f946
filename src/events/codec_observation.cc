// Observations.
#include "events/codec_values.h"

namespace karst::events::codec {

Offset<log::ShapeRecorded> put(Builder& b, const ShapeRecorded& v) {
  const log::ShapeHash hash = wire(v.hash);
  return log::CreateShapeRecorded(b, &hash, put(b, v.shape));
}
void get(const log::ShapeRecorded& in, ShapeRecorded& out) {
  get(in.hash(), out.hash);
  get_some(in.shape(), out.shape);
}

Offset<log::PodObserved> put(Builder& b, const PodObserved& v) {
  const model::Pod& pod = v.pod;
  const auto uid = put(b, pod.uid);
  const auto namespace_name = put(b, pod.namespace_name);
  const auto name = put(b, pod.name);
  const auto labels = put_all(b, pod.labels);
  const auto node = put(b, pod.node);
  const auto nominated_node = put(b, pod.nominated_node);
  const auto owner_name = put(b, pod.owner_name);
  const log::ShapeHash shape = wire(pod.shape);
  return log::CreatePodObserved(b, uid, namespace_name, name, &shape, labels, node, nominated_node,
                                as<log::PodPhase>(pod.phase), pod.unschedulable, pod.ready,
                                owner_name, pod.creation_millis, pod.deletion_millis,
                                pod.start_millis);
}
void get(const log::PodObserved& in, PodObserved& out) {
  model::Pod& pod = out.pod;
  get(in.uid(), pod.uid);
  get(in.namespace_name(), pod.namespace_name);
  get(in.name(), pod.name);
  get(in.shape(), pod.shape);
  get_all(in.labels(), pod.labels);
  get(in.node(), pod.node);
  get(in.nominated_node(), pod.nominated_node);
  pod.phase = as<model::PodPhase>(in.phase());
  pod.unschedulable = in.unschedulable();
  pod.ready = in.ready();
  get(in.owner_name(), pod.owner_name);
  pod.creation_millis = in.creation_millis();
  pod.deletion_millis = in.deletion_millis();
  pod.start_millis = in.start_millis();
}

Offset<log::PodGone> put(Builder& b, const PodGone& v) {
  const auto uid = put(b, v.uid);
  const auto namespace_name = put(b, v.namespace_name);
  return log::CreatePodGone(b, uid, namespace_name, put(b, v.name));
}
void get(const log::PodGone& in, PodGone& out) {
  get(in.uid(), out.uid);
  get(in.namespace_name(), out.namespace_name);
  get(in.name(), out.name);
}

Offset<log::NodeObserved> put(Builder& b, const NodeObserved& v) {
  const model::Node& node = v.node;
  const auto uid = put(b, node.uid);
  const auto name = put(b, node.name);
  const auto provider_id = put(b, node.provider_id);
  const auto labels = put_all(b, node.labels);
  const auto annotations = put_all(b, node.annotations);
  const auto taints = put_all(b, node.taints);
  const auto capacity = put_some(b, node.capacity);
  const auto allocatable = put_some(b, node.allocatable);
  const auto troubles = put_all(b, node.troubles);
  return log::CreateNodeObserved(b, uid, name, provider_id, labels, annotations, taints, capacity,
                                 allocatable, node.ready, node.cordoned, node.has_finalizer,
                                 node.creation_millis, node.deletion_millis, troubles);
}
void get(const log::NodeObserved& in, NodeObserved& out) {
  model::Node& node = out.node;
  get(in.uid(), node.uid);
  get(in.name(), node.name);
  get(in.provider_id(), node.provider_id);
  get_all(in.labels(), node.labels);
  get_all(in.annotations(), node.annotations);
  get_all(in.taints(), node.taints);
  get_some(in.capacity(), node.capacity);
  get_some(in.allocatable(), node.allocatable);
  node.ready = in.ready();
  node.cordoned = in.cordoned();
  node.has_finalizer = in.has_finalizer();
  node.creation_millis = in.creation_millis();
  node.deletion_millis = in.deletion_millis();
  get_all(in.troubles(), node.troubles);
}

Offset<log::NodeGone> put(Builder& b, const NodeGone& v) {
  const auto uid = put(b, v.uid);
  return log::CreateNodeGone(b, uid, put(b, v.name));
}
void get(const log::NodeGone& in, NodeGone& out) {
  get(in.uid(), out.uid);
  get(in.name(), out.name);
}

Offset<log::NodeClaimObserved> put(Builder& b, const NodeClaimObserved& v) {
  return log::CreateNodeClaimObserved(b, put(b, v.claim));
}
void get(const log::NodeClaimObserved& in, NodeClaimObserved& out) {
  get_some(in.claim(), out.claim);
}

Offset<log::NodeClaimGone> put(Builder& b, const NodeClaimGone& v) {
  const auto uid = put(b, v.uid);
  return log::CreateNodeClaimGone(b, uid, put(b, v.name));
}
void get(const log::NodeClaimGone& in, NodeClaimGone& out) {
  get(in.uid(), out.uid);
  get(in.name(), out.name);
}

Offset<log::DaemonSetObserved> put(Builder& b, const DaemonSetObserved& v) {
  const auto uid = put(b, v.daemon_set.uid);
  const auto namespace_name = put(b, v.daemon_set.namespace_name);
  const auto name = put(b, v.daemon_set.name);
  const log::ShapeHash shape = wire(v.daemon_set.shape);
  return log::CreateDaemonSetObserved(b, uid, namespace_name, name, &shape,
                                      v.daemon_set.deletion_millis);
}
void get(const log::DaemonSetObserved& in, DaemonSetObserved& out) {
  get(in.uid(), out.daemon_set.uid);
  get(in.namespace_name(), out.daemon_set.namespace_name);
  get(in.name(), out.daemon_set.name);
  get(in.shape(), out.daemon_set.shape);
  out.daemon_set.deletion_millis = in.deletion_millis();
}

Offset<log::DaemonSetGone> put(Builder& b, const DaemonSetGone& v) {
  return log::CreateDaemonSetGone(b, put(b, v.uid));
}
void get(const log::DaemonSetGone& in, DaemonSetGone& out) {
  get(in.uid(), out.uid);
}

Offset<log::InterruptionReceived> put(Builder& b, const InterruptionReceived& v) {
  const model::Interruption& i = v.interruption;
  const auto message = put(b, i.message);
  const auto provider_id = put(b, i.provider_id);
  return log::CreateInterruptionReceived(b, message, as<log::InterruptionKind>(i.kind), provider_id,
                                         i.deadline_millis, i.sent_millis, put(b, i.reason));
}
void get(const log::InterruptionReceived& in, InterruptionReceived& out) {
  model::Interruption& i = out.interruption;
  get(in.message(), i.message);
  i.kind = as<model::InterruptionKind>(in.kind());
  get(in.provider_id(), i.provider_id);
  i.deadline_millis = in.deadline_millis();
  i.sent_millis = in.sent_millis();
  get(in.reason(), i.reason);
}

Offset<log::InstanceObserved> put(Builder& b, const InstanceObserved& v) {
  return log::CreateInstanceObserved(b, put(b, v.instance));
}
void get(const log::InstanceObserved& in, InstanceObserved& out) {
  get_some(in.instance(), out.instance);
}

Offset<log::InstanceGone> put(Builder& b, const InstanceGone& v) {
  return log::CreateInstanceGone(b, put(b, v.provider_id));
}
void get(const log::InstanceGone& in, InstanceGone& out) {
  get(in.provider_id(), out.provider_id);
}

Offset<log::ListStarted> put(Builder& b, const ListStarted& v) {
  return log::CreateListStarted(b, put(b, v.kind));
}
void get(const log::ListStarted& in, ListStarted& out) {
  get(in.kind(), out.kind);
}

Offset<log::ListEnded> put(Builder& b, const ListEnded& v) {
  const auto kind = put(b, v.kind);
  const auto version = put(b, v.version);
  return log::CreateListEnded(b, kind, version, put_texts(b, v.unsure));
}
void get(const log::ListEnded& in, ListEnded& out) {
  get(in.kind(), out.kind);
  get(in.version(), out.version);
  get_texts(in.unsure(), out.unsure);
}

Offset<log::SourceBeat> put(Builder& b, const SourceBeat& v) {
  const auto source = put(b, v.source);
  return log::CreateSourceBeat(b, source, put(b, v.version));
}
void get(const log::SourceBeat& in, SourceBeat& out) {
  get(in.source(), out.source);
  get(in.version(), out.version);
}

Offset<log::InputRefused> put(Builder& b, const InputRefused& v) {
  const auto source = put(b, v.source);
  const auto id = put(b, v.id);
  const auto reason = put(b, v.reason);
  return log::CreateInputRefused(b, source, id, reason, put(b, v.digest));
}
void get(const log::InputRefused& in, InputRefused& out) {
  get(in.source(), out.source);
  get(in.id(), out.id);
  get(in.reason(), out.reason);
  get(in.digest(), out.digest);
}

}  // namespace karst::events::codec
