// What the types of a pool's catalogue say of themselves.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "model/cluster.h"
#include "scheduling/problem.h"

namespace karst::scheduling {

// A type says which zones, capacity types and the like its offerings have; of `place_labels`, every
// label that says where an offering is, only those where the pool can buy it. Offerings stay as
// they are: those that the pool cannot buy count in what its demands rule out.
void fit_to_pool(const model::NodePool& pool, std::span<const std::string_view> place_labels,
                 std::vector<InstanceType>& types);

}  // namespace karst::scheduling
