// What becomes of a whole problem when something in it is changed: for what cannot be tried with
// one pod beside what there is. Internal to relaxations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "scheduling/problem.h"

namespace karst::scheduling {

inline constexpr std::size_t kTrialsMax = 32;         // per answer
inline constexpr std::int64_t kTrialPodsMax = 1'000;  // of a problem that is solved again
inline constexpr std::size_t kTrialNodesMax = 200;    // of such a problem
inline constexpr std::size_t kTrialGroupsMax = 100;   // of such a problem

class Trials {
 public:
  Trials(const Problem& problem, const Answer& answer);

  // Whether the problem is small enough, and there are trials left.
  bool possible() const { return left_ > 0; }
  // Pods of the group that stay left over in the changed problem; -1 when another group would have
  // to give up a place for it, or no trial is left.
  std::int64_t left_over(const Problem& changed, std::size_t group);

 private:
  std::size_t left_ = 0;
  std::vector<std::int64_t> before_;  // pods left over in the answer, by group
};

}  // namespace karst::scheduling
