#include "disruption/candidates.h"

#include <algorithm>

#include "base/check.h"
#include "disruption/pods.h"

namespace karst::disruption {
namespace {

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
  return "[" + text + "]";
}

Refusal held_by_pods(const World& world, const Node& node) {
  for (const std::size_t at : node.pods)
    if (is_active(world.pods[at]) && is_held(world, world.pods[at]))
      return {"pod_do_not_disrupt", "Pod has \"karpenter.sh/do-not-disrupt\" annotation (Pod=" +
                                        full_name(world.pods[at]) + ")"};
  for (const std::size_t at : node.pods) {
    const Hold hold = hold_of(world, world.pods[at], BudgetTest::kNow);
    if (hold.kind == Hold::kSeveral)
      return {"several_pdbs", "Eviction does not support multiple PDBs (PodDisruptionBudget(s)=" +
                                  listed(hold.budgets) + ")"};
    if (hold.kind == Hold::kBlocked)
      return {"pdb",
              "Pdb prevents pod evictions (PodDisruptionBudget=" + listed(hold.budgets) + ")"};
  }
  return {};
}

Refusal held_by_itself(const Node& node) {
  if (node.queued) return {"queued", "Candidate is already being disrupted"};
  if (!node.managed) return {"unmanaged", "Node isn't managed by karpenter"};
  if (!node.has_node) return {"no_node", "Nodeclaim does not have an associated node"};
  if (!node.initialized) return {"not_initialized", "Node isn't initialized"};
  if (node.leaving) return {"leaving", "Node is deleting or marked for deletion"};
  if (node.nominated) return {"nominated", "Node is nominated for a pending pod"};
  if (model::label_value(node.annotations, model::kDoNotDisruptAnnotation) == "true")
    return {"node_do_not_disrupt",
            "Disruption is blocked through the \"karpenter.sh/do-not-disrupt\" annotation"};
  if (!model::has_label(node.labels, model::kNodePoolLabel))
    return {"no_pool_label", "Node doesn't have required label (label=karpenter.sh/nodepool)"};
  return {};
}

Refusal refuses_to_consolidate(const World& world, const Candidate& candidate) {
  const Node& node = world.nodes[candidate.node];
  const model::NodePool& pool = candidate.pool->pool.pool;
  const auto text = [](std::string code, std::string words) {
    return Refusal{std::move(code), std::move(words)};
  };
  if (type_of(*candidate.pool, node) == nullptr)
    return text("no_type",
                "Instance Type \"" +
                    std::string(model::label_value(node.labels, model::kInstanceTypeLabel)) +
                    "\" not found");
  for (const std::string_view key : {model::kCapacityTypeLabel, model::kZoneLabel})
    if (!model::has_label(node.labels, key))
      return text("no_label", "Node does not have label \"" + std::string(key) + "\"");
  if (!pool.consolidate_after_millis)
    return text("disabled", "NodePool \"" + pool.name.str() + "\" has consolidation disabled");
  if (is_free(candidate.cost)) return text("empty", "Node is empty: left to Emptiness");
  if (pool.consolidation_policy == model::ConsolidationPolicy::kWhenEmpty)
    return text("policy", "NodePool \"" + pool.name.str() +
                              "\" has consolidation policy WhenEmpty, but node is not empty");
  return {};
}

Refusal refuses_as_empty(const World& world, const Candidate& candidate) {
  const Node& node = world.nodes[candidate.node];
  const model::NodePool& pool = candidate.pool->pool.pool;
  if (!pool.consolidate_after_millis)
    return {"disabled", "NodePool \"" + pool.name.str() + "\" has consolidation disabled"};
  if (node.buffer_pods > 0) return {"buffer", "Node \"" + node.name + "\" has buffer pods"};
  if (!is_free(candidate.cost)) return {"not_empty", "Node is not empty"};
  return {};
}

}  // namespace

std::string_view method_name(Method method) {
  switch (method) {
    case Method::kEmptiness:
      return "Emptiness";
    case Method::kStaticDrift:
      return "StaticDrift";
    case Method::kDrift:
      return "Drift";
    case Method::kMultiNode:
      return "MultiNodeConsolidation";
    case Method::kSingleNode:
      return "SingleNodeConsolidation";
  }
  return "";
}

std::string_view reason_of(Method method) {
  if (method == Method::kEmptiness) return "Empty";
  return class_of(method) == DisruptionClass::kEventual ? "Drifted" : "Underutilized";
}

DisruptionClass class_of(Method method) {
  return method == Method::kStaticDrift || method == Method::kDrift ? DisruptionClass::kEventual
                                                                    : DisruptionClass::kGraceful;
}

Refusal refusal_of(const World& world, const Node& node, DisruptionClass disruption) {
  if (Refusal refusal = held_by_itself(node); !refusal.none()) return refusal;
  const Pool* pool = pool_of(world, node);
  if (pool == nullptr || pool->pool.types.empty())
    return {"no_pool", "NodePool not found (NodePool=" +
                           std::string(model::label_value(node.labels, model::kNodePoolLabel)) +
                           ")"};
  if (disruption == DisruptionClass::kEventual && node.has_grace_period) return {};
  return held_by_pods(world, node);
}

Refusal refusal_of(const World& world, const Candidate& candidate, Method method) {
  const Node& node = world.nodes[candidate.node];
  const bool is_static = candidate.pool->pool.pool.replicas.has_value();
  if (is_static != (method == Method::kStaticDrift))
    return is_static ? Refusal{"static", "NodePool is static"}
                     : Refusal{"not_static", "NodePool is not static"};
  if (class_of(method) == DisruptionClass::kEventual)
    return node.drifted ? Refusal{} : Refusal{"not_drifted", "Node has not drifted"};
  Refusal refusal = method == Method::kEmptiness ? refuses_as_empty(world, candidate)
                                                 : refuses_to_consolidate(world, candidate);
  if (refusal.none() && !node.consolidatable)
    refusal = {"not_consolidatable", "Node is not consolidatable (yet)"};
  return refusal;
}

Candidate make_candidate(const World& world, std::size_t at) {
  const Node& node = world.nodes[at];
  Candidate candidate;
  candidate.node = at;
  candidate.pool = pool_of(world, node);
  KARST_CHECK(candidate.pool != nullptr, "a candidate's pool is known");
  candidate.price_nanos = price_of(world, node);
  candidate.cost = reschedule_cost(world, node);
  for (const std::size_t pod : node.pods)
    if (is_reschedulable(world, world.pods[pod])) candidate.pods.push_back(pod);
  return candidate;
}

void sort_by_ratio(std::vector<Candidate>& candidates) {
  std::stable_sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
    return better_ratio(a.price_nanos, a.cost, b.price_nanos, b.cost);
  });
}

}  // namespace karst::disruption
