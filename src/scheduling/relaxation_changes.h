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
  int rank = 0;  // smaller is less to ask
};

// At most `most` of them.
std::vector<Change> changes_for(Prepared& prepared, std::size_t row, std::size_t most);

}  // namespace karst::scheduling
