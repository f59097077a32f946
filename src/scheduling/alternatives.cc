#include "scheduling/alternatives.h"

#include <algorithm>
#include <set>

#include "scheduling/min_values.h"

namespace karst::scheduling {
namespace {

// Instance types with such a machine, at most `most`. Reservations do not count: they run out.
template <class HasRoom>
std::set<std::size_t> types_with(const View& view, std::size_t most, const HasRoom& has_room) {
  std::set<std::size_t> types;
  for (const Machine& machine : view.machines) {
    if (types.size() >= most) break;
    if (machine.reservation == kNotReserved && has_room(machine.room)) types.insert(machine.type);
  }
  return types;
}

}  // namespace

std::size_t Alternatives::wanted(const View& view) {
  return std::clamp<std::size_t>(view.machines.size() / kAlternativesShare, 1, kAlternativesMin);
}

template <class HasRoom>
bool Alternatives::meets_min_values(const View& view, const HasRoom& has_room) const {
  const PoolTable& pool = pools_.pools()[view.pool];
  if (pool.min_values.empty()) return true;
  const std::set<std::size_t> types = types_with(view, view.machines.size(), has_room);
  return scheduling::meets_min_values(pool, {types.begin(), types.end()});
}

Alternatives::Known& Alternatives::known(const View& view, std::size_t machine) {
  if (view.index >= known_.size()) known_.resize(view.index + 1);
  known_[view.index].resize(view.machines.size());
  Known& known = known_[view.index][machine];
  if (known.is_known) return known;
  const auto has_room = [least = view.machines[machine].room](Amounts room) {
    return covers(room, least);
  };
  known = {true, meets_min_values(view, has_room),
           types_with(view, kAlternativesMin, has_room).size()};
  return known;
}

bool Alternatives::are_enough(const Face& face, std::size_t machine) {
  const Known& own = known(*face.view, machine);
  return own.types >= face.fewest_types && own.meets_min_values;
}

bool Alternatives::are_enough_for(const Face& face, const Row& content) const {
  const auto has_room = [&](Amounts room) { return fits(content, room); };
  return types_with(*face.view, face.fewest_types, has_room).size() >= face.fewest_types &&
         meets_min_values(*face.view, has_room);
}

}  // namespace karst::scheduling
