// A row of equal pods, prepared: what it asks for as a row of columns, where it may go, and with
// whom it cannot share a node. Owned by one solve call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "scheduling/columns.h"
#include "scheduling/problem.h"
#include "scheduling/requirement_table.h"

namespace karst::scheduling {

struct GroupRow {
  std::size_t group = 0;  // index into Problem::pods
  const PodGroup* source = nullptr;
  Row request;
  std::vector<RequirementId> alternatives;  // tried in this order
  std::string unsupported;                  // why this form cannot place it; empty: it can
  bool new_nodes_only =
      false;  // depends on the pods of a node, which the problem does not show for existing ones
  bool has_conflicts = false;  // conflicts() may be true for it and some group
  std::int64_t per_node = 0;   // at most so many on one node; 0: no demand
};

// By CPU, memory, other resources, all descending, then by content, so that the order of the input
// does not show.
std::vector<GroupRow> group_rows(const Problem& problem, const Columns& columns,
                                 RequirementTable& requirements);

// Pods of the two groups cannot be on one node: a host port taken twice, or anti-affinity over the
// hostname. Symmetric.
bool conflicts(const PodGroup& a, const PodGroup& b);

// Both bind the same port of the same protocol on addresses that overlap.
bool ports_conflict(const std::vector<model::HostPort>& a, const std::vector<model::HostPort>& b);

}  // namespace karst::scheduling
