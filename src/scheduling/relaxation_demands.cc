#include "scheduling/relaxation_demands.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "model/labels.h"
#include "model/requirements.h"
#include "scheduling/relaxations.h"

namespace karst::scheduling {
namespace {

using LabelKeys = std::vector<std::string>;

bool is_of(const LabelKeys& keys, const std::string& key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

void give_up(const LabelKeys& keys, model::NodePool& pool) {
  std::erase_if(pool.requirements, [&](const auto& spec) { return is_of(keys, spec.key); });
}

LabelKeys demands_of(const model::NodePool& pool) {
  LabelKeys keys;
  for (const model::RequirementSpec& spec : pool.requirements)
    if (!is_of(keys, spec.key)) keys.push_back(spec.key);
  return keys;
}

Relaxation told(const model::NodePool& pool, const LabelKeys& keys) {
  Relaxation all{"nodepool " + pool.name.str(), "", "", "", ""};
  all.text = all.subject + ": ";
  for (const std::string& key : keys) {
    model::ValueSet set = model::ValueSet::any();
    for (const model::RequirementSpec& spec : pool.requirements)
      if (spec.key == key) set = model::intersection(set, model::to_value_set(spec));
    const std::string demand = model::describe(key, set);
    const bool is_first = all.field.empty();
    all.text += (is_first ? "" : " and ") + demand;
    all.field += (is_first ? "" : ", ") + ("demand on " + key);
    all.from += (is_first ? "" : ", ") + demand.substr(key.size() + 1);
    all.to += std::string(is_first ? "" : ", ") + "not demanded";
  }
  all.text += " → not demanded";
  return all;
}

class Demands {
 public:
  Demands(const Problem& problem, const Problem& there_is, Trials& trials)
      : problem_(problem), there_is_(there_is), trials_(trials) {
    std::size_t offerings = 1;
    for (const Pool& pool : problem.pools)
      for (const InstanceType& type : pool.types) offerings += type.offerings.size();
    left_ = std::min(kDemandTrialsMax, kDemandTrialOfferingsMax / offerings);
  }

  std::optional<Relaxation> relax(const Unplaced& unplaced) {
    for (std::size_t pool = 0; pool < problem_.pools.size(); ++pool) {
      const LabelKeys keys = fewest(pool, unplaced.group);
      if (keys.empty() || keys.size() > kDemandsToldMax) continue;
      Problem changed = problem_;
      give_up(keys, changed.pools[pool].pool);
      const std::int64_t left = trials_.left_over(changed, unplaced.group);
      if (left >= 0 && left < unplaced.count) return told(problem_.pools[pool].pool, keys);
    }
    return std::nullopt;
  }

 private:
  // Empty: not even without all of them has the pod a place there, or no trial is left.
  LabelKeys fewest(std::size_t pool, std::size_t group) {
    LabelKeys given_up = demands_of(problem_.pools[pool].pool);
    if (given_up.empty() || !would_do(pool, group, given_up)) return {};
    for (std::size_t i = 0; i < given_up.size();) {
      LabelKeys fewer = given_up;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      if (left_ == 0) return {};
      if (!fewer.empty() && would_do(pool, group, fewer))
        given_up = std::move(fewer);
      else
        ++i;
    }
    return given_up;
  }

  // One pod of the group beside what there is.
  bool would_do(std::size_t pool, std::size_t group, const LabelKeys& keys) {
    if (left_ == 0) return false;
    --left_;
    Problem one = there_is_;
    one.pods = {problem_.pods[group]};
    one.pods[0].count = 1;
    give_up(keys, one.pools[pool].pool);
    Prepared prepared(one);
    return place_once(prepared).unplaced.empty();
  }

  const Problem& problem_;
  const Problem& there_is_;
  Trials& trials_;
  std::size_t left_ = 0;
};

}  // namespace

void relax_demands(const Problem& problem, const Problem& there_is, Trials& trials,
                   Answer& answer) {
  if (!trials.apply()) return;
  Demands demands(problem, there_is, trials);
  for (std::size_t i = 0; i < std::min(answer.unplaced.size(), kRelaxedRowsMax); ++i) {
    Unplaced& unplaced = answer.unplaced[i];
    if (!unplaced.relaxations.empty() || unplaced.waits_for_reservation) continue;
    if (auto one = demands.relax(unplaced)) unplaced.relaxations.push_back(std::move(*one));
  }
}

}  // namespace karst::scheduling
