// The other cluster objects as karst sees them: nodes, node pools, node claims, node classes,
// DaemonSets. Reduced by the source to what a decision can see; every list sorted as its comment
// says, so that equal objects have equal bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/ids.h"
#include "model/labels.h"
#include "model/requirements.h"
#include "model/resources.h"
#include "model/taint.h"

namespace karst::model {

enum class ConditionStatus { kUnknown = 0, kTrue = 1, kFalse = 2 };

struct Condition {
  std::string type;
  ConditionStatus status = ConditionStatus::kUnknown;
  std::string reason;
  std::string message;
  std::int64_t transition_millis = 0;    // unix
  std::int64_t observed_generation = 0;  // 0: not said
  friend bool operator==(const Condition&, const Condition&) = default;
};

// Conditions of nodes for which a provider may replace them (node repair); no decision reads
// others.
inline constexpr std::string_view kRepairConditions[] = {"AcceleratedHardwareReady",
                                                         "ContainerRuntimeReady",
                                                         "KernelReady",
                                                         "NetworkingReady",
                                                         "Ready",
                                                         "StorageReady"};

struct Node {
  NodeUid uid;
  NodeName name;
  ProviderId provider_id;
  Labels labels;
  Labels annotations;  // only karst's and Karpenter's own keys
  std::vector<Taint> taints;
  Resources capacity;
  Resources allocatable;
  bool ready = false;
  bool cordoned = false;             // spec.unschedulable
  bool has_finalizer = false;        // karpenter.sh/termination
  std::int64_t creation_millis = 0;  // unix
  std::int64_t deletion_millis = 0;  // unix; 0: not being deleted
  // Of kRepairConditions those that are not True: type, status and transition; sorted by type.
  std::vector<Condition> troubles;
  friend bool operator==(const Node&, const Node&) = default;
};

struct NodeClassRef {
  std::string group;
  std::string kind;
  std::string name;
  friend auto operator<=>(const NodeClassRef&, const NodeClassRef&) = default;
};

struct NodeClass {
  NodeClassRef ref;
  std::string uid;
  std::int64_t generation = 0;
  bool ready = true;  // ready_condition is True, or there is none
  std::int64_t deletion_millis = 0;
  std::string spec_json;       // the whole spec, keys sorted: the provider reads it
  Condition ready_condition;   // as its status has it; without a type: it has none
  bool has_finalizer = false;  // class_finalizer() of its group
  std::string hash;            // annotations class_hash_key() and class_hash_version_key()
  std::string hash_version;
  friend bool operator==(const NodeClass&, const NodeClass&) = default;
};

struct Budget {
  std::string nodes = "10%";
  std::vector<std::string> reasons;  // empty: all
  std::string schedule;              // cron, UTC; empty: always
  std::int64_t duration_millis = 0;
  friend bool operator==(const Budget&, const Budget&) = default;
};

enum class ConsolidationPolicy { kWhenEmptyOrUnderutilized = 0, kWhenEmpty = 1, kBalanced = 2 };

struct NodePool {
  PoolName name;
  std::string uid;
  std::int64_t generation = 0;
  Labels template_labels;
  Labels template_annotations;
  std::vector<RequirementSpec> requirements;
  std::vector<Taint> taints;
  std::vector<Taint> startup_taints;
  NodeClassRef node_class;
  std::optional<std::int64_t> expire_after_millis;  // none: Never
  std::string expire_after;  // the same as people wrote it, which its claims repeat; may be empty
  std::optional<std::int64_t> termination_grace_millis;  // none: drain may take for ever
  std::optional<std::int64_t> consolidate_after_millis;  // none: Never
  ConsolidationPolicy consolidation_policy = ConsolidationPolicy::kWhenEmptyOrUnderutilized;
  std::vector<Budget> budgets;
  std::vector<std::pair<std::string, std::int64_t>>
      limits;  // by resource, sorted; "nodes" counts nodes, cpu in millicores
  std::int32_t weight = 0;
  std::optional<std::int64_t> replicas;  // static pool
  std::int64_t deletion_millis = 0;
  std::int64_t creation_millis = 0;
  std::string hash;  // annotations karpenter.sh/nodepool-hash and -version
  std::string hash_version;
  // status, as the API server has it
  std::vector<Condition> conditions;  // sorted by type
  Resources status_resources;
  std::int64_t status_nodes = 0;
  std::int64_t node_class_observed_generation = 0;
  std::int64_t empty_fields = 0;  // template fields that are there and empty: kEmpty* (pool_hash.h)
  friend bool operator==(const NodePool&, const NodePool&) = default;
};

struct NodeClaim {
  ClaimName name;
  ClaimUid uid;  // empty until the API server has given one
  PoolName pool;
  std::string pool_uid;
  Labels labels;
  Labels annotations;
  std::vector<RequirementSpec> requirements;
  Resources requests;
  std::vector<Taint> taints;
  std::vector<Taint> startup_taints;
  NodeClassRef node_class;
  std::optional<std::int64_t> expire_after_millis;
  std::string expire_after;  // how to write it; of claims that were read, empty
  std::optional<std::int64_t> termination_grace_millis;
  bool has_finalizer = false;
  std::int64_t creation_millis = 0;
  std::int64_t deletion_millis = 0;
  // status, as the API server has it
  ProviderId provider_id;
  NodeName node_name;
  Resources capacity;
  Resources allocatable;
  std::vector<Condition> conditions;  // sorted by type
  friend bool operator==(const NodeClaim&, const NodeClaim&) = default;
};

struct DaemonSet {
  std::string uid;
  std::string namespace_name;
  std::string name;
  ShapeHash shape;
  std::int64_t deletion_millis = 0;
  friend bool operator==(const DaemonSet&, const DaemonSet&) = default;
};

template <class Archive>
void fields(Archive& a, Node& n) {
  a(n.uid, n.name, n.provider_id, n.labels, n.annotations, n.taints, n.capacity, n.allocatable,
    n.ready, n.cordoned, n.has_finalizer, n.creation_millis, n.deletion_millis, n.troubles);
}
template <class Archive>
void fields(Archive& a, NodeClassRef& r) {
  a(r.group, r.kind, r.name);
}
template <class Archive>
void fields(Archive& a, NodeClass& c) {
  a(c.ref, c.uid, c.generation, c.ready, c.deletion_millis, c.spec_json, c.ready_condition,
    c.has_finalizer, c.hash, c.hash_version);
}
template <class Archive>
void fields(Archive& a, Budget& b) {
  a(b.nodes, b.reasons, b.schedule, b.duration_millis);
}
template <class Archive>
void fields(Archive& a, NodePool& p) {
  a(p.name, p.uid, p.generation, p.template_labels, p.template_annotations, p.requirements,
    p.taints, p.startup_taints, p.node_class, p.expire_after_millis, p.termination_grace_millis,
    p.consolidate_after_millis, p.consolidation_policy, p.budgets, p.limits, p.weight, p.replicas,
    p.deletion_millis, p.creation_millis, p.hash, p.hash_version, p.conditions, p.status_resources,
    p.status_nodes, p.node_class_observed_generation, p.empty_fields, p.expire_after);
}
template <class Archive>
void fields(Archive& a, Condition& c) {
  a(c.type, c.status, c.reason, c.message, c.transition_millis, c.observed_generation);
}
template <class Archive>
void fields(Archive& a, NodeClaim& c) {
  a(c.name, c.uid, c.pool, c.pool_uid, c.labels, c.annotations, c.requirements, c.requests,
    c.taints, c.startup_taints, c.node_class, c.expire_after_millis, c.termination_grace_millis,
    c.has_finalizer, c.creation_millis, c.deletion_millis, c.provider_id, c.node_name, c.capacity,
    c.allocatable, c.conditions, c.expire_after);
}
template <class Archive>
void fields(Archive& a, DaemonSet& d) {
  a(d.uid, d.namespace_name, d.name, d.shape, d.deletion_millis);
}

}  // namespace karst::model
