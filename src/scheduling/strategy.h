// What one attempt of a Packer goes by, and what it keeps in mind for rows that were left over
// before. Plain values.
#pragma once

#include <cstddef>
#include <vector>

#include "scheduling/topology.h"

namespace karst::scheduling {

// A domain that some claim of the pool has decided on.
struct Made {
  std::size_t pool = 0;  // index into PoolTables::pools
  int key = 0;
  int domain = 0;
  friend bool operator==(const Made&, const Made&) = default;
};

struct Strategy {
  bool by_priority = false;  // higher priorities first, then by size
  // Not the largest: of those that limits leave room for, more are small.
  bool smallest_first = false;
  // Claims in order of what taking the pod costs, not the emptiest first.
  bool cheapest_claim = false;
  // Among pools of equal weight and among alternatives the cheapest, not the first.
  bool cheapest_pool = false;
  // A pod with anti-affinity fixes its node's domain at once, so that others can take the rest.
  bool fix_domains = false;
  // Rows that were left over before. Pods that they want to be near, or away from, get their
  // domains at once, and the first of those that they want to be near go where they can follow.
  std::vector<std::size_t> troubled = {};
  // And they are placed before everybody else, and whoever is in their way last.
  bool troubled_first = false;
  // Pods that must be beside their like, all of which are where they may not go, begin anew, as
  // with Karpenter. The kube-scheduler would not bind them: a last resort.
  bool first_anew = false;
  // Under MinValuesPolicy::kBestEffort: minValues keep no pod off a claim and hold nothing of the
  // limits. For pods that are left over otherwise.
  bool lowers_min_values = false;
  // Where claims of other pods will be, known from the start.
  std::vector<Made> made = {};
  // Not empty: the n-th pod that no existing node takes goes to claim plan[n], which is one that
  // is there or the next one, or nowhere.
  std::vector<std::size_t> plan = {};
};

// Where a row can be, that wants to be near pods of a group or apart from them: under one of
// `ways`.
struct Wish {
  std::size_t row = 0;
  GroupId group = 0;
  std::vector<RequirementId> ways;
};

// A spread of a row in trouble, kept by pods that it counts although they have none themselves.
struct Balance {
  Constraint constraint;
  std::size_t row = 0;  // whose it is
};

}  // namespace karst::scheduling
