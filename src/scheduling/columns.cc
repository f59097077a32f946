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
  Row row = {resources.cpu_millis, resources.memory_bytes, resources.ephemeral_bytes,
             resources.pods};
  row.reserve(size());
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

std::int64_t fit_count(const Row& room, const Row& request, std::int64_t most) {
  for (std::size_t i = 0; i < request.size() && most > 0; ++i)
    if (request[i] > 0) most = room[i] < request[i] ? 0 : std::min(most, room[i] / request[i]);
  return std::max<std::int64_t>(most, 0);
}

void add_times(Row& row, const Row& unit, std::int64_t times) {
  constexpr Wide kMost = Wide{1} << 62;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const Wide sum = row[i] + static_cast<Wide>(unit[i]) * times;
    row[i] = static_cast<std::int64_t>(std::clamp(sum, -kMost, kMost));
  }
}

}  // namespace karst::scheduling
