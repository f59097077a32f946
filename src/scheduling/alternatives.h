// What else a claim may come up as: spot needs several types to choose from, and minValues several
// kinds of them. Part of refill.
#pragma once

#include <cstddef>
#include <vector>

#include "scheduling/columns.h"
#include "scheduling/pool_table.h"

namespace karst::scheduling {

// A claim may come up as so many types, or as many as the fewest before: spot needs alternatives.
// Of a small choice, as a quarter of it.
inline constexpr std::size_t kAlternativesMin = 15;
inline constexpr std::size_t kAlternativesShare = 4;

// A view that claims of a sector may be under.
struct Face {
  const View* view = nullptr;
  std::size_t fewest_types = 0;  // that a claim under it may come up as now
};

// Remembers what was asked of machines. Owned by one search.
class Alternatives {
 public:
  explicit Alternatives(const PoolTables& pools) : pools_(pools) {}
  // How many types have at least the machine's room, up to kAlternativesMin.
  std::size_t of(const View& view, std::size_t machine) { return known(view, machine).types; }
  // Whether those are as many as the face wants, and of as many kinds as its pool's minValues say.
  bool are_enough(const Face& face, std::size_t machine);
  // The same of the types with room for so much.
  bool are_enough_for(const Face& face, const Row& content) const;
  // So many types a claim of the view should have.
  static std::size_t wanted(const View& view);

 private:
  struct Known {
    bool is_known = false;
    bool meets_min_values = false;
    std::size_t types = 0;
  };
  Known& known(const View& view, std::size_t machine);
  template <class HasRoom>
  bool meets_min_values(const View& view, const HasRoom& has_room) const;

  const PoolTables& pools_;
  std::vector<std::vector<Known>> known_;  // by view and machine
};

}  // namespace karst::scheduling
