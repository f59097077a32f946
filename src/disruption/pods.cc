#include "disruption/pods.h"

#include <algorithm>

#include "scheduling/topology.h"

namespace karst::disruption {
namespace {

bool stays(const World& world, const Pod& pod) {
  return pod.mirror || world.shape_of(pod).owner_kind == model::OwnerKind::kNode;
}

// Demands that no pool's machine can be made for.
bool is_out_of_reach(const model::RequirementSpec& spec) {
  return spec.key == model::kHostnameLabel || spec.key == model::kRegisteredLabel ||
         spec.key == model::kInitializedLabel ||
         (spec.key == model::kNodePoolLabel && spec.op == model::Operator::kDoesNotExist);
}

}  // namespace

bool is_active(const Pod& pod) {
  return !pod.terminal && pod.deletion_millis == 0;
}

bool is_held(const World& world, const Pod& pod) {
  const model::PodShape& shape = world.shape_of(pod);
  if (shape.do_not_disrupt == model::DoNotDisrupt::kForDuration)
    return pod.start_millis == 0 ||
           world.now.value() < pod.start_millis + shape.do_not_disrupt_millis;
  return shape.do_not_disrupt == model::DoNotDisrupt::kForever;
}

bool is_reschedulable(const World& world, const Pod& pod) {
  const model::OwnerKind owner = world.shape_of(pod).owner_kind;
  const bool comes_back = is_active(pod) || (!pod.terminal && pod.deletion_millis != 0 &&
                                             owner == model::OwnerKind::kStatefulSet);
  return comes_back && owner != model::OwnerKind::kDaemonSet && !stays(world, pod);
}

bool is_evictable(const World& world, const Pod& pod) {
  return is_active(pod) && !tolerates_disruption(world.shape_of(pod)) && !stays(world, pod) &&
         !is_held(world, pod);
}

bool is_reschedulable_now(const World& world, const Pod& pod) {
  if (!is_reschedulable(world, pod) || (is_active(pod) && is_held(world, pod))) return false;
  return hold_of(world, pod, BudgetTest::kForever).kind == Hold::kNone;
}

bool is_wanting(const World& world, const Pod& pod) {
  if (pod.node != kNowhere || !pod.provisionable || !pod.volume_error.empty()) return false;
  const model::PodShape& shape = world.shape_of(pod);
  for (const auto& [key, value] : shape.node_selector)
    if (is_out_of_reach({key, model::Operator::kIn, {value}, 0})) return false;
  for (const model::NodeSelectorTerm& term : shape.required_terms)
    if (term.has_match_fields ||
        std::any_of(term.expressions.begin(), term.expressions.end(), is_out_of_reach))
      return false;
  return true;
}

bool tolerates_disruption(const model::PodShape& shape) {
  static const model::Taint kDisrupted{std::string(model::kDisruptedTaintKey), "",
                                       model::TaintEffect::kNoSchedule};
  return model::tolerates(shape.tolerations, kDisrupted);
}

Hold hold_of(const World& world, const Pod& pod, BudgetTest test) {
  if (!is_evictable(world, pod)) return {};
  return hold_by(world.pod_budgets, pod.namespace_name, pod.labels, pod.unready, test);
}

Hold hold_by(const std::vector<model::DisruptionBudget>& budgets, std::string_view namespace_name,
             const model::Labels& labels, bool unready, BudgetTest test) {
  Hold hold;
  const model::DisruptionBudget* last = nullptr;
  for (const model::DisruptionBudget& budget : budgets) {
    if (budget.namespace_name != namespace_name || !scheduling::selects(budget.selector, labels))
      continue;
    last = &budget;
    hold.budgets.push_back(budget.namespace_name + "/" + budget.name);
  }
  if (hold.budgets.size() > 1) {
    hold.kind = Hold::kSeveral;
    return hold;
  }
  if (last == nullptr || (last->spares_unready && unready)) return {};
  if (test == BudgetTest::kNow ? last->disruptions_allowed == 0 : last->fully_blocking)
    hold.kind = Hold::kBlocked;
  return hold.kind == Hold::kNone ? Hold{} : hold;
}

std::string full_name(const Pod& pod) {
  return pod.namespace_name + "/" + pod.name;
}

}  // namespace karst::disruption
