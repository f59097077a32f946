// Resources as columns: cpu, memory, ephemeral storage, pods, then every other resource that a pod
// or a daemon of the problem asks for, by name, then volumes by CSI driver. A Row has one amount
// per column, in the units of model/resources.h. What nobody asks for has no column: it can never
// be short.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/resources.h"
#include "scheduling/problem.h"

namespace karst::scheduling {

__extension__ typedef __int128 Wide;

using Row = std::vector<std::int64_t>;
using Amounts = std::span<const std::int64_t>;  // a row that lies elsewhere
inline constexpr std::size_t kFixedColumns = 4;
inline constexpr std::size_t kPodsColumn = 3;  // every pod asks for at least one of it
inline constexpr std::int64_t kUnlimited = std::int64_t{1} << 60;

class Columns {
 public:
  explicit Columns(const Problem& problem);
  std::size_t size() const { return kFixedColumns + extended_.size() + drivers_.size(); }
  Row row(const model::Resources& resources) const;  // no volumes
  model::Resources resources(const Row& row) const;  // without volumes
  // Sets the columns of the drivers to what can be attached.
  void limit_volumes(Row& row, const std::map<std::string, std::int64_t>& attach_limits) const;
  // The column of a driver's volumes; size() when no pod of the problem brings one.
  std::size_t volumes(std::string_view driver) const;
  std::string_view name(std::size_t column) const;

 private:
  std::vector<std::string> extended_;  // sorted
  std::vector<std::string> drivers_;   // sorted
};

// `request` fits into `room` beside `content`. A request of 0 always fits, also where room is
// negative.
inline bool fits_beside(const std::int64_t* content, const std::int64_t* request,
                        const std::int64_t* room, std::size_t columns) {
  for (std::size_t i = 0; i < columns; ++i)
    if (request[i] > 0 && content[i] + request[i] > room[i]) return false;
  return true;
}
inline bool fits(Amounts content, Amounts room) {
  for (std::size_t i = 0; i < content.size(); ++i)
    if (content[i] > 0 && content[i] > room[i]) return false;
  return true;
}
// As much room as the other in every column.
inline bool covers(Amounts room, Amounts other) {
  for (std::size_t i = 0; i < room.size(); ++i)
    if (room[i] < other[i]) return false;
  return true;
}

// Rooms side by side, looked at one after the other.
class Rooms {
 public:
  void add(const Row& room);
  std::size_t size() const { return size_; }
  // The first one, from `from` on and before `to`, with room for content and request as
  // fits_beside() says; `to`, or `from` where that is more: there is none.
  std::size_t first_for(const Row& content, const Row& request, std::size_t from,
                        std::size_t to) const;

 private:
  std::vector<std::int64_t> amounts_;
  std::size_t size_ = 0;
};

// How often `request` fits into `room`, at most `most`. A request of 0 always fits.
std::int64_t fit_count(Amounts room, Amounts request, std::int64_t most);

// `count` * `part` / `whole`, rounded down; `whole` is not 0.
std::int64_t part_of(std::int64_t count, std::int64_t part, std::int64_t whole);

// `row` + `times` * `unit`, each amount kept within ±2^62.
void add_times(Row& row, Amounts unit, std::int64_t times);

}  // namespace karst::scheduling
