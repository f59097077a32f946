#include "scheduling/relaxations.h"

#include <algorithm>
#include <memory>
#include <string>

#include "scheduling/aftermath.h"
#include "scheduling/relaxation_changes.h"
#include "scheduling/relaxation_demands.h"
#include "scheduling/relaxation_groups.h"
#include "scheduling/relaxation_pools.h"
#include "scheduling/relaxation_trials.h"

namespace karst::scheduling {
namespace {

// A changed pod, and what it would be told as.
struct Candidate {
  std::size_t unplaced = 0;  // index into Answer::unplaced
  PodGroup pod;
  Relaxation relaxation;
  std::vector<const Change*> changes;
  int rank = 0;
  bool fits_beside = false;  // one such pod has a place beside what there is
};

// Tries every candidate on its own beside what there is. `work`: looks at nodes still allowed.
void look_beside(const Problem& there_is, std::vector<Candidate>& candidates, std::size_t& work) {
  if (candidates.empty()) return;
  Problem problem = there_is;
  for (const Candidate& candidate : candidates) problem.pods.push_back(candidate.pod);
  Prepared prepared(problem);
  auto packer = std::make_unique<Packer>(prepared, Strategy{});
  for (std::size_t i = 0; i < candidates.size() && work > problem.nodes.size(); ++i) {
    work -= problem.nodes.size() + 1;
    candidates[i].fits_beside = packer->place_only(i);
    // If not, nothing has changed.
    if (candidates[i].fits_beside) packer = std::make_unique<Packer>(prepared, Strategy{});
  }
}

// A change of a workload is one of all its pods, those that have a place too: some more of them
// must get one then, and nobody else may lose one. A figure must do for all. In problems too large
// to be solved again: what fits beside.
bool helps(const Problem& problem, const Unplaced& unplaced, const Candidate& candidate,
           Trials& trials) {
  if (!trials.apply()) return candidate.fits_beside;
  Problem changed = problem;
  bool for_all = false;
  for (const Change* change : candidate.changes) {
    change->apply(changed.pods[unplaced.group]);
    for_all = for_all || change->must_do_for_all;
  }
  const std::int64_t left = trials.left_over(changed, unplaced.group);
  return left >= 0 && left < (for_all ? 1 : unplaced.count);
}

// The same demand of the pod, given up further.
bool is_told(const Relaxation& relaxation, const std::vector<Relaxation>& told) {
  return !relaxation.from.empty() &&
         std::any_of(told.begin(), told.end(), [&](const Relaxation& one) {
           return one.field == relaxation.field && one.from == relaxation.from;
         });
}

// Adds to `told` those of one pod that fit beside what there is, or those that do not, and help.
void tell(const Problem& problem, const Unplaced& unplaced, std::size_t at,
          const std::vector<Candidate>& candidates, bool fit_beside, Trials& trials,
          std::vector<Relaxation>& told) {
  for (const Candidate& candidate : candidates)
    if (candidate.unplaced == at && candidate.fits_beside == fit_beside &&
        told.size() < kRelaxationsMax && !is_told(candidate.relaxation, told) &&
        helps(problem, unplaced, candidate, trials))
      told.push_back(candidate.relaxation);
}

Candidate candidate_of(const Problem& problem, const Answer& answer, std::size_t unplaced,
                       std::vector<const Change*> changes) {
  Candidate candidate{unplaced, problem.pods[answer.unplaced[unplaced].group], {}, {}, 0, false};
  candidate.pod.count = 1;
  for (const Change* change : changes) {
    change->apply(candidate.pod);
    candidate.rank += change->rank;
    candidate.relaxation = change == changes.front()
                               ? change->relaxation
                               : joined(candidate.relaxation, change->relaxation);
  }
  candidate.changes = std::move(changes);
  return candidate;
}

// Every two of the changes, the smallest first.
std::vector<Candidate> pairs_of(const Problem& problem, const Answer& answer, std::size_t unplaced,
                                const std::vector<Change>& changes) {
  std::vector<Candidate> pairs;
  const std::size_t most = std::min(changes.size(), kPairedMax);
  for (std::size_t a = 0; a < most; ++a)
    for (std::size_t b = a + 1; b < most; ++b)
      if (changes[a].relaxation.field != changes[b].relaxation.field)
        pairs.push_back(candidate_of(problem, answer, unplaced, {&changes[a], &changes[b]}));
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Candidate& a, const Candidate& b) { return a.rank < b.rank; });
  return pairs;
}

}  // namespace

void add_relaxations(Prepared& prepared, Answer& answer) {
  const Problem& problem = prepared.problem;
  const Problem there_is = after(problem, answer);
  const std::size_t rows = std::min(answer.unplaced.size(), kRelaxedRowsMax);
  std::vector<std::vector<Change>> changes(rows);  // candidates point into them
  std::vector<Candidate> singles;
  for (std::size_t i = 0; i < rows; ++i) {
    if (answer.unplaced[i].waits_for_reservation) continue;
    changes[i] = changes_for(prepared, there_is, answer.unplaced[i].group, kSinglesMax);
    for (const Change& change : changes[i])
      singles.push_back(candidate_of(problem, answer, i, {&change}));
  }
  std::size_t work = kRelaxationWorkMax;
  look_beside(there_is, singles, work);
  Trials trials(problem, answer);
  for (std::size_t i = 0; i < rows; ++i) {
    Unplaced& unplaced = answer.unplaced[i];
    tell(problem, unplaced, i, singles, true, trials, unplaced.relaxations);
  }
  relax_groups(prepared, trials, answer);
  relax_pools(prepared, there_is, trials, answer);
  for (std::size_t i = 0; i < rows; ++i) {
    Unplaced& unplaced = answer.unplaced[i];
    if (!unplaced.relaxations.empty()) continue;
    std::vector<Candidate> pairs = pairs_of(problem, answer, i, changes[i]);
    look_beside(there_is, pairs, work);
    std::vector<Relaxation> two;
    tell(problem, unplaced, i, pairs, true, trials, two);
    // One that helps by where others go then is smaller than two that help by themselves.
    if (trials.apply()) tell(problem, unplaced, i, singles, false, trials, unplaced.relaxations);
    if (unplaced.relaxations.empty()) unplaced.relaxations = std::move(two);
  }
  relax_demands(problem, there_is, trials, answer);
}

}  // namespace karst::scheduling
