#include "reconcilers/pod_holds.h"

#include "disruption/pods.h"
#include "reconcilers/drain.h"

namespace karst::reconcilers {
namespace {

std::string_view namespace_of(const PodRow& pod) {
  return pod.namespace_name == nullptr ? std::string_view() : *pod.namespace_name;
}

}  // namespace

const std::vector<model::DisruptionBudget>& PodHolds::budgets() {
  if (!budgets_) {
    budgets_.emplace();
    state_.for_each<model::DisruptionBudget>(
        [&](const model::DisruptionBudget& budget, const auto&) { budgets_->push_back(budget); });
  }
  return *budgets_;
}

PodHold PodHolds::on(const model::NodeName& node, LogTime now, Plan& plan) {
  const std::vector<const PodRow*> pods = state_.pods().on_node(node.str());
  for (const PodRow* pod : pods) {
    if (!pod->active() || !held_by_annotation(*pod, now)) continue;
    wake_when_free(*pod, plan);
    return {"held_by_pod", std::string(namespace_of(*pod)) + "/" + pod->name};
  }
  for (const PodRow* pod : pods) {
    if (!pod->active() || !must_leave(*pod, now)) continue;
    const disruption::Hold hold = disruption::hold_by(budgets(), namespace_of(*pod), pod->labels(),
                                                      !pod->ready, disruption::BudgetTest::kNow);
    if (hold.kind == disruption::Hold::kNone) continue;
    if (hold.budgets.size() == 1) return {"held_by_budget", hold.budgets.front()};
    std::string several;
    for (const std::string& one : hold.budgets) several += (several.empty() ? "" : " ") + one;
    return {"held_by_budgets", "[" + several + "]"};
  }
  return {};
}

}  // namespace karst::reconcilers
