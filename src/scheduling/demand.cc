#include "scheduling/demand.h"

#include <map>
#include <utility>

namespace karst::scheduling {

Demand::Demand(const std::vector<Bits>& offers, const std::vector<Row>& requests,
               const std::vector<std::int64_t>& counts) {
  using Key = std::pair<std::vector<std::size_t>, Bits>;
  std::map<Key, std::size_t> ids;
  std::vector<std::vector<std::size_t>> resources;
  for (std::size_t g = 0; g < offers.size(); ++g) {
    std::vector<std::size_t> extended;
    for (std::size_t i = kFixedColumns; i < requests[g].size(); ++i)
      if (requests[g][i] > 0) extended.push_back(i);
    const auto [at, is_new] = ids.try_emplace(Key(extended, offers[g]), kinds_.size());
    if (is_new) {
      kinds_.push_back({offers[g], Row(requests[g].size(), 0), {}});
      resources.push_back(extended);
    }
    kind_of_.push_back(at->second);
    add_times(kinds_[at->second].sum, requests[g], counts[g]);
  }
  for (std::size_t i = 0; i < kinds_.size(); ++i)
    for (std::size_t j = 0; j < kinds_.size(); ++j)
      if (i == j || (resources[i] == resources[j] && kinds_[i].offers.intersects(kinds_[j].offers)))
        kinds_[i].neighbours.push_back(j);
}

Row Demand::for_group(std::size_t group) const {
  const Kind& own = kinds_[kind_of_[group]];
  Row sum(own.sum.size(), 0);
  for (const std::size_t kind : own.neighbours) add_times(sum, kinds_[kind].sum, 1);
  return sum;
}

void Demand::placed(std::size_t group, const Row& request, std::int64_t count) {
  add_times(kinds_[kind_of_[group]].sum, request, -count);
}

}  // namespace karst::scheduling
