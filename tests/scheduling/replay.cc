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
  return key == model::kHostnameLabel ? std::set<std::string>{place.host} : place.zones;
}

bool meet(const Place& a, const Place& b, const std::string& key) {
  for (const std::string& domain : domains_of(a, key))
    if (domains_of(b, key).contains(domain)) return true;
  return false;
}

class Replay {
 public:
  Replay(const Problem& problem, const Answer& answer) : problem_(problem), answer_(answer) {
    for (const Pool& pool : problem.pools)
      for (const InstanceType& type : pool.types)
        for (const Offering& offering : type.offerings)
          zones_.insert(std::string(value_of(offering, model::kZoneLabel)));
    for (const Node& node : problem.nodes)
      zones_.insert(std::string(model::label_value(node.labels, model::kZoneLabel)));
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

 private:
  Place place_of(bool on_claim, std::size_t target) const {
    if (!on_claim)
      return {"node " + std::to_string(target),
              {std::string(model::label_value(problem_.nodes[target].labels, model::kZoneLabel))}};
    Place place{"claim " + std::to_string(target), {}};
    for (const model::Offer& offer : answer_.claims[target].offers) place.zones.insert(offer.zone);
    return place;
  }

  std::int64_t count(const model::LabelSelector& selector, const std::string& key,
                     const std::string& domain) const {
    std::int64_t pods = 0;
    for (const Bound& one : bound_)
      if (selected(selector, *one.labels) &&
          domains_of(one.place, key) == std::set<std::string>{domain})
        ++pods;
    return pods;
  }

  std::string bad(const PodGroup& pod, const Place& place) const {
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

  bool spread_holds(const PodGroup& pod, const model::SpreadConstraint& spread,
                    const Place& place) const {
    const auto domains = domains_of(place, spread.topology_key);
    if (domains.size() != 1) return false;
    const std::int64_t here = count(spread.selector, spread.topology_key, *domains.begin()) +
                              (selected(spread.selector, pod.labels) ? 1 : 0);
    std::int64_t low = 0;  // a new host is always possible
    if (spread.topology_key != model::kHostnameLabel) {
      low = INT64_MAX;
      for (const std::string& zone : zones_)
        low = std::min(low, count(spread.selector, spread.topology_key, zone));
      if (static_cast<std::int32_t>(zones_.size()) < spread.min_domains) low = 0;
    }
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
  std::set<std::string> zones_;
  std::vector<Bound> bound_;
};

}  // namespace

std::string wrong_order(const Problem& problem, const Answer& answer) {
  return Replay(problem, answer).run();
}

}  // namespace karst::scheduling::test
