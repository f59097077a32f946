// Resources as columns: cpu, memory, ephemeral storage, pods, then every other resource that a pod
// or a daemon of the problem asks for, by name. A Row has one amount per column, in the units of
// model/resources.h. What nobody asks for has no column: it can never be short.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/resources.h"
#include "scheduling/problem.h"

namespace karst::scheduling {

__extension__ typedef __int128 Wide;

using Row = std::vector<std::int64_t>;
inline constexpr std::size_t kFixedColumns = 4;

class Columns {
 public:
  explicit Columns(const Problem& problem);
  std::size_t size() const { return kFixedColumns + extended_.size(); }
  Row row(const model::Resources& resources) const;
  model::Resources resources(const Row& row) const;

 private:
  std::vector<std::string> extended_;  // sorted
};

// How often `request` fits into `room`, at most `most`. A request of 0 always fits, also where room
// is negative.
std::int64_t fit_count(const Row& room, const Row& request, std::int64_t most);

// `row` + `times` * `unit`, each amount kept within ±2^62.
void add_times(Row& row, const Row& unit, std::int64_t times);

}  // namespace karst::scheduling
