// Whether instance types are of as many kinds as a pool's minValues say.
// Source: https://karpenter.sh/docs/concepts/nodepools/#min-values
#pragma once

#include <cstddef>
#include <vector>

#include "scheduling/pool_table.h"

namespace karst::scheduling {

// `types`: indices into PoolTable::types.
bool meets_min_values(const PoolTable& pool, const std::vector<std::size_t>& types);

}  // namespace karst::scheduling
