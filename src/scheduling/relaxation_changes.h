// The changes of a pod that are worth a try, the smallest first. Internal to relaxations.
#pragma once

#include <functional>
#include <vector>

#include "scheduling/prepared.h"
#include "scheduling/problem.h"

namespace karst::scheduling {

struct Change {
  Relaxation relaxation;
  std::function<void(PodGroup&)> apply;
  int rank = 0;         // smaller is less to ask
  bool is_cut = false;  // of what is asked for
};

// At most `most` of them. `there_is`: the problem once what has a place is there.
std::vector<Change> changes_for(Prepared& prepared, const Problem& there_is, std::size_t row,
                                std::size_t most);

}  // namespace karst::scheduling
