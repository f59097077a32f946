#include "scheduling/relaxations.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>

#include "model/quantity.h"
#include "scheduling/aftermath.h"
#include "scheduling/relaxation_changes.h"

namespace karst::scheduling {
namespace {

// A changed pod, and what it would be told as.
struct Candidate {
  std::size_t unplaced = 0;  // index into Answer::unplaced
  PodGroup pod;
  Relaxation relaxation;
};

// Tries every candidate on its own beside what there is; those that are placed are told. `work`:
// looks at nodes still allowed.
void try_candidates(const Problem& there_is, const std::vector<Candidate>& candidates,
                    std::size_t& work, Answer& answer) {
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
    told.push_back(candidates[i].relaxation);
    packer = std::make_unique<Packer>(prepared, Strategy{});
  }
}

Relaxation joined(const Relaxation& a, const Relaxation& b) {
  return {a.subject, a.field + ", " + b.field, a.from + ", " + b.from, a.to + ", " + b.to,
          a.text + " and " + b.text};
}

std::string limit_text(const std::string& resource, std::int64_t amount) {
  if (resource == "cpu") return model::format_millis(amount);
  return resource == "memory" ? model::format_bytes(amount) : std::to_string(amount);
}

// What a pool's limits would have to be for the node that the pod would get without them.
void tell_limits(const Pool& pool, const NewClaim& claim, std::vector<Relaxation>& told) {
  const std::string subject = "nodepool " + pool.pool.name.str();
  Relaxation all{subject, "", "", "", ""};
  for (const auto& [resource, limit] : pool.pool.limits) {
    std::int64_t needed = resource == "nodes" ? 1 : 0;
    for (const auto& [name, amount] : pool.used)
      if (name == resource) needed += amount;
    if (resource != "nodes") {
      std::int64_t least = INT64_MAX;
      for (const std::size_t type : claim.types)
        least = std::min(least, pool.types[type].capacity.amount(resource));
      needed += least;
    }
    if (needed <= limit) continue;
    Relaxation one{subject, "limit " + resource, limit_text(resource, limit),
                   limit_text(resource, needed), ""};
    one.text = subject + ": " + one.field + " " + one.from + " → " + one.to;
    all = all.field.empty() ? one : joined(all, one);
  }
  if (!all.field.empty() && told.size() < kRelaxationsMax) told.push_back(std::move(all));
}

// How many values each minValues of the pool would have to do with.
void tell_min_values(const Pool& pool, const NewClaim& claim, std::vector<Relaxation>& told) {
  const std::string subject = "nodepool " + pool.pool.name.str();
  for (const model::RequirementSpec& spec : pool.pool.requirements) {
    std::set<std::string> values;
    for (const std::size_t type : claim.types) {
      const model::Requirements own(pool.types[type].requirements);
      if (const model::ValueSet* set = own.find(spec.key))
        values.insert(set->values.begin(), set->values.end());
    }
    if (static_cast<int>(values.size()) >= spec.min_values || told.size() >= kRelaxationsMax)
      continue;
    Relaxation one{subject, "minValues of " + spec.key, std::to_string(spec.min_values),
                   std::to_string(values.size()), ""};
    one.text = subject + ": " + one.field + " " + one.from + " → " + one.to;
    told.push_back(std::move(one));
  }
}

// The one claim that the pod would get if the pools were without limits, or without minValues.
void try_other_pools(const Prepared& prepared, const Problem& there_is, Answer& answer) {
  for (std::size_t i = 0; i < std::min(answer.unplaced.size(), kRelaxedRowsMax); ++i) {
    Unplaced& unplaced = answer.unplaced[i];
    const auto said = [&](std::string_view code) {
      return std::any_of(unplaced.reasons.begin(), unplaced.reasons.end(),
                         [&](const PoolReason& reason) { return reason.code == code; });
    };
    const bool limits = said("limit");
    if (!limits && !said("min_values")) continue;
    Problem problem = there_is;
    problem.pods = {prepared.problem.pods[unplaced.group]};
    problem.pods[0].count = 1;
    for (Pool& pool : problem.pools) {
      if (limits) pool.pool.limits.clear();
      for (model::RequirementSpec& spec : pool.pool.requirements)
        if (!limits) spec.min_values = 0;
    }
    Prepared others(problem);
    const Answer free = solve_once(others);
    if (free.claims.size() != 1) continue;
    const Pool& pool = there_is.pools[free.claims[0].pool];
    if (limits)
      tell_limits(pool, free.claims[0], unplaced.relaxations);
    else
      tell_min_values(pool, free.claims[0], unplaced.relaxations);
  }
}

}  // namespace

void add_relaxations(Prepared& prepared, Answer& answer) {
  const Problem there_is = after(prepared.problem, answer);
  std::vector<Candidate> singles;
  std::vector<Candidate> pairs;
  std::vector<std::vector<Change>> changes;
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
    changes.push_back(changes_for(prepared, answer.unplaced[i].group, kSinglesMax));
    for (const Change& change : changes[i]) {
      Candidate candidate = changed(i);
      change.apply(candidate.pod);
      candidate.relaxation = change.relaxation;
      singles.push_back(std::move(candidate));
    }
  }
  std::size_t work = kRelaxationWorkMax;
  try_candidates(there_is, singles, work, answer);
  try_other_pools(prepared, there_is, answer);
  for (std::size_t i = 0; i < rows; ++i) {
    if (!answer.unplaced[i].relaxations.empty()) continue;
    const std::size_t most = std::min(changes[i].size(), kPairedMax);
    for (std::size_t a = 0; a < most; ++a)
      for (std::size_t b = a + 1; b < most; ++b) {
        Candidate candidate = changed(i);
        changes[i][a].apply(candidate.pod);
        changes[i][b].apply(candidate.pod);
        candidate.relaxation = joined(changes[i][a].relaxation, changes[i][b].relaxation);
        pairs.push_back(std::move(candidate));
      }
  }
  try_candidates(there_is, pairs, work, answer);
}

}  // namespace karst::scheduling
