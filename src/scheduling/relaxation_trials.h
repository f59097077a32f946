// What becomes of a whole problem when something in it is changed: whatever is told to help has
// been tried so. Internal to relaxations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "scheduling/problem.h"

namespace karst::scheduling {

inline constexpr std::size_t kTrialsMax = 128;        // per answer
inline constexpr std::size_t kTrialWorkMax = 32'000;  // pods and nodes of all trials together
inline constexpr std::int64_t kTrialPodsMax = 1'000;  // of a problem that is solved again
inline constexpr std::size_t kTrialNodesMax = 200;    // of such a problem
inline constexpr std::size_t kTrialGroupsMax = 100;   // of such a problem
// Of all trials together; but so many trials there are at any size of the catalogue.
inline constexpr std::size_t kTrialOfferingsMax = 200'000;
inline constexpr std::size_t kTrialsMin = 32;

class Trials {
 public:
  Trials(const Problem& problem, const Answer& answer);

  // Whether the problem is small enough to be solved again.
  bool apply() const { return apply_; }
  // And there are trials left.
  bool possible() const { return apply_ && left_ > 0; }
  // Pods of the group that stay left over in the changed problem; -1 when another group would have
  // to give up a place for it, or no trial is left.
  std::int64_t left_over(const Problem& changed, std::size_t group);

 private:
  bool apply_ = false;
  std::size_t left_ = 0;
  std::vector<std::int64_t> before_;  // pods left over in the answer, by group
};

}  // namespace karst::scheduling
