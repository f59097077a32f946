#include "scheduling/relaxations.h"

#include <algorithm>
#include <memory>
#include <string>

#include "scheduling/aftermath.h"
#include "scheduling/relaxation_changes.h"
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
};

// A change of a workload is one of all its pods, those that have a place too: some more of them
// must get one then. A cut must do for all, or it would be a smaller one that is asked for next.
bool helps_all(const Problem& problem, const Unplaced& unplaced, const Candidate& candidate,
               Trials& trials) {
  if (problem.pods[unplaced.group].count == 1 || !trials.possible()) return true;
  Problem changed = problem;
  bool cut = false;
  for (const Change* change : candidate.changes) {
    change->apply(changed.pods[unplaced.group]);
    cut = cut || change->is_cut;
  }
  const std::int64_t left = trials.left_over(changed, unplaced.group);
  return left >= 0 && left < (cut ? 1 : unplaced.count);
}

// Tries every candidate on its own beside what there is; those that are placed are told. `work`:
// looks at nodes still allowed.
void try_candidates(const Problem& asked, const Problem& there_is,
                    const std::vector<Candidate>& candidates, std::size_t& work, Trials& trials,
                    Answer& answer) {
  if (candidates.empty()) return;
  Problem problem = there_is;
  for (const Candidate& candidate : candidates) problem.pods.push_back(candidate.pod);
  Prepared prepared(problem);
  auto packer = std::make_unique<Packer>(prepared, Strategy{});
  for (std::size_t i = 0; i < candidates.size() && work > problem.nodes.size(); ++i) {
    std::vector<Relaxation>& told = answer.unplaced[candidates[i].unplaced].relaxations;
    if (told.size() >= kRelaxationsMax) continue;
    work -= problem.nodes.size() + 1;
    if (!packer->place_only(i)) continue;  // and nothing has changed
    if (helps_all(asked, answer.unplaced[candidates[i].unplaced], candidates[i], trials))
      told.push_back(candidates[i].relaxation);
    packer = std::make_unique<Packer>(prepared, Strategy{});
  }
}

Relaxation joined(const Relaxation& a, const Relaxation& b) {
  return {a.subject, a.field + ", " + b.field, a.from + ", " + b.from, a.to + ", " + b.to,
          a.text + " and " + b.text};
}

}  // namespace

void add_relaxations(Prepared& prepared, Answer& answer) {
  const Problem there_is = after(prepared.problem, answer);
  std::vector<Candidate> singles;
  std::vector<Candidate> pairs;
  std::vector<std::vector<Change>> changes;  // candidates point into them
  const auto changed = [&](std::size_t unplaced) {
    Candidate candidate{unplaced, prepared.problem.pods[answer.unplaced[unplaced].group], {}};
    candidate.pod.count = 1;
    return candidate;
  };
  const std::size_t rows = std::min(answer.unplaced.size(), kRelaxedRowsMax);
  for (std::size_t i = 0; i < rows; ++i) {
    if (answer.unplaced[i].waits_for_reservation) {
      changes.emplace_back();
      continue;
    }
    changes.push_back(changes_for(prepared, there_is, answer.unplaced[i].group, kSinglesMax));
    for (const Change& change : changes[i]) {
      Candidate candidate = changed(i);
      change.apply(candidate.pod);
      candidate.relaxation = change.relaxation;
      candidate.changes = {&change};
      singles.push_back(std::move(candidate));
    }
  }
  std::size_t work = kRelaxationWorkMax;
  Trials trials(prepared.problem, answer);
  try_candidates(prepared.problem, there_is, singles, work, trials, answer);
  relax_groups(prepared, trials, answer);
  relax_pools(prepared, there_is, trials, answer);
  for (std::size_t i = 0; i < rows; ++i) {
    if (!answer.unplaced[i].relaxations.empty()) continue;
    const std::size_t most = std::min(changes[i].size(), kPairedMax);
    for (std::size_t a = 0; a < most; ++a)
      for (std::size_t b = a + 1; b < most; ++b) {
        Candidate candidate = changed(i);
        changes[i][a].apply(candidate.pod);
        changes[i][b].apply(candidate.pod);
        candidate.relaxation = joined(changes[i][a].relaxation, changes[i][b].relaxation);
        candidate.changes = {&changes[i][a], &changes[i][b]};
        pairs.push_back(std::move(candidate));
      }
  }
  try_candidates(prepared.problem, there_is, pairs, work, trials, answer);
}

}  // namespace karst::scheduling
