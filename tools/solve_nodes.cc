#include "tools/solve_nodes.h"

#include <algorithm>
#include <map>
#include <set>

#include "disruption/pods.h"
#include "model/labels.h"

namespace karst::tools {
namespace {

using model::NodeClaim;
using scheduling::InstanceType;
using scheduling::Pool;

// The claim of each node, by the machine's id or by name.
class ClaimIndex {
 public:
  explicit ClaimIndex(const objects::Manifests& manifests) {
    for (const NodeClaim& claim : manifests.claims) {
      if (!claim.provider_id.empty()) by_id_.emplace(claim.provider_id.str(), &claim);
      if (!claim.node_name.empty()) by_node_.emplace(claim.node_name.str(), &claim);
    }
  }
  const NodeClaim* find(const model::Node& node) const {
    const auto id = by_id_.find(node.provider_id.str());
    if (id != by_id_.end()) return id->second;
    const auto name = by_node_.find(node.name.str());
    return name == by_node_.end() ? nullptr : name->second;
  }

 private:
  std::map<std::string, const NodeClaim*> by_id_;
  std::map<std::string, const NodeClaim*> by_node_;
};

const Pool* pool_of(const std::vector<Pool>& pools, std::string_view name) {
  for (const Pool& pool : pools)
    if (pool.pool.name.str() == name) return &pool;
  return nullptr;
}

// The type that the labels name, in the catalogue of its pool or of any other.
const InstanceType* type_of(const std::vector<Pool>& pools, const model::Labels& labels) {
  const std::string_view name = model::label_value(labels, model::kInstanceTypeLabel);
  for (const Pool& pool : pools)
    for (const InstanceType& type : pool.types)
      if (type.name == name) return &type;
  return nullptr;
}

// Startup and ephemeral taints are going to leave while a node comes up.
std::vector<model::Taint> lasting(const std::vector<model::Taint>& taints,
                                  const std::vector<model::Taint>& startup) {
  std::vector<model::Taint> left;
  for (const model::Taint& taint : taints) {
    const bool is_startup = std::any_of(startup.begin(), startup.end(), [&](const auto& one) {
      return one.key == taint.key && one.effect == taint.effect;
    });
    if (!is_startup && !model::is_known_ephemeral(taint)) left.push_back(taint);
  }
  return left;
}

bool is_empty(const model::Resources& resources) {
  return resources == model::Resources{};
}

const model::CsiNode* csi_of(const objects::Manifests& manifests, const std::string& name) {
  for (const model::CsiNode& one : manifests.csi_nodes)
    if (one.name == name) return &one;
  return nullptr;
}

scheduling::Node read_node(const objects::Manifests& manifests, const std::vector<Pool>& pools,
                           const model::Node& node, const NodeClaim* claim,
                           std::vector<std::string>& notes) {
  const std::string_view pool_name = model::label_value(node.labels, model::kNodePoolLabel);
  const bool managed = claim != nullptr || !pool_name.empty();
  scheduling::Node out;
  out.name = node.name.str();
  out.labels = node.labels;
  out.initialized = !managed || model::label_value(node.labels, model::kInitializedLabel) == "true";
  out.taints = node.taints;
  if (!out.initialized) {
    const Pool* pool = pool_of(pools, pool_name);
    std::vector<model::Taint> startup;
    if (claim != nullptr) startup = claim->startup_taints;
    if (claim == nullptr && pool != nullptr) startup = pool->pool.startup_taints;
    out.taints = lasting(node.taints, startup);
    out.present_taints = node.taints;
  }
  out.available = node.allocatable;
  if (is_empty(out.available)) out.available = node.capacity;
  if (is_empty(out.available))
    if (const InstanceType* type = type_of(pools, node.labels)) out.available = type->allocatable;
  if (is_empty(out.available))
    notes.push_back("Node " + out.name + " says nothing of what it can allocate: it takes no pods");
  const bool leaves =
      node.deletion_millis != 0 || (claim != nullptr && claim->deletion_millis != 0);
  out.takes_pods = !leaves && (node.ready || !out.initialized);
  out.stays = !out.takes_pods && !leaves;
  if (node.cordoned) model::add_cordon(out.taints);
  if (node.cordoned && out.present_taints) model::add_cordon(*out.present_taints);
  if (!out.takes_pods)
    notes.push_back("Node " + out.name + " takes no pods: it is " +
                    (leaves ? "being deleted" : "not ready"));
  else if (node.cordoned)
    notes.push_back("Node " + out.name + " is cordoned: it takes only pods that tolerate it");
  if (const auto* csi = csi_of(manifests, out.name))
    out.attach_limits = {csi->limits.begin(), csi->limits.end()};
  return out;
}

// A claim on its way: its labels, and those of the type and the single values that it demands.
scheduling::Node read_claim(const std::vector<Pool>& pools, const NodeClaim& claim) {
  scheduling::Node out;
  out.name = claim.name.str();
  out.initialized = false;
  out.labels = claim.labels;
  const auto add = [&](const std::vector<model::RequirementSpec>& specs) {
    for (const model::RequirementSpec& spec : specs)
      if (spec.op == model::Operator::kIn && spec.values.size() == 1 &&
          !model::has_label(out.labels, spec.key))
        model::set_label(out.labels, spec.key, spec.values.front());
  };
  add(claim.requirements);
  const InstanceType* type = type_of(pools, out.labels);
  if (type != nullptr) add(type->requirements);
  out.taints = lasting(claim.taints, claim.startup_taints);
  out.available = claim.allocatable;
  if (is_empty(out.available) && type != nullptr) out.available = type->allocatable;
  return out;
}

}  // namespace

std::vector<scheduling::Node> read_nodes(const objects::Manifests& manifests,
                                         const std::vector<Pool>& pools,
                                         std::vector<std::string>& notes) {
  std::vector<scheduling::Node> nodes;
  const ClaimIndex claims(manifests);
  std::set<const NodeClaim*> arrived;  // looked up only
  for (const model::Node& node : manifests.nodes) {
    const NodeClaim* claim = claims.find(node);
    arrived.insert(claim);
    nodes.push_back(read_node(manifests, pools, node, claim, notes));
  }
  for (const NodeClaim& claim : manifests.claims) {
    if (arrived.contains(&claim) || claim.deletion_millis != 0) continue;
    scheduling::Node node = read_claim(pools, claim);
    if (is_empty(node.available))
      notes.push_back("NodeClaim " + claim.name.str() +
                      " has no machine yet and names no single type: it takes no pods");
    else
      nodes.push_back(std::move(node));
  }
  return nodes;
}

bool is_held_by_budgets(const objects::Manifests& manifests, const objects::ReducedPod& reduced) {
  if (disruption::tolerates_disruption(reduced.shape)) return false;
  const model::Pod& pod = reduced.pod;
  const disruption::Hold hold =
      disruption::hold_by(manifests.budgets, pod.namespace_name, pod.labels, !pod.ready,
                          disruption::BudgetTest::kForever);
  return hold.kind != disruption::Hold::kNone;
}

}  // namespace karst::tools
