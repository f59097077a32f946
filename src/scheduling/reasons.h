// Why a pool cannot take a pod of a group: Karpenter's checks in Karpenter's order and words
// (v1.14, "Failed to schedule pod, …"), with a code for programs. Only asked for groups that are
// left over.
#pragma once

#include <vector>

#include "scheduling/group_table.h"
#include "scheduling/pool_table.h"
#include "scheduling/problem.h"

namespace karst::scheduling {

// One reason per pool, in the order of `pools`. The pools are as the packing left them: limits
// count what was just opened.
std::vector<PoolReason> reasons_for(const GroupRow& group, const std::vector<PoolTable>& pools,
                                    const Columns& columns, const RequirementTable& requirements);

}  // namespace karst::scheduling
