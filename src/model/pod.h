// Pods. What a pod asks for is a PodShape, logged once and referred to by hash, so that equal pods
// are one row; what differs between equal pods (name, labels, node, phase) is the Pod. No
// environment, no annotation values outside the few named here, no secrets: what is not in these
// structs never reaches the log.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/ids.h"
#include "model/labels.h"
#include "model/requirements.h"
#include "model/resources.h"
#include "model/taint.h"

namespace karst::model {

struct NodeSelectorTerm {
  std::vector<RequirementSpec> expressions;
  bool has_match_fields = false;  // not supported: such a pod is refused with a reason
  friend bool operator==(const NodeSelectorTerm&, const NodeSelectorTerm&) = default;
};

struct PreferredTerm {
  std::int32_t weight = 1;  // 1 to 100
  NodeSelectorTerm term;
  friend bool operator==(const PreferredTerm&, const PreferredTerm&) = default;
};

struct LabelSelector {
  std::vector<RequirementSpec> expressions;  // matchLabels become In with one value
  bool matches_nothing = false;              // an absent selector
  friend bool operator==(const LabelSelector&, const LabelSelector&) = default;
};

struct SpreadConstraint {
  std::string topology_key;
  std::int32_t max_skew = 1;
  bool schedule_anyway = false;
  LabelSelector selector;
  std::int32_t min_domains = 0;  // 0: not given
  std::vector<std::string> match_label_keys;
  bool ignore_node_affinity = false;  // nodeAffinityPolicy Ignore (default Honor)
  bool honor_node_taints = false;     // nodeTaintsPolicy Honor (default Ignore)
  friend bool operator==(const SpreadConstraint&, const SpreadConstraint&) = default;
};

struct PodAffinityTerm {
  bool anti = false;
  std::int32_t preferred_weight = 0;  // 0: required
  std::string topology_key;
  LabelSelector selector;
  std::vector<std::string> namespaces;
  std::optional<LabelSelector> namespace_selector;
  std::vector<std::string> match_label_keys;
  std::vector<std::string> mismatch_label_keys;
  friend bool operator==(const PodAffinityTerm&, const PodAffinityTerm&) = default;
};

struct HostPort {
  std::string ip;
  std::int32_t port = 0;
  std::string protocol;  // TCP, UDP, SCTP
  friend auto operator<=>(const HostPort&, const HostPort&) = default;
};

enum class OwnerKind {
  kNone = 0,
  kReplicaSet = 1,
  kStatefulSet = 2,
  kDaemonSet = 3,
  kJob = 4,
  kNode = 5,
  kOther = 6
};

// karpenter.sh/do-not-disrupt: never, for ever ("true"), or until start + duration.
enum class DoNotDisrupt { kNo = 0, kForever = 1, kForDuration = 2 };

struct PodShape {
  Resources requests;  // init containers, sidecars and overhead folded in; pods is 1
  Labels node_selector;
  std::vector<NodeSelectorTerm> required_terms;  // one of them must hold; empty: no demand
  std::vector<PreferredTerm> preferred_terms;
  std::vector<Toleration> tolerations;
  std::vector<SpreadConstraint> spread;
  std::vector<PodAffinityTerm> affinity;
  std::vector<HostPort> host_ports;
  std::vector<std::string> volume_claims;  // names of PersistentVolumeClaims
  std::int32_t priority = 0;
  std::string priority_class;
  std::int64_t grace_seconds = 30;
  std::int32_t deletion_cost = 0;
  DoNotDisrupt do_not_disrupt = DoNotDisrupt::kNo;
  std::int64_t do_not_disrupt_millis = 0;  // for kForDuration
  bool gated = false;                      // has scheduling gates
  bool uses_dra = false;
  OwnerKind owner_kind = OwnerKind::kNone;
  bool other_scheduler = false;  // spec.schedulerName is not kube-scheduler's default
  friend bool operator==(const PodShape&, const PodShape&) = default;
};

ShapeHash hash_of(const PodShape& shape);

enum class PodPhase { kPending = 0, kRunning = 1, kSucceeded = 2, kFailed = 3, kUnknown = 4 };

struct Pod {
  PodUid uid;
  std::string namespace_name;
  std::string name;
  ShapeHash shape;
  Labels labels;
  NodeName node;            // empty while not bound
  NodeName nominated_node;  // status.nominatedNodeName: preemption under way
  PodPhase phase = PodPhase::kPending;
  bool unschedulable = false;  // condition PodScheduled is False with reason Unschedulable
  bool ready = false;
  std::string owner_name;            // of the controlling owner
  std::int64_t creation_millis = 0;  // unix, from the object
  std::int64_t deletion_millis = 0;  // unix, metadata.deletionTimestamp; 0: not being deleted
  std::int64_t start_millis = 0;     // unix, status.startTime; 0: not started
  friend bool operator==(const Pod&, const Pod&) = default;

  bool terminal() const { return phase == PodPhase::kSucceeded || phase == PodPhase::kFailed; }
  bool active() const { return !terminal() && deletion_millis == 0; }
};

template <class Archive>
void fields(Archive& a, NodeSelectorTerm& t) {
  a(t.expressions, t.has_match_fields);
}
template <class Archive>
void fields(Archive& a, PreferredTerm& t) {
  a(t.weight, t.term);
}
template <class Archive>
void fields(Archive& a, LabelSelector& s) {
  a(s.expressions, s.matches_nothing);
}
template <class Archive>
void fields(Archive& a, SpreadConstraint& s) {
  a(s.topology_key, s.max_skew, s.schedule_anyway, s.selector, s.min_domains, s.match_label_keys,
    s.ignore_node_affinity, s.honor_node_taints);
}
template <class Archive>
void fields(Archive& a, PodAffinityTerm& t) {
  a(t.anti, t.preferred_weight, t.topology_key, t.selector, t.namespaces, t.namespace_selector,
    t.match_label_keys, t.mismatch_label_keys);
}
template <class Archive>
void fields(Archive& a, HostPort& p) {
  a(p.ip, p.port, p.protocol);
}
template <class Archive>
void fields(Archive& a, PodShape& s) {
  a(s.requests, s.node_selector, s.required_terms, s.preferred_terms, s.tolerations, s.spread,
    s.affinity, s.host_ports, s.volume_claims, s.priority, s.priority_class, s.grace_seconds,
    s.deletion_cost, s.do_not_disrupt, s.do_not_disrupt_millis, s.gated, s.uses_dra, s.owner_kind,
    s.other_scheduler);
}
template <class Archive>
void fields(Archive& a, Pod& p) {
  a(p.uid, p.namespace_name, p.name, p.shape, p.labels, p.node, p.nominated_node, p.phase,
    p.unschedulable, p.ready, p.owner_name, p.creation_millis, p.deletion_millis, p.start_millis);
}

}  // namespace karst::model
