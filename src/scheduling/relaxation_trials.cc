#include "scheduling/relaxation_trials.h"

#include <algorithm>

#include "scheduling/prepared.h"
#include "scheduling/relaxations.h"

namespace karst::scheduling {

Trials::Trials(const Problem& problem, const Answer& answer) : before_(problem.pods.size(), 0) {
  std::int64_t pods = 0;
  for (const PodGroup& group : problem.pods) pods += std::min(group.count, kTrialPodsMax + 1);
  std::size_t offerings = 1;
  for (const Pool& pool : problem.pools)
    for (const InstanceType& type : pool.types) offerings += type.offerings.size();
  apply_ = pods <= kTrialPodsMax && problem.nodes.size() <= kTrialNodesMax &&
           problem.pods.size() <= kTrialGroupsMax;
  if (apply_)
    left_ = std::min({kTrialsMax,
                      kTrialWorkMax / (static_cast<std::size_t>(pods) + problem.nodes.size() + 1),
                      std::max<std::size_t>(kTrialOfferingsMax / offerings, kTrialsMin)});
  for (const Unplaced& unplaced : answer.unplaced) before_[unplaced.group] += unplaced.count;
}

std::int64_t Trials::left_over(const Problem& changed, std::size_t group) {
  if (left_ == 0) return -1;
  --left_;
  Prepared prepared(changed);
  const std::vector<std::int64_t> left = scheduling::left_over(prepared);
  for (std::size_t other = 0; other < before_.size(); ++other)
    if (other != group && left[other] > before_[other]) return -1;
  return left[group];
}

}  // namespace karst::scheduling
