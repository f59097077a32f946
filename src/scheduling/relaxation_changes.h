// The changes of a pod that are worth a try, the smallest first. Internal to relaxations.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "scheduling/prepared.h"
#include "scheduling/problem.h"

namespace karst::scheduling {

// By how much there is to ask for.
inline constexpr int kSmallCut = 0, kToleration = 1, kLabel = 2, kSpread = 3, kAffinity = 4,
                     kVolume = 5, kPort = 6, kLargeCut = 7;

struct Change {
  Relaxation relaxation;
  std::function<void(PodGroup&)> apply;
  int rank = 0;  // smaller is less to ask
  // Of figures: what does not do for all pods of the workload would be asked for again.
  bool must_do_for_all = false;
};

// Of the pod, with its text; cuts must do for all.
Change change(int rank, std::string field, std::string from, std::string to,
              std::function<void(PodGroup&)> apply);

// Both of them, as one.
Relaxation joined(const Relaxation& a, const Relaxation& b);

// At most `most` of them. `there_is`: the problem once what has a place is there.
std::vector<Change> changes_for(Prepared& prepared, const Problem& there_is, std::size_t row,
                                std::size_t most);

}  // namespace karst::scheduling
