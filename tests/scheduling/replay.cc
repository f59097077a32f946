#include "tests/scheduling/replay.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "model/labels.h"

namespace karst::scheduling::test {
namespace {

struct Place {
  std::string host;
  std::set<std::string> zones;  // that it may be in
  std::set<std::string> capacity_types;
};

struct Bound {
  Place place;
  const model::Labels* labels;
  std::vector<model::PodAffinityTerm> repels;
};

bool selected(const model::LabelSelector& selector, const model::Labels& labels) {
  for (const model::RequirementSpec& spec : selector.expressions) {
    const std::string value(model::label_value(labels, spec.key));
    if (std::find(spec.values.begin(), spec.values.end(), value) == spec.values.end()) return false;
  }
  return true;
}

std::set<std::string> domains_of(const Place& place, const std::string& key) {
  if (key == model::kHostnameLabel) return {place.host};
  return key == model::kCapacityTypeLabel ? place.capacity_types : place.zones;
}

bool meet(const Place& a, const Place& b, const std::string& key) {
  for (const std::string& domain : domains_of(a, key))
    if (domains_of(b, key).contains(domain)) return true;
  return false;
}

// Selectors and terms of these tests are over the zone alone.
bool may_go(const PodGroup& pod, const Place& place) {
  const auto meets = [&](const std::vector<model::RequirementSpec>& term) {
    return std::any_of(place.zones.begin(), place.zones.end(), [&](const std::string& zone) {
      return selected({term, false}, {{std::string(model::kZoneLabel), zone}});
    });
  };
  for (const auto& [key, value] : pod.shape.node_selector)
    if (!meets({{key, model::Operator::kIn, {value}, 0}})) return false;
  const auto& terms = pod.shape.required_terms;
  return terms.empty() || std::any_of(terms.begin(), terms.end(),
                                      [&](const auto& term) { return meets(term.expressions); });
}

// Types that keep the pool's limits as they are at the start; none where these are fewer than its
// minValues demand (which in these tests are of the instance type alone).
std::vector<const InstanceType*> types_to_come(const Pool& pool) {
  std::vector<const InstanceType*> types;
  for (const InstanceType& type : pool.types)
    if (std::all_of(pool.pool.limits.begin(), pool.pool.limits.end(), [&](const auto& limit) {
          std::int64_t left = limit.second;
          for (const auto& [name, amount] : pool.used) left -= name == limit.first ? amount : 0;
          return left >= (limit.first == "nodes" ? 1 : type.capacity.amount(limit.first));
        }))
      types.push_back(&type);
  for (const model::RequirementSpec& demand : pool.pool.requirements)
    if (static_cast<int>(types.size()) < demand.min_values) types.clear();
  return types;
}

// The offering is one of those values of its zone and capacity type that the pool demands.
bool may_sell(const Pool& pool, const Offering& offering) {
  return std::all_of(pool.pool.requirements.begin(), pool.pool.requirements.end(),
                     [&](const model::RequirementSpec& spec) {
                       const std::string value(value_of(offering, spec.key));
                       return spec.op != model::Operator::kIn || value.empty() ||
                              std::find(spec.values.begin(), spec.values.end(), value) !=
                                  spec.values.end();
                     });
}

class Replay {
 public:
  Replay(const Problem& problem, const Answer& answer) : problem_(problem), answer_(answer) {
    for (const Pool& pool : problem.pools)
      for (const InstanceType* type : types_to_come(pool))
        for (const Offering& offering : type->offerings)
          if (may_sell(pool, offering))
            sold_.insert({std::string(value_of(offering, model::kZoneLabel)),
                          std::string(value_of(offering, model::kCapacityTypeLabel))});
    for (const Node& node : problem.nodes)
      sold_.insert({std::string(model::label_value(node.labels, model::kZoneLabel)),
                    std::string(model::label_value(node.labels, model::kCapacityTypeLabel))});
    for (const BoundPods& one : problem.bound)
      for (std::int64_t i = 0; i < one.count; ++i)
        bound_.push_back({place_of(false, one.node), &one.labels, one.anti_affinity});
  }

  std::string run() {
    for (const Turn& turn : answer_.order)
      for (std::int64_t i = 0; i < turn.count; ++i) {
        const PodGroup& pod = problem_.pods[turn.group];
        const Place place = place_of(turn.on_claim, turn.target);
        if (std::string text = bad(pod, place); !text.empty())
          return "group " + std::to_string(turn.group) + " on " + place.host + ": " + text;
        Bound one{place, &pod.labels, {}};
        for (const model::PodAffinityTerm& term : pod.shape.affinity)
          if (term.anti && term.preferred_weight == 0) one.repels.push_back(term);
        bound_.push_back(std::move(one));
      }
    return "";
  }

  // After run(): a node or claim where a pod that is left over could be bound all the same. Pods
  // ask for CPU alone.
  std::string welcome() const {
    for (const Unplaced& left : answer_.unplaced) {
      const PodGroup& pod = problem_.pods[left.group];
      for (std::size_t i = 0; i < problem_.nodes.size(); ++i) {
        const Place place = place_of(false, i);
        if (used(place.host) + pod.shape.requests.cpu_millis <=
                problem_.nodes[i].available.cpu_millis &&
            bad(pod, place).empty())
          return "group " + std::to_string(left.group) + " on " + place.host;
      }
    }
    return "";
  }

 private:
  std::int64_t used(const std::string& host) const {
    std::int64_t millis = 0;
    for (const Turn& turn : answer_.order)
      if (place_of(turn.on_claim, turn.target).host == host)
        millis += turn.count * problem_.pods[turn.group].shape.requests.cpu_millis;
    return millis;
  }

  Place place_of(bool on_claim, std::size_t target) const {
    if (!on_claim)
      return {"node " + std::to_string(target),
              {std::string(model::label_value(problem_.nodes[target].labels, model::kZoneLabel))},
              {std::string(
                  model::label_value(problem_.nodes[target].labels, model::kCapacityTypeLabel))}};
    Place place{"claim " + std::to_string(target), {}, {}};
    for (const model::Offer& offer : answer_.claims[target].offers) {
      place.zones.insert(offer.zone);
      place.capacity_types.insert(offer.capacity_type);
    }
    return place;
  }

  std::int64_t count(const model::LabelSelector& selector, const std::string& key,
                     const std::string& domain, const PodGroup* seen_by = nullptr) const {
    std::int64_t pods = 0;
    for (const Bound& one : bound_)
      if (selected(selector, *one.labels) &&
          domains_of(one.place, key) == std::set<std::string>{domain} &&
          (seen_by == nullptr || may_go(*seen_by, one.place)))
        ++pods;
    return pods;
  }

  std::string bad(const PodGroup& pod, const Place& place) const {
    if (!may_go(pod, place)) return "its zone";
    for (const model::SpreadConstraint& spread : pod.shape.spread)
      if (!spread.schedule_anyway && !spread_holds(pod, spread, place))
        return "spread over " + spread.topology_key;
    for (const model::PodAffinityTerm& term : pod.shape.affinity) {
      if (term.preferred_weight != 0) continue;
      if (term.anti) {
        for (const Bound& one : bound_)
          if (selected(term.selector, *one.labels) && meet(place, one.place, term.topology_key))
            return "anti-affinity over " + term.topology_key;
      } else if (!affinity_holds(pod, term, place)) {
        return "affinity over " + term.topology_key;
      }
    }
    for (const Bound& one : bound_)
      for (const model::PodAffinityTerm& term : one.repels)
        if (selected(term.selector, pod.labels) && meet(place, one.place, term.topology_key))
          return "somebody's anti-affinity over " + term.topology_key;
    return "";
  }

  // The domains of every node that meets any of the pod's terms (nullptr: of every node); a pool
  // that may have nodes can make every zone, and the answer's claims are nodes from the start.
  std::set<std::string> eligible(const PodGroup* pod, const std::string& key) const {
    const auto counts = [&](const Place& place) { return pod == nullptr || may_go(*pod, place); };
    std::set<std::string> domains;
    if (key == model::kHostnameLabel) {
      for (std::size_t i = 0; i < problem_.nodes.size(); ++i)
        if (counts(place_of(false, i))) domains.insert(place_of(false, i).host);
      for (std::size_t i = 0; i < answer_.claims.size(); ++i)
        if (counts(place_of(true, i))) domains.insert(place_of(true, i).host);
      return domains;
    }
    for (const auto& [zone, capacity_type] : sold_)
      if (const Place place{"", {zone}, {capacity_type}}; counts(place))
        for (const std::string& domain : domains_of(place, key)) domains.insert(domain);
    domains.erase("");  // nodes without the label
    return domains;
  }

  bool spread_holds(const PodGroup& pod, const model::SpreadConstraint& spread,
                    const Place& place) const {
    const auto domains = domains_of(place, spread.topology_key);
    if (domains.size() != 1) return false;
    const PodGroup* sees = spread.ignore_node_affinity ? nullptr : &pod;
    const std::int64_t here = count(spread.selector, spread.topology_key, *domains.begin(), sees) +
                              (selected(spread.selector, pod.labels) ? 1 : 0);
    const std::set<std::string> all = eligible(sees, spread.topology_key);
    std::int64_t low = INT64_MAX;
    for (const std::string& domain : all)
      low = std::min(low, count(spread.selector, spread.topology_key, domain, sees));
    if (all.empty() || static_cast<std::int32_t>(all.size()) < spread.min_domains) low = 0;
    return here - low <= spread.max_skew;
  }

  bool affinity_holds(const PodGroup& pod, const model::PodAffinityTerm& term,
                      const Place& place) const {
    bool any = false;
    for (const Bound& one : bound_) {
      if (!selected(term.selector, *one.labels)) continue;
      any = true;
      if (one.place.host == place.host) return true;
    }
    if (!any) return selected(term.selector, pod.labels);  // the first of its kind
    for (const std::string& domain : domains_of(place, term.topology_key))
      if (count(term.selector, term.topology_key, domain) == 0) return false;
    return true;
  }

  const Problem& problem_;
  const Answer& answer_;
  std::set<std::pair<std::string, std::string>> sold_;  // zones with capacity types
  std::vector<Bound> bound_;
};

}  // namespace

std::string wrong_order(const Problem& problem, const Answer& answer) {
  return Replay(problem, answer).run();
}

std::string wrongly_left(const Problem& problem, const Answer& answer) {
  Replay replay(problem, answer);
  const std::string text = replay.run();
  return text.empty() ? replay.welcome() : text;
}

namespace {

// Every state that can be reached by binding one pod more: pods per group and zone.
class Everything {
 public:
  Everything(const Problem& problem, const std::vector<std::string>& zones)
      : problem_(problem), zones_(zones) {}

  std::int64_t most() {
    visit(State(problem_.pods.size(), std::vector<std::int64_t>(zones_.size(), 0)), 0);
    return most_;
  }

 private:
  using State = std::vector<std::vector<std::int64_t>>;

  void visit(const State& state, std::int64_t bound) {
    if (!seen_.insert(state).second) return;
    most_ = std::max(most_, bound);
    for (std::size_t group = 0; group < state.size(); ++group) {
      std::int64_t placed = 0;
      for (const std::int64_t pods : state[group]) placed += pods;
      for (std::size_t zone = 0; zone < zones_.size() && placed < problem_.pods[group].count;
           ++zone)
        if (may_join(state, problem_.pods[group], zone)) {
          State next = state;
          ++next[group][zone];
          visit(next, bound + 1);
        }
    }
  }

  std::int64_t count(const State& state, const model::LabelSelector& selector, std::size_t zone,
                     const PodGroup* seen_by = nullptr) const {
    std::int64_t pods = 0;
    for (std::size_t group = 0; group < state.size(); ++group)
      if (selected(selector, problem_.pods[group].labels) &&
          (seen_by == nullptr || may_go(*seen_by, {"", {zones_[zone]}, {}})))
        pods += state[group][zone];
    return pods;
  }

  bool may_join(const State& state, const PodGroup& pod, std::size_t zone) const {
    if (!may_go(pod, {"", {zones_[zone]}, {}})) return false;
    for (const model::SpreadConstraint& spread : pod.shape.spread) {
      const PodGroup* sees = spread.ignore_node_affinity ? nullptr : &pod;
      std::int64_t low = INT64_MAX;
      std::int32_t domains = 0;
      for (std::size_t other = 0; other < zones_.size(); ++other) {
        if (sees != nullptr && !may_go(pod, {"", {zones_[other]}, {}})) continue;
        low = std::min(low, count(state, spread.selector, other, sees));
        ++domains;
      }
      if (domains < spread.min_domains) low = 0;
      const std::int64_t self = selected(spread.selector, pod.labels) ? 1 : 0;
      if (count(state, spread.selector, zone, sees) + self - low > spread.max_skew) return false;
    }
    for (const model::PodAffinityTerm& term : pod.shape.affinity) {
      const std::int64_t here = count(state, term.selector, zone);
      std::int64_t anywhere = 0;
      for (std::size_t other = 0; other < zones_.size(); ++other)
        anywhere += count(state, term.selector, other);
      const bool is_first = anywhere == 0 && selected(term.selector, pod.labels);
      if (term.anti ? here > 0 : here == 0 && !is_first) return false;
    }
    for (std::size_t group = 0; group < state.size(); ++group)
      for (const model::PodAffinityTerm& term : problem_.pods[group].shape.affinity)
        if (term.anti && state[group][zone] > 0 && selected(term.selector, pod.labels))
          return false;
    return true;
  }

  const Problem& problem_;
  const std::vector<std::string>& zones_;
  std::set<State> seen_;
  std::int64_t most_ = 0;
};

}  // namespace

std::int64_t most_bound(const Problem& problem, const std::vector<std::string>& zones) {
  return Everything(problem, zones).most();
}

}  // namespace karst::scheduling::test
