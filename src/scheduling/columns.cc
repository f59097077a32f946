#include "scheduling/columns.h"

#include <algorithm>
#include <set>

namespace karst::scheduling {

Columns::Columns(const Problem& problem) {
  std::set<std::string> names;
  std::set<std::string> drivers;
  const auto note = [&](const model::PodShape& shape) {
    for (const auto& [name, amount] : shape.requests.extended) names.insert(name);
  };
  for (const PodGroup& group : problem.pods) {
    note(group.shape);
    for (const Volume& volume : group.volumes)
      if (!volume.driver.empty()) drivers.insert(volume.driver);
  }
  for (const Daemon& daemon : problem.daemons) note(daemon.shape);
  extended_.assign(names.begin(), names.end());
  drivers_.assign(drivers.begin(), drivers.end());
}

Row Columns::row(const model::Resources& resources) const {
  Row row;
  row.reserve(size());
  row.assign(
      {resources.cpu_millis, resources.memory_bytes, resources.ephemeral_bytes, resources.pods});
  for (const std::string& name : extended_) row.push_back(resources.amount(name));
  row.resize(size(), 0);
  return row;
}

model::Resources Columns::resources(const Row& row) const {
  model::Resources result;
  result.cpu_millis = row[0];
  result.memory_bytes = row[1];
  result.ephemeral_bytes = row[2];
  result.pods = row[3];
  for (std::size_t i = 0; i < extended_.size(); ++i)
    result.set_amount(extended_[i], row[kFixedColumns + i]);
  return result;
}

void Columns::limit_volumes(Row& row,
                            const std::map<std::string, std::int64_t>& attach_limits) const {
  for (std::size_t i = 0; i < drivers_.size(); ++i) {
    const auto limit = attach_limits.find(drivers_[i]);
    row[kFixedColumns + extended_.size() + i] =
        limit == attach_limits.end() ? kUnlimited : limit->second;
  }
}

std::size_t Columns::volumes(std::string_view driver) const {
  const auto at = std::lower_bound(drivers_.begin(), drivers_.end(), driver);
  if (at == drivers_.end() || *at != driver) return size();
  return kFixedColumns + extended_.size() + static_cast<std::size_t>(at - drivers_.begin());
}

std::string_view Columns::name(std::size_t column) const {
  constexpr std::string_view kFixed[] = {"cpu", "memory", "ephemeral-storage", "pods"};
  if (column < kFixedColumns) return kFixed[column];
  column -= kFixedColumns;
  return column < extended_.size() ? extended_[column] : drivers_[column - extended_.size()];
}

void Rooms::add(const Row& room) {
  amounts_.insert(amounts_.end(), room.begin(), room.end());
  ++size_;
}

std::size_t Rooms::first_for(const Row& content, const Row& request, std::size_t from,
                             std::size_t to) const {
  constexpr std::size_t kColumnsMax = 16;  // usually; of more, the rest is looked at one by one
  std::int64_t need[kColumnsMax];
  const std::size_t columns = content.size();
  const std::size_t first = std::min(columns, kColumnsMax);
  for (std::size_t i = 0; i < first; ++i)
    need[i] = request[i] > 0 ? content[i] + request[i] : INT64_MIN;
  const std::int64_t* room = amounts_.data() + from * columns;
  const auto holds = [&] {
    for (std::size_t i = 0; i < first; ++i)
      if (need[i] > room[i]) return false;
    return first == columns || fits_beside(content.data() + first, request.data() + first,
                                           room + first, columns - first);
  };
  while (from < to && !holds()) {
    ++from;
    room += columns;
  }
  return from;
}

std::int64_t fit_count(Amounts room, Amounts request, std::int64_t most) {
  for (std::size_t i = 0; i < request.size() && most > 0; ++i) {
    if (request[i] <= 0) continue;
    std::int64_t all = 0;  // mostly they fit, or not one does: a division is dear
    if (room[i] < request[i])
      most = 0;
    else if (__builtin_mul_overflow(request[i], most, &all) || all > room[i])
      most = room[i] / request[i];
  }
  return std::max<std::int64_t>(most, 0);
}

std::int64_t part_of(std::int64_t count, std::int64_t part, std::int64_t whole) {
  std::int64_t product = 0;
  if (!__builtin_mul_overflow(count, part, &product)) return product / whole;
  return static_cast<std::int64_t>(static_cast<Wide>(count) * part / whole);
}

void add_times(Row& row, Amounts unit, std::int64_t times) {
  constexpr std::int64_t kMost = std::int64_t{1} << 62;
  for (std::size_t i = 0; i < row.size(); ++i) {
    std::int64_t product = 0;
    std::int64_t sum = 0;
    if (__builtin_mul_overflow(unit[i], times, &product) ||
        __builtin_add_overflow(row[i], product, &sum))
      sum = (unit[i] < 0) == (times < 0) ? kMost : -kMost;
    row[i] = std::clamp(sum, -kMost, kMost);
  }
}

}  // namespace karst::scheduling
