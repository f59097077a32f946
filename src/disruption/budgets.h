// Disruption budgets of node pools: how many nodes may be on their way out at once for a reason
// (Karpenter 1.14). The smallest budget counts of those that name the reason, or none, and whose
// window is open. A budget that cannot be read allows nothing, whatever reason it names; nor does a
// schedule without duration, or the reverse, which the API server refuses. Pure.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "disruption/world.h"
#include "model/cluster.h"

namespace karst::disruption {

// Reasons of voluntary disruption, as budgets name them.
inline constexpr std::string_view kDisruptionReasons[] = {"Empty", "Drifted", "Underutilized"};

inline constexpr std::int64_t kNoBudget = std::numeric_limits<std::int32_t>::max();

struct Allowance {
  std::int64_t nodes = kNoBudget;     // kNoBudget: no budget counts now
  std::string fault;                  // which budget cannot be read and why; empty: none
  std::optional<base::LogTime> ends;  // when a window that counts may close
};

// Percentages of `nodes` round up. A window opens when the schedule fires, and closes `duration`
// after the last time it did; a schedule that never fires is always open, as it is in Karpenter.
Allowance allowed_disruptions(const model::NodePool& pool, std::string_view reason,
                              std::int64_t nodes, base::LogTime now);

// By pool, what its budgets allow of its initialized nodes, less those that are not ready or on
// their way out for whatever cause; as in Karpenter, a node whose instance's end has been asked for
// is gone already.
std::map<std::string, std::int64_t> remaining_disruptions(const World& world,
                                                          std::string_view reason);

}  // namespace karst::disruption
