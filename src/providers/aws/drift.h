// Which machines are no longer what their EC2NodeClass says: reasons and their order are
// Karpenter's (v1.14). Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/cloud.h"
#include "model/cluster.h"
#include "providers/provider.h"

namespace karst::providers::aws {

// As Provider::drift_of. `resolved`: what the class's selectors found, as they are now.
std::vector<std::optional<std::string>> drift_of(const model::Catalogue& catalogue,
                                                 const model::NodeClass& node_class,
                                                 std::string_view resolved,
                                                 std::span<const DriftSubject> subjects);

}  // namespace karst::providers::aws
