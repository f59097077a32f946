#include "scheduling/relaxation_pools.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "model/quantity.h"
#include "scheduling/relaxations.h"

namespace karst::scheduling {
namespace {

// A pool with limits that would do.
struct Raised {
  std::size_t pool = 0;
  std::vector<std::pair<std::string, std::int64_t>> limits;  // those that must grow
};

// Figures that people would write.
std::int64_t unit_of(const std::string& resource) {
  if (resource == "cpu") return 1'000;
  if (resource == "memory" || resource == "ephemeral-storage") return std::int64_t{1} << 28;
  return 1;
}

std::int64_t rounded_up(std::int64_t amount, std::int64_t unit) {
  return amount > INT64_MAX - unit ? amount : (amount + unit - 1) / unit * unit;
}

std::string limit_text(const std::string& resource, std::int64_t amount) {
  if (resource == "cpu") return model::format_millis(amount);
  return resource == "memory" || resource == "ephemeral-storage" ? model::format_bytes(amount)
                                                                 : std::to_string(amount);
}

std::int64_t limit_of(const Pool& pool, const std::string& resource) {
  for (const auto& [name, limit] : pool.pool.limits)
    if (name == resource) return limit;
  return INT64_MAX;
}

void set_limits(const Raised& raised, Problem& problem) {
  for (auto& [name, limit] : problem.pools[raised.pool].pool.limits)
    for (const auto& [resource, amount] : raised.limits)
      if (name == resource) limit = amount;
}

// Pods of a group.
PodGroup so_many(const Problem& problem, const Unplaced& unplaced, std::int64_t count) {
  PodGroup group = problem.pods[unplaced.group];
  group.count = count;
  return group;
}

// The claims that these pods would get beside what there is, were there no limits or no minValues;
// nothing unless all get a place, and on claims of one pool.
std::vector<NewClaim> claims_without(const Problem& there_is, std::vector<PodGroup> pods,
                                     bool limits) {
  Problem problem = there_is;
  problem.pods = std::move(pods);
  for (Pool& pool : problem.pools) {
    if (limits) pool.pool.limits.clear();
    for (model::RequirementSpec& spec : pool.pool.requirements)
      if (!limits) spec.min_values = 0;
  }
  Prepared others(problem);
  Answer free = solve_once(others);
  if (!free.unplaced.empty() || free.claims.empty()) return {};
  for (const NewClaim& claim : free.claims)
    if (claim.pool != free.claims[0].pool) return {};
  return std::move(free.claims);
}

// What the limits would have to be for these claims beside what is used.
Raised limits_for(const Problem& there_is, const std::vector<NewClaim>& claims) {
  Raised raised{claims[0].pool, {}};
  const Pool& pool = there_is.pools[raised.pool];
  for (const auto& [resource, limit] : pool.pool.limits) {
    std::int64_t needed = 0;
    for (const auto& [name, amount] : pool.used)
      if (name == resource) needed += amount;
    for (const NewClaim& claim : claims) {
      std::int64_t least = resource == "nodes" ? 1 : INT64_MAX;
      if (resource != "nodes")
        for (const std::size_t type : claim.types)
          least = std::min(least, pool.types[type].capacity.amount(resource));
      needed += least;
    }
    if (needed > limit) raised.limits.emplace_back(resource, rounded_up(needed, unit_of(resource)));
  }
  return raised;
}

// Lowers one figure after the other as far as the pods still get their place when everything is
// solved again. False: not even the figures as they are do.
bool tighten(const Problem& problem, std::size_t group, std::int64_t left_wanted, Trials& trials,
             Raised& raised) {
  const auto does = [&](const Raised& tried) {
    Problem changed = problem;
    set_limits(tried, changed);
    const std::int64_t left = trials.left_over(changed, group);
    return left >= 0 && left <= left_wanted;
  };
  if (!does(raised)) return false;
  for (auto& [resource, amount] : raised.limits) {
    const std::int64_t unit = unit_of(resource);
    std::int64_t least = limit_of(problem.pools[raised.pool], resource) / unit;  // does not do
    std::int64_t most = amount / unit;                                           // does
    while (most - least > 1 && trials.possible()) {
      const std::int64_t middle = least + (most - least) / 2;
      amount = middle * unit;
      (does(raised) ? most : least) = middle;
    }
    amount = most * unit;
  }
  return true;
}

Relaxation told(const Pool& pool, const Raised& raised) {
  Relaxation all{"nodepool " + pool.pool.name.str(), "", "", "", ""};
  all.text = all.subject + ":";
  for (const auto& [resource, amount] : raised.limits) {
    const std::string from = limit_text(resource, limit_of(pool, resource));
    const std::string to = limit_text(resource, amount);
    const char* comma = all.field.empty() ? "" : ", ";
    all.text +=
        (all.field.empty() ? " limit " : " and limit ") + resource + " " + from + " → " + to;
    all.field += comma + ("limit " + resource);
    all.from += comma + from;
    all.to += comma + to;
  }
  return all;
}

// The smallest limits with which all pods of the row get a place, or else one more of them. Others
// that wait too may have to be placed first. In problems too large for trials: one more, untried.
std::optional<Relaxation> relax_limits(const Problem& problem, const Problem& there_is,
                                       const Answer& answer, std::size_t at, Trials& trials) {
  const Unplaced& unplaced = answer.unplaced[at];
  std::vector<std::vector<PodGroup>> tried = {{so_many(problem, unplaced, 1)}};
  if (trials.apply()) {
    std::vector<PodGroup> everybody;
    for (const Unplaced& other : answer.unplaced)
      everybody.push_back(so_many(problem, other, other.count));
    tried = {{so_many(problem, unplaced, unplaced.count)}, everybody, tried.front()};
  }
  for (const std::vector<PodGroup>& pods : tried) {
    const auto claims = claims_without(there_is, pods, true);
    if (claims.empty()) continue;
    Raised raised = limits_for(there_is, claims);
    if (raised.limits.empty()) continue;
    const std::int64_t left = &pods == &tried.back() ? unplaced.count - 1 : 0;
    if (trials.apply() && !tighten(problem, unplaced.group, left, trials, raised)) continue;
    return told(problem.pools[raised.pool], raised);
  }
  return std::nullopt;
}

// What each minValues of the pool would have to be lowered to for these claims, all of them
// together.
std::optional<Relaxation> relax_min_values(const Problem& problem, const NewClaim& claim,
                                           const Unplaced& unplaced, Trials& trials) {
  const Pool& pool = problem.pools[claim.pool];
  Problem changed = problem;
  Relaxation all{"nodepool " + pool.pool.name.str(), "", "", "", ""};
  all.text = all.subject + ":";
  for (model::RequirementSpec& spec : changed.pools[claim.pool].pool.requirements) {
    std::set<std::string> values;
    for (const std::size_t type : claim.types)
      for (std::string& value : values_counted(pool.types, type, spec.key))
        values.insert(std::move(value));
    const auto count = static_cast<int>(values.size());
    if (count >= spec.min_values) continue;
    const std::string from = std::to_string(spec.min_values);
    const std::string to = count == 0 ? "not demanded" : std::to_string(count);
    const char* comma = all.field.empty() ? "" : ", ";
    all.text += std::string(all.field.empty() ? " " : " and ") + "minValues of " + spec.key + " " +
                from + " → " + to;
    all.field += comma + ("minValues of " + spec.key);
    all.from += comma + from;
    all.to += comma + to;
    spec.min_values = count;
  }
  if (all.field.empty()) return std::nullopt;
  if (!trials.apply()) return all;
  const std::int64_t left = trials.left_over(changed, unplaced.group);
  if (left < 0 || left >= unplaced.count) return std::nullopt;
  return all;
}

}  // namespace

void relax_pools(const Prepared& prepared, const Problem& there_is, Trials& trials,
                 Answer& answer) {
  for (std::size_t i = 0; i < std::min(answer.unplaced.size(), kRelaxedRowsMax); ++i) {
    Unplaced& unplaced = answer.unplaced[i];
    const auto said = [&](std::string_view code) {
      return std::any_of(unplaced.reasons.begin(), unplaced.reasons.end(),
                         [&](const PoolReason& reason) { return reason.code == code; });
    };
    if (unplaced.relaxations.size() >= kRelaxationsMax) continue;
    if (said("limit")) {
      if (auto one = relax_limits(prepared.problem, there_is, answer, i, trials))
        unplaced.relaxations.push_back(std::move(*one));
    } else if (said("min_values")) {
      const auto claims = claims_without(there_is, {so_many(prepared.problem, unplaced, 1)}, false);
      if (claims.empty()) continue;
      if (auto one = relax_min_values(prepared.problem, claims[0], unplaced, trials))
        unplaced.relaxations.push_back(std::move(*one));
    }
  }
}

}  // namespace karst::scheduling
