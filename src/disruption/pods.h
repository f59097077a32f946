// Which pods count, which would have to move, and which hold their node. Pure questions; the rules
// are Karpenter's (v1.14, its pod predicates and PodDisruptionBudget limits).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "disruption/world.h"

namespace karst::disruption {

// Neither ended nor being deleted.
bool is_active(const Pod& pod);
// karpenter.sh/do-not-disrupt holds it at this moment.
bool is_held(const World& world, const Pod& pod);
// Comes back elsewhere when its node goes: active, or a StatefulSet's that is being deleted; no
// daemon, no mirror.
bool is_reschedulable(const World& world, const Pod& pod);
// The eviction API would be asked to move it.
bool is_evictable(const World& world, const Pod& pod);
// Reschedulable, and neither its annotation nor its budgets forbid to move it for good.
bool is_reschedulable_now(const World& world, const Pod& pod);

// Waits for a node that could be made for it: not bound, unschedulable, with volumes that can be
// reached, and without a demand on labels that only one node can meet, or none that a pool makes.
bool is_wanting(const World& world, const Pod& pod);

// What forbids to evict an evictable pod.
struct Hold {
  enum Kind { kNone, kBlocked, kSeveral };
  Kind kind = kNone;
  std::vector<std::string> budgets;  // "namespace/name"
};
enum class BudgetTest {
  kNow,      // no eviction is allowed at this moment
  kForever,  // none ever is, as the budget is written
};
Hold hold_of(const World& world, const Pod& pod, BudgetTest test);
// The same for a pod of these labels, whatever else keeps it from being evicted. `unready`: it says
// that it is not ready.
Hold hold_by(const std::vector<model::DisruptionBudget>& budgets, std::string_view namespace_name,
             const model::Labels& labels, bool unready, BudgetTest test);

// It stays on a node that is being disrupted: it tolerates the taint, and is not evicted.
bool tolerates_disruption(const model::PodShape& shape);

std::string full_name(const Pod& pod);

}  // namespace karst::disruption
