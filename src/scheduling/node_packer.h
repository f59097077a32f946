// Places groups on existing nodes, first fit: initialized nodes first, then by name.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduling/columns.h"
#include "scheduling/group_table.h"
#include "scheduling/problem.h"
#include "scheduling/requirement_table.h"

namespace karst::scheduling {

// `order`: indices into `groups`; `left`: pods not placed yet, as `groups`, lowered by what is
// placed. Placements come sorted by node index. Node labels are taken at their word: a key that a
// node does not carry is not "any".
std::vector<NodePlacement> place_on_nodes(const Problem& problem, const Columns& columns,
                                          const RequirementTable& requirements,
                                          const std::vector<GroupRow>& groups,
                                          const std::vector<std::size_t>& order,
                                          std::vector<std::int64_t>& left);

}  // namespace karst::scheduling
