// Who asks for a place: pending pods that are expected nowhere, and pods that will have to leave
// the nodes that go.
#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "disruption/pods.h"
#include "reconcilers/drain.h"
#include "reconcilers/neighbours.h"
#include "reconcilers/once_per_pod.h"
#include "reconcilers/problem_of.h"

namespace karst::reconcilers {
namespace {

using projections::PodRow;

// Whether the node still has a seat for the pod that is expected there: what is bound leaves room
// for those expected before it (by uid), and for it. Others may have taken the seats, since
// kube-scheduler knows no nominations.
bool has_seat(const ClusterState& state, const NodeRow& node, const PodRow& pod,
              const std::vector<const PodRow*>& expected) {
  const std::string& name = node.node.name.str();
  model::Resources room = node.node.allocatable;
  if (const auto* pods = state.pods().on(name)) room -= pods->requests;
  for (const PodRow* one : expected) {
    if (one->uid == pod.uid) break;
    if (one->node == nullptr || *one->node != name) room -= one->shape->requests;
  }
  return model::fits(pod.shape->requests, room);
}

// Whether the pod's expectation still holds: its claim lives, has a seat for it, and has not been
// up for too long without the pod.
bool covered(const ClusterState& state, const Context& context, const PodRow& pod, Plan& plan) {
  const auto still = [&](LogTime until) {
    if (until <= context.now) return false;
    plan.wake_at(until);
    return true;
  };
  if (!pod.expected_node.empty()) {
    const NodeRow* node = state.nodes().find(pod.expected_node);
    return node != nullptr && node->node.deletion_millis == 0 && node->tainted_at == Position() &&
           has_seat(state, *node, pod, state.pods().expected_on_node(pod.expected_node.str())) &&
           still(pod.expected_until);
  }
  if (pod.expected_claim.empty()) return false;
  const ClaimRow* claim = state.claims().find(pod.expected_claim);
  if (claim == nullptr) return state.config().shadow && still(pod.expected_until);  // not sent
  if (leaves(*claim)) return false;
  if (claim->initialized_at.value() == 0) return still(comes_up_until(state, *claim));
  if (const NodeRow* node = state.node_of(*claim);
      node != nullptr &&
      !has_seat(state, *node, pod, state.pods().expected_on_claim(pod.expected_claim.str())))
    return false;
  return still(claim->initialized_at + state.config().nomination_millis);
}

// Pods of a leaving node that nothing may evict as things are: a place made for them now would
// stand empty. Karpenter's rule (v1.14): do-not-disrupt, and budgets that never allow an eviction;
// a 429 that was seen counts, too.
class Holds {
 public:
  explicit Holds(const ClusterState& state) : state_(state) {
    state.for_each<model::DisruptionBudget>(
        [&](const model::DisruptionBudget& budget, const auto&) { budgets_.push_back(budget); });
  }
  bool hold(const PodRow& pod, LogTime now, Plan& plan) const {
    if (held_by_annotation(pod, now)) {
      wake_when_free(pod, plan);
      return true;
    }
    const auto* last = state_.back_offs().find(
        projections::SubjectKind("pod/" + pod.uid.str(), model::CommandKind::kEvictPod));
    if (last != nullptr && last->code == model::RefusalCode::kBlocked) return true;
    if (budgets_.empty() || disruption::tolerates_disruption(*pod.shape)) return false;
    const std::string_view space =
        pod.namespace_name == nullptr ? std::string_view() : *pod.namespace_name;
    return disruption::hold_by(budgets_, space, pod.labels(), !pod.ready,
                               disruption::BudgetTest::kForever)
               .kind != disruption::Hold::kNone;
  }

 private:
  const ClusterState& state_;
  std::vector<model::DisruptionBudget> budgets_;
};

}  // namespace

// How long a node that is not initialized yet may still be counted on: registration and
// initialization each have that long.
LogTime comes_up_until(const ClusterState& state, const ClaimRow& row) {
  return (row.registered_at.value() != 0 ? row.registered_at : row.created_at) +
         state.config().registration_timeout_millis;
}

Demand demand_of(const ClusterState& state, const Context& context, Plan& plan) {
  using Key = std::tuple<model::ShapeHash, std::string, model::Labels, std::string>;
  const SelectedKeys keys = selected_keys(state);
  const OncePerPod once(state);
  std::map<Key, std::vector<const PodRow*>> groups;
  const auto add = [&](const PodRow& pod) {
    const std::string space = pod.namespace_name == nullptr ? "" : *pod.namespace_name;
    const std::string alone = once.concerns(space, *pod.shape) ? pod.uid.str() : std::string();
    groups[Key(pod.shape_hash, space, projected(pod.labels(), keys), alone)].push_back(&pod);
  };
  for (const std::string_view uid : state.pods().pending()) {
    const PodRow& pod = state.pods().row_of(uid);
    if (!covered(state, context, pod, plan)) add(pod);
  }
  std::optional<Holds> holds;
  for (const model::ClaimName& name : state.restless()) {
    const ClaimRow& row = *state.claims().find(name);
    if (!leaves(row) || row.node.empty() || !ours(row, context)) continue;
    if (!holds) holds.emplace(state);
    // A machine that is taken away asks nobody.
    const bool asks = row.interrupted_at.value() == 0 && row.gone_at.value() == 0;
    for (const PodRow* pod : state.pods().on_node(row.node.str()))
      if (pod->reschedulable() && pod->deletion_millis == 0 &&
          !(asks && holds->hold(*pod, context.now, plan)) && !covered(state, context, *pod, plan))
        add(*pod);
  }
  Demand demand;
  for (auto& [key, pods] : groups) {
    demand.shapes.push_back(std::get<0>(key));
    demand.labels.push_back(std::get<2>(key));
    std::sort(pods.begin(), pods.end(),
              [](const PodRow* a, const PodRow* b) { return a->uid < b->uid; });
    demand.pods.push_back(std::move(pods));
  }
  return demand;
}

}  // namespace karst::reconcilers
