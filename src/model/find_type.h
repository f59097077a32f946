// The one type of a name, of types that are sorted by it, as a catalogue's are.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "model/cloud.h"

namespace karst::model {

// Null: there is none.
inline const InstanceType* find_type(const std::vector<InstanceType>& types,
                                     std::string_view name) {
  const auto at =
      std::lower_bound(types.begin(), types.end(), name,
                       [](const InstanceType& type, std::string_view n) { return type.name < n; });
  return at != types.end() && at->name == name ? &*at : nullptr;
}

}  // namespace karst::model
