#include "scheduling/min_values.h"

#include <set>
#include <string_view>

namespace karst::scheduling {

bool meets_min_values(const PoolTable& pool, const std::vector<std::size_t>& types) {
  for (std::size_t at = 0; at < pool.min_values.size(); ++at) {
    std::set<std::string_view> values;
    for (const std::size_t type : types)
      values.insert(pool.types[type].counted[at].begin(), pool.types[type].counted[at].end());
    if (static_cast<int>(values.size()) < pool.min_values[at].second) return false;
  }
  return true;
}

}  // namespace karst::scheduling
