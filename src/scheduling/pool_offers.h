// What of a catalogue a pool can buy, said so that spreads count only domains that it can fill.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "model/cluster.h"
#include "scheduling/problem.h"

namespace karst::scheduling {

// A zone where the pool can buy nothing must not count as a domain of a spread, which nothing could
// then fill: such an offering says that it is in no zone (without a word on zones it would be in
// whichever the pool wants). And a type says which zones, capacity types and the like its offerings
// have. `place_labels`: every label that says where an offering is.
void fit_to_pool(const model::NodePool& pool, std::span<const std::string_view> place_labels,
                 std::vector<InstanceType>& types);

}  // namespace karst::scheduling
