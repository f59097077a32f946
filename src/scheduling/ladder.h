// The machines that claims of a sector may come up as, the cheapest first. Part of refill.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "scheduling/alternatives.h"
#include "scheduling/pool_table.h"

namespace karst::scheduling {

struct Rung {
  const View* view = nullptr;
  std::size_t index = 0;  // into View::machines
  const Machine& machine() const { return view->machines[index]; }
};

class Ladder {
 public:
  Ladder(const PoolTables& pools, const std::vector<Face>& faces, Alternatives& alternatives);
  // Every machine of any face that no cheaper one has as much room as.
  const std::vector<Rung>& steps() const { return steps_; }
  // The same of machines that a claim may fill to the brim and still have alternatives enough.
  const std::vector<Rung>& whole() const { return whole_; }
  // The same for a claim that stays under one face; nullptr: under any.
  const std::vector<Rung>& whole(const View* view) const {
    return view == nullptr ? whole_ : whole_under_.at(view->index);
  }

 private:
  std::vector<Rung> steps_, whole_;
  std::map<std::size_t, std::vector<Rung>> whole_under_;  // by View::index
};

// Of as many machines of the size as it takes at least for all that is asked for.
Wide price_of_all(const Row& asked, const Rung& rung);
// Whether that is no more than `most`.
bool costs_at_most(const Row& asked, const Rung& rung, Wide most);
// As price_of_all, where a part of a machine costs that part; one whole machine at least.
Wide price_of_share(const Row& asked, const Rung& rung);

}  // namespace karst::scheduling
