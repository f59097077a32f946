#include "scheduling/relaxation_trials.h"

#include <algorithm>
#include <memory>

#include "scheduling/packer.h"
#include "scheduling/prepared.h"

namespace karst::scheduling {

Trials::Trials(const Problem& problem, const Answer& answer) : before_(problem.pods.size(), 0) {
  std::int64_t pods = 0;
  for (const PodGroup& group : problem.pods) pods += std::min(group.count, kTrialPodsMax + 1);
  if (pods <= kTrialPodsMax && problem.nodes.size() <= kTrialNodesMax &&
      problem.pods.size() <= kTrialGroupsMax)
    left_ = kTrialsMax;
  for (const Unplaced& unplaced : answer.unplaced) before_[unplaced.group] += unplaced.count;
}

std::int64_t Trials::left_over(const Problem& changed, std::size_t group) {
  if (left_ == 0) return -1;
  --left_;
  Prepared prepared(changed);
  std::int64_t fewest = -1;
  // What one strategy places the search for the best answer places too.
  const bool may_lower = prepared.may_lower_min_values();
  for (const bool lowers_min_values : {false, true})
    for (const bool by_priority : {false, true})
      for (const bool fix_domains : {false, true}) {
        if (lowers_min_values && !may_lower) break;
        const auto packer =
            std::make_unique<Packer>(prepared, Strategy{.by_priority = by_priority,
                                                        .fix_domains = fix_domains,
                                                        .lowers_min_values = lowers_min_values});
        packer->run();
        const std::int64_t here = packer->left()[group];
        bool at_no_cost = true;
        for (std::size_t other = 0; other < before_.size(); ++other)
          at_no_cost = at_no_cost && (other == group || packer->left()[other] <= before_[other]);
        if (at_no_cost && (fewest < 0 || here < fewest)) fewest = here;
        if (fewest == 0) return 0;
      }
  return fewest;
}

}  // namespace karst::scheduling
