#include "daemon/gauges.h"

#include <algorithm>
#include <tuple>

#include "daemon/words.h"
#include "model/labels.h"
#include "reconcilers/budgets.h"
#include "reconcilers/eligible.h"

namespace karst::daemon {
namespace {

using projections::ClusterState;
using Labels = std::vector<std::pair<std::string_view, std::string>>;

constexpr std::string_view kAllocatable = "karpenter_nodes_allocatable";
constexpr std::string_view kPodRequests = "karpenter_nodes_total_pod_requests";
constexpr std::string_view kDaemonRequests = "karpenter_nodes_total_daemon_requests";
constexpr std::string_view kOverhead = "karpenter_nodes_system_overhead";
constexpr std::string_view kLifetime = "karpenter_nodes_current_lifetime_seconds";
constexpr std::string_view kUtilization = "karpenter_cluster_utilization_percent";
constexpr std::string_view kPoolLimit = "karpenter_nodepools_limit";
constexpr std::string_view kPoolUsage = "karpenter_nodepools_usage";
constexpr std::string_view kPoolCost = "karpenter_nodepools_cost_total";
constexpr std::string_view kPoolAllowed = "karpenter_nodepools_allowed_disruptions";
constexpr std::string_view kPoolLeaving = "karpenter_nodepools_nodes_consuming_budgets";
constexpr std::string_view kPodsState = "karpenter_pods_state";
constexpr std::string_view kQueueDepth = "karpenter_scheduler_queue_depth";
constexpr std::string_view kUnschedulable = "karpenter_scheduler_unschedulable_pods_count";
constexpr std::string_view kEligible = "karpenter_voluntary_disruption_eligible_nodes";
constexpr std::string_view kPrice = "karpenter_cloudprovider_instance_type_offering_price_estimate";
constexpr std::string_view kAvailable = "karpenter_cloudprovider_instance_type_offering_available";
constexpr std::string_view kTypeCpu = "karpenter_cloudprovider_instance_type_cpu_cores";
constexpr std::string_view kTypeMemory = "karpenter_cloudprovider_instance_type_memory_bytes";
constexpr std::string_view kClaimCondition = "operator_nodeclaim_status_condition_count";
constexpr std::string_view kPoolCondition = "operator_nodepool_status_condition_count";
constexpr std::string_view kNodeCondition = "operator_node_status_condition_count";
constexpr std::string_view kClaimConditionAge =
    "operator_nodeclaim_status_condition_current_status_seconds";
constexpr std::string_view kPoolConditionAge =
    "operator_nodepool_status_condition_current_status_seconds";
constexpr std::string_view kClaimLeaving = "operator_nodeclaim_termination_current_time_seconds";
constexpr std::string_view kNodeLeaving = "operator_node_termination_current_time_seconds";

constexpr std::int64_t kExactMax = 100'000'000'000'000;  // times 10,000 it still fits

// Resources as samples: cpu in cores, the rest as it is.
struct Amount {
  std::string_view resource;
  std::int64_t value;
  int decimals;
};
std::vector<Amount> amounts_of(const model::Resources& resources) {
  std::vector<Amount> amounts = {{"cpu", resources.cpu_millis, 3},
                                 {"memory", resources.memory_bytes, 0},
                                 {"ephemeral-storage", resources.ephemeral_bytes, 0},
                                 {"pods", resources.pods, 0}};
  for (const auto& [name, amount] : resources.extended) amounts.push_back({name, amount, 0});
  return amounts;
}

class Maker {
 public:
  Maker(const ClusterState& state, Gauges& out) : state_(state), out_(out) {}

  void cluster();
  void nodes();
  void pools();
  void pods();
  void offerings();
  void conditions();
  void deletions();

 private:
  std::int64_t pods_left() const;
  void add(std::string_view name, std::int64_t value, int decimals, Labels labels) {
    out_.samples[name].push_back({value, decimals, std::move(labels)});
  }
  void add(std::string_view name, const model::Resources& resources, const Labels& labels) {
    for (const Amount& amount : amounts_of(resources)) {
      Labels all = {{"resource_type", std::string(amount.resource)}};
      all.insert(all.end(), labels.begin(), labels.end());
      add(name, amount.value, amount.decimals, std::move(all));
    }
  }
  // A condition stands for its number and its age; one of unknown age for its number.
  void add(std::string_view count, std::string_view age, const model::Condition& condition,
           const Labels& labels) {
    add(count, 1, 0, labels);
    if (condition.transition_millis > 0)
      add(age, out_.at.value() - condition.transition_millis, 3, labels);
  }
  const ClusterState& state_;
  Gauges& out_;
};

std::string label(const model::Node& node, std::string_view key) {
  return std::string(model::label_value(node.labels, key));
}

// The well-known labels of a node, named as Karpenter names them.
Labels place_of(const model::Node& node) {
  return {{"nodepool", label(node, model::kNodePoolLabel)},
          {"zone", label(node, model::kZoneLabel)},
          {"arch", label(node, model::kArchLabel)},
          {"capacity_type", label(node, model::kCapacityTypeLabel)},
          {"instance_type", label(node, model::kInstanceTypeLabel)}};
}

std::string phase_of(const model::Node& node) {
  return node.deletion_millis != 0 ? "Terminating" : node.ready ? "Running" : "Pending";
}

// Pods that the last pass has seen and found no place for. In Karpenter they are what is still in
// the queue when a pass ends.
std::int64_t Maker::pods_left() const {
  std::int64_t left = 0;
  for (const std::string_view uid : state_.pods().pending()) {
    const projections::PodRow& pod = state_.pods().row_of(uid);
    if (pod.pending_since > state_.held_at() || pod.expected_until > out_.at) continue;
    const auto* verdict = state_.verdicts().find(
        std::pair<std::string, std::string>("shape/" + to_string(pod.shape_hash), "provisioning"));
    left += verdict != nullptr && verdict->verdict.code == "unplaced" ? 1 : 0;
  }
  return left;
}

void Maker::cluster() {
  model::Resources requested, allocatable;
  for (const auto& [name, slot] : state_.nodes().slots()) {
    allocatable += slot.row.node.allocatable;
    if (const auto* pods = state_.pods().on(name.str())) requested += pods->requests;
  }
  for (const Amount& amount : amounts_of(allocatable)) {
    if (amount.value <= 0) continue;
    const std::int64_t used = requested.amount(amount.resource);
    const std::int64_t hundredths =
        amount.value < kExactMax ? used * 10'000 / amount.value : used / (amount.value / 10'000);
    add(kUtilization, hundredths, 2, {{"resource_type", std::string(amount.resource)}});
  }
  const std::int64_t left = pods_left();
  add(kQueueDepth, left, 0, {{"controller", "provisioner"}, {"scheduling_id", ""}});
  add(kUnschedulable, left, 0, {{"controller", "provisioner"}});
  if (const auto* provider = providers::find_provider(state_.config().provider))
    add(kEligible, reconcilers::eligible_for_emptiness(state_, *provider, out_.at), 0,
        {{"reason", "empty"}});
}

void Maker::nodes() {
  for (const auto& [name, slot] : state_.nodes().slots()) {
    const model::Node& node = slot.row.node;
    Labels labels = {{"node_name", name.str()},
                     {"phase", phase_of(node)},
                     {"managed", label(node, model::kNodePoolLabel).empty() ? "false" : "true"},
                     {"os", label(node, model::kOsLabel)},
                     {"region", label(node, "topology.kubernetes.io/region")}};
    const Labels place = place_of(node);
    labels.insert(labels.end(), place.begin(), place.end());
    add(kAllocatable, node.allocatable, labels);
    model::Resources overhead = node.capacity;
    overhead -= node.allocatable;
    add(kOverhead, overhead, labels);
    const auto* pods = state_.pods().on(name.str());
    add(kPodRequests, pods == nullptr ? model::Resources() : pods->requests, labels);
    add(kDaemonRequests, pods == nullptr ? model::Resources() : pods->daemon_requests, labels);
    if (node.creation_millis > 0) add(kLifetime, out_.at.value() - node.creation_millis, 3, labels);
  }
}

void Maker::pools() {
  std::map<std::string, model::Resources> usage;
  std::map<std::string, std::int64_t> cost, nodes;
  for (const auto& [name, slot] : state_.claims().slots()) {
    const std::string& pool = slot.row.claim.pool.str();
    usage[pool] += slot.row.instance.capacity;
    cost[pool] += slot.row.instance.offer.price_nanos_per_hour;
    ++nodes[pool];
  }
  auto counts = reconcilers::count_pools(state_);
  for (const auto& [name, slot] : state_.pools().slots()) {
    const std::string& pool = name.str();
    for (const auto& [resource, limit] : slot.row.pool.limits)
      add(kPoolLimit, limit, resource == "cpu" ? 3 : 0,
          {{"resource_type", resource}, {"nodepool", pool}});
    add(kPoolUsage, usage[pool], {{"nodepool", pool}});
    add(kPoolUsage, nodes[pool], 0, {{"resource_type", "nodes"}, {"nodepool", pool}});
    add(kPoolCost, cost[pool], 9, {{"nodepool", pool}});
    const reconcilers::PoolCount count = counts[name];
    for (const std::string_view reason : reconcilers::kDisruptionReasons) {
      const Labels labels = {{"nodepool", pool}, {"reason", std::string(reason)}};
      add(kPoolAllowed,
          reconcilers::allowed_disruptions(slot.row.pool, reason, count.nodes, out_.at).nodes, 0,
          labels);
      add(kPoolLeaving, count.leaving, 0, labels);
    }
  }
}

void Maker::pods() {
  std::map<std::tuple<model::PodPhase, bool, Labels>, std::int64_t> counts;
  for (const auto& [name, slot] : state_.nodes().slots()) {
    const Labels place = place_of(slot.row.node);
    for (const projections::PodRow* pod : state_.pods().on_node(name.str()))
      ++counts[{pod->phase, pod->ready, place}];
  }
  for (const auto& [key, count] : counts) {
    Labels labels = {{"phase", std::string(phase_name(std::get<0>(key)))},
                     {"ready", std::get<1>(key) ? "true" : "false"},
                     {"scheduled", "true"},
                     {"managed", std::get<2>(key).front().second.empty() ? "false" : "true"}};
    labels.insert(labels.end(), std::get<2>(key).begin(), std::get<2>(key).end());
    add(kPodsState, count, 0, std::move(labels));
  }
  auto unbound = state_.pods().unbound();
  unbound.try_emplace(model::PodPhase::kPending, 0);  // for those who alarm on it
  for (const auto& [phase, count] : unbound)
    add(kPodsState, count, 0,
        {{"phase", std::string(phase_name(phase))},
         {"ready", "false"},
         {"scheduled", "false"},
         {"managed", "false"}});
}

void Maker::offerings() {
  const auto* known = state_.catalogues().find(state_.config().provider);
  if (known == nullptr) return;
  for (const model::InstanceType& type : known->catalogue.types) {
    add(kTypeCpu, type.capacity.cpu_millis, 3, {{"instance_type", type.name}});
    add(kTypeMemory, type.capacity.memory_bytes, 0, {{"instance_type", type.name}});
    for (const model::Offering& offering : type.offerings) {
      const Labels labels = {{"instance_type", type.name},
                             {"capacity_type", offering.capacity_type},
                             {"zone", offering.zone}};
      const model::Offer key{type.name, offering.zone, offering.capacity_type, 0,
                             offering.reservation};
      const bool there = offering.available && !state_.is_exhausted(key, out_.at);
      add(kPrice, offering.price_nanos_per_hour, 9, labels);
      add(kAvailable, there ? 1 : 0, 0, labels);
    }
  }
}

Labels condition_labels(const model::Condition& condition, const std::string& name) {
  const std::string_view status = condition.status == model::ConditionStatus::kTrue    ? "True"
                                  : condition.status == model::ConditionStatus::kFalse ? "False"
                                                                                       : "Unknown";
  return {{"type", condition.type},
          {"status", std::string(status)},
          {"reason", condition.reason},
          {"namespace", ""},
          {"name", name}};
}

// Karpenter's further labels, the keys of Kubernetes labels with their punctuation replaced: the
// class and the pool, of nodes also whether they are initialized.
constexpr std::string_view kPoolName = "karpenter_sh_nodepool";
constexpr std::string_view kInitializedName = "karpenter_sh_initialized";
struct ClassName {
  std::string_view kind, key, name;
};
constexpr ClassName kClassNames[] = {
    {"EC2NodeClass", "karpenter.k8s.aws/ec2nodeclass", "karpenter_k8s_aws_ec2nodeclass"},
    {"KWOKNodeClass", "karpenter.kwok.sh/kwoknodeclass", "karpenter_kwok_sh_kwoknodeclass"}};

void add_origin(Labels& labels, const model::NodeClaim& claim) {
  for (const ClassName& known : kClassNames)
    if (claim.node_class.kind == known.kind) labels.emplace_back(known.name, claim.node_class.name);
  labels.emplace_back(kPoolName, claim.pool.str());
}

void add_origin(Labels& labels, const model::Node& node) {
  for (const ClassName& known : kClassNames)
    if (model::has_label(node.labels, known.key))
      labels.emplace_back(known.name, label(node, known.key));
  labels.emplace_back(kPoolName, label(node, model::kNodePoolLabel));
  labels.emplace_back(kInitializedName, label(node, model::kInitializedLabel));
}

void Maker::conditions() {
  for (const auto& [name, slot] : state_.claims().slots())
    for (const model::Condition& condition : slot.row.claim.conditions) {
      Labels labels = condition_labels(condition, name.str());
      add_origin(labels, slot.row.claim);
      add(kClaimCondition, kClaimConditionAge, condition, labels);
    }
  for (const auto& [name, slot] : state_.pools().slots())
    for (const model::Condition& condition : slot.row.pool.conditions)
      add(kPoolCondition, kPoolConditionAge, condition, condition_labels(condition, name.str()));
  for (const auto& [name, slot] : state_.nodes().slots()) {
    const auto ready =
        slot.row.node.ready ? model::ConditionStatus::kTrue : model::ConditionStatus::kFalse;
    Labels labels = condition_labels({"Ready", ready, "", "", 0, 0}, name.str());
    add_origin(labels, slot.row.node);
    add(kNodeCondition, 1, 0, std::move(labels));
  }
}

// What is on its way out, and for how long.
void Maker::deletions() {
  for (const auto& [name, slot] : state_.claims().slots())
    if (const std::int64_t since = slot.row.claim.deletion_millis; since != 0) {
      Labels labels = {{"namespace", ""}, {"name", name.str()}};
      add_origin(labels, slot.row.claim);
      add(kClaimLeaving, out_.at.value() - since, 3, std::move(labels));
    }
  for (const auto& [name, slot] : state_.nodes().slots())
    if (const std::int64_t since = slot.row.node.deletion_millis; since != 0) {
      Labels labels = {{"namespace", ""}, {"name", name.str()}};
      add_origin(labels, slot.row.node);
      add(kNodeLeaving, out_.at.value() - since, 3, std::move(labels));
    }
}

}  // namespace

std::vector<GaugeFamily> gauge_families() {
  return {
      {kAllocatable, "What a node has for pods."},
      {kPodRequests, "What the pods on a node ask for, DaemonSets' included."},
      {kDaemonRequests, "What the pods of DaemonSets on a node ask for."},
      {kOverhead, "What a node keeps for itself: capacity less allocatable."},
      {kLifetime, "Age of a node."},
      {kUtilization, "Requests of all pods in per cent of what all nodes have for pods."},
      {kPoolLimit, "The limits of a node pool."},
      {kPoolUsage, "Capacity of a node pool's instances.", true},
      {kPoolCost, "Price of a node pool's instances, dollars per hour.", true},
      {kPoolAllowed, "Nodes that a node pool's budgets allow on their way out at once."},
      {kPoolLeaving, "Nodes of a node pool that its budgets count as on their way out."},
      {kPodsState, "Pods by what they have in common; the value is their number."},
      {kQueueDepth, "Pods that were left in the queue when the last pass ended.", true},
      {kUnschedulable, "Pending pods that no node pool can serve.", true},
      {kEligible, "Nodes that could go for this reason, budgets aside."},
      {kPrice, "Price of an offering, dollars per hour."},
      {kAvailable, "1 when an offering can be bought; 0 while it lately had no capacity.", true},
      {kTypeCpu, "Cores of an instance type."},
      {kTypeMemory, "Memory of an instance type."},
      {kClaimCondition, "Status conditions of NodeClaims."},
      {kPoolCondition, "Status conditions of NodePools."},
      {kNodeCondition, "Whether nodes are ready."},
      {kClaimConditionAge, "For how long a condition of a NodeClaim has had its status."},
      {kPoolConditionAge, "For how long a condition of a NodePool has had its status."},
      {kClaimLeaving, "For how long a NodeClaim has been on its way out."},
      {kNodeLeaving, "For how long a node has been on its way out."},
  };
}

Gauges gauges_of(const ClusterState& state, bool objects) {
  Gauges gauges;
  gauges.at = state.last_log_time();
  Maker maker(state, gauges);
  maker.cluster();
  maker.offerings();
  if (!objects) return gauges;
  maker.nodes();
  maker.pools();
  maker.pods();
  maker.conditions();
  maker.deletions();
  return gauges;
}

std::int64_t gauges_interval_millis(const ClusterState& state) {
  return std::max(kGaugesEveryMillis,
                  static_cast<std::int64_t>(state.pods().size() / kPodsPerGaugeMilli));
}

}  // namespace karst::daemon
