#include "scheduling/relaxation_changes.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "model/labels.h"
#include "scheduling/reasons.h"
#include "scheduling/relaxation_cuts.h"

namespace karst::scheduling {
namespace {

constexpr std::size_t kValuesShownMax = 5;
constexpr std::size_t kTolerationsMax = 8;  // sets of taints looked at
// What a label can be on the pools' machines and on the nodes.
struct KeyChoice {
  std::set<std::string> values;
  bool has_all = true;  // every machine and every node has the label: not to demand it is the same

  std::string text() const {
    std::string text = "any of ";
    std::size_t shown = 0;
    for (const std::string& value : values) {
      if (shown == kValuesShownMax) break;
      text += (shown++ == 0 ? "" : ", ") + value;
    }
    if (values.size() > kValuesShownMax)
      text += " and " + std::to_string(values.size() - kValuesShownMax) + " others";
    return text;
  }
};

KeyChoice choice_of(Prepared& prepared, const std::string& key) {
  KeyChoice choice;
  if (key == model::kHostnameLabel) return {{}, false};  // what comes has no name yet
  for (const PoolTable& pool : prepared.pools.pools()) {
    const model::ValueSet* base = prepared.requirements.at(pool.base).find(key);
    const auto add = [&](const model::Requirements& from) {
      const model::ValueSet* set = from.find(key);
      if (set == nullptr || set->complement) return false;
      for (const std::string& value : set->values)
        if (base == nullptr || base->contains(value)) choice.values.insert(value);
      return true;
    };
    const bool pool_has = add(prepared.requirements.at(pool.base));
    for (const TypeRow& type : pool.types) {
      const bool has = add(type.requirements) || pool_has;
      for (const OfferRow& offer : type.offers) {
        const bool offer_has = add(offer.demands);
        choice.has_all = choice.has_all && (has || offer_has);
      }
    }
  }
  for (const std::size_t node : prepared.nodes.order()) {
    const std::string_view value = model::label_value(prepared.problem.nodes[node].labels, key);
    if (value.empty())
      choice.has_all = false;
    else
      choice.values.emplace(value);
  }
  return choice;
}

// Another value of the label, where that is more than the pod takes anyway; and none, where that is
// more still. A pod that only rules values out takes nodes without the label, and keeps them.
void add_label(Prepared& prepared, const std::string& field, const std::string& key,
               const std::string& from, const std::vector<model::ValueSet>& asked,
               const std::function<void(PodGroup&)>& drop, std::vector<Change>& changes) {
  const KeyChoice choice = choice_of(prepared, key);
  const auto rules_out = [&](const std::string& value) {
    return std::any_of(asked.begin(), asked.end(),
                       [&](const model::ValueSet& set) { return !set.contains(value); });
  };
  const bool takes_none =
      std::any_of(asked.begin(), asked.end(), [](const auto& set) { return set.complement; });
  const bool gains = (choice.has_all || !takes_none) &&
                     std::any_of(choice.values.begin(), choice.values.end(), rules_out);
  if (gains)
    changes.push_back(change(
        kLabel, field, from, choice.text(),
        choice.has_all ? drop : [=, values = choice.values](PodGroup& one) {
          drop(one);
          std::vector<model::NodeSelectorTerm>& terms = one.shape.required_terms;
          if (terms.empty()) terms.emplace_back();
          for (model::NodeSelectorTerm& term : terms)
            term.expressions.push_back(
                {key, model::Operator::kIn, {values.begin(), values.end()}, 0});
        }));
  if (!gains || !choice.has_all)
    changes.push_back(change(kLabel, field, from, "not demanded", drop));
}

void add_affinity_label(Prepared& prepared, const PodGroup& pod, const std::string& key,
                        std::vector<Change>& changes) {
  std::string from;
  std::vector<model::ValueSet> asked;
  for (const model::NodeSelectorTerm& term : pod.shape.required_terms) {
    const char* between = " or ";
    for (const model::RequirementSpec& spec : term.expressions) {
      if (spec.key != key) continue;
      asked.push_back(model::to_value_set(spec));
      from += (from.empty() ? "" : between) + model::describe("", asked.back()).substr(1);
      between = " and ";
    }
  }
  const auto drop = [key](PodGroup& one) {
    for (model::NodeSelectorTerm& term : one.shape.required_terms) {
      std::erase_if(term.expressions, [&](const auto& spec) { return spec.key == key; });
      if (!term.expressions.empty()) continue;
      one.shape.required_terms.clear();  // one term that always holds
      return;
    }
  };
  add_label(prepared, "node affinity " + key, key, from, asked, drop, changes);
}

void add_labels(Prepared& prepared, const PodGroup& pod, std::vector<Change>& changes) {
  for (const auto& [key, value] : pod.shape.node_selector)
    add_label(
        prepared, "node selector " + key, key, value,
        {model::to_value_set({key, model::Operator::kIn, {value}, 0})},
        [name = key](PodGroup& one) {
          std::erase_if(one.shape.node_selector,
                        [&](const auto& label) { return label.first == name; });
        },
        changes);
  std::set<std::string> keys;
  for (const model::NodeSelectorTerm& term : pod.shape.required_terms)
    for (const model::RequirementSpec& spec : term.expressions) keys.insert(spec.key);
  for (const std::string& key : keys) add_affinity_label(prepared, pod, key, changes);
}

// Taints that say something about the node's state, not about whom it is for.
bool is_of_state(const model::Taint& taint) {
  return taint.key.starts_with("node.kubernetes.io/") || taint.key.starts_with("karpenter.sh/") ||
         taint.key.starts_with("node.cloudprovider.kubernetes.io/");
}

// Of the pools, and of nodes that are there.
void add_tolerations(const Prepared& prepared, const PodGroup& pod, std::vector<Change>& changes) {
  std::set<std::vector<model::Taint>> asked;
  const auto ask = [&](const std::vector<model::Taint>& taints) {
    std::vector<model::Taint> missing;
    for (const model::Taint& taint : taints)
      if (model::first_untolerated({taint}, pod.shape.tolerations) != nullptr)
        missing.push_back(taint);
    if (missing.empty() || std::any_of(missing.begin(), missing.end(), is_of_state) ||
        asked.size() >= kTolerationsMax || !asked.insert(missing).second)
      return;
    std::string names;
    for (const model::Taint& taint : missing)
      names += (names.empty() ? "" : ", ") + describe(taint);
    Change one = change(kToleration, "toleration", "", names, [missing](PodGroup& changed) {
      for (const model::Taint& taint : missing)
        changed.shape.tolerations.push_back({taint.key, false, taint.value, taint.effect, {}});
    });
    one.relaxation.text = "toleration for " + names;
    changes.push_back(std::move(one));
  };
  for (const PoolTable& pool : prepared.pools.pools()) ask(pool.spec().taints);
  for (const std::size_t node : prepared.nodes.order()) ask(prepared.problem.nodes[node].taints);
}

void soften_terms(PodGroup& pod, bool anti, const std::string& key) {
  for (model::PodAffinityTerm& term : pod.shape.affinity)
    if (term.preferred_weight == 0 && term.anti == anti && term.topology_key == key)
      term.preferred_weight = 1;
}

// The spreads over one key are told and changed together.
struct Spreads {
  std::int32_t min_domains = 0;  // the most of theirs
  std::int32_t max_skew = 0;     // the least of theirs
};

// How much more skew is tried, before to schedule anyway is.
constexpr std::int32_t kMoreSkew[] = {1, 2, 4, 8};

// Kubernetes takes minDomains with DoNotSchedule alone.
void add_spread(const std::string& over, const Spreads& spreads, std::size_t domains,
                std::vector<Change>& changes) {
  const auto of_all = [over](const std::function<void(model::SpreadConstraint&)>& apply) {
    return [over, apply](PodGroup& one) {
      for (model::SpreadConstraint& spread : one.shape.spread)
        if (spread.topology_key == over && !spread.schedule_anyway) apply(spread);
    };
  };
  const std::int32_t least = spreads.min_domains;
  const auto fewer = [&](std::int32_t to) {
    changes.push_back(change(
        kSpread, "minDomains of the spread over " + over, std::to_string(least),
        to == 0 ? "none" : std::to_string(to),
        of_all([to](auto& spread) { spread.min_domains = std::min(spread.min_domains, to); })));
  };
  const auto known = static_cast<std::int32_t>(std::min<std::size_t>(domains, INT32_MAX));
  if (known > 1 && known < least) fewer(known);
  if (least > 0) fewer(0);
  for (const std::int32_t more : kMoreSkew) {
    const std::int32_t to = spreads.max_skew + more;
    changes.push_back(
        change(kSpread, "maxSkew of the spread over " + over, std::to_string(spreads.max_skew),
               std::to_string(to),
               of_all([to](auto& spread) { spread.max_skew = std::max(spread.max_skew, to); })));
    changes.back().must_do_for_all = true;
  }
  changes.push_back(change(kSpread, "spread over " + over, "DoNotSchedule",
                           least > 0 ? "ScheduleAnyway without minDomains" : "ScheduleAnyway",
                           of_all([](auto& spread) {
                             spread.min_domains = 0;
                             spread.schedule_anyway = true;
                           })));
}

void add_topology(Prepared& prepared, const PodGroup& pod, std::vector<Change>& changes) {
  std::map<std::string, Spreads> by_key;
  for (const model::SpreadConstraint& spread : pod.shape.spread) {
    if (spread.schedule_anyway) continue;
    const auto [at, is_new] = by_key.try_emplace(spread.topology_key);
    Spreads& own = at->second;
    own.min_domains = std::max(own.min_domains, spread.min_domains);
    own.max_skew = is_new ? spread.max_skew : std::min(own.max_skew, spread.max_skew);
  }
  for (const auto& [key, spreads] : by_key)
    add_spread(key, spreads, choice_of(prepared, key).values.size(), changes);
  std::set<std::pair<bool, std::string>> terms;
  for (const model::PodAffinityTerm& term : pod.shape.affinity)
    if (term.preferred_weight == 0) terms.emplace(term.anti, term.topology_key);
  for (const auto& [is_anti, over] : terms)
    changes.push_back(
        change(kAffinity, (is_anti ? "pod anti-affinity over " : "pod affinity over ") + over,
               "required", "preferred",
               [anti = is_anti, key = over](PodGroup& one) { soften_terms(one, anti, key); }));
  if (std::any_of(pod.volumes.begin(), pod.volumes.end(),
                  [](const Volume& volume) { return !volume.topology.empty(); }))
    changes.push_back(change(kVolume, "place of its volumes", "", "anywhere", [](PodGroup& one) {
      for (Volume& volume : one.volumes) volume.topology.clear();
    }));
  if (!pod.shape.host_ports.empty())
    changes.push_back(change(kPort, "host ports", "", "none",
                             [](PodGroup& one) { one.shape.host_ports.clear(); }));
}

}  // namespace

Change change(int rank, std::string field, std::string from, std::string to,
              std::function<void(PodGroup&)> apply) {
  Change result;
  result.rank = rank;
  result.relaxation = {"pod", std::move(field), std::move(from), std::move(to), ""};
  Relaxation& r = result.relaxation;
  r.text = r.field + (r.from.empty() ? "" : " " + r.from) + (r.to.empty() ? "" : " → " + r.to);
  result.apply = std::move(apply);
  result.must_do_for_all = rank == kSmallCut || rank == kLargeCut;
  return result;
}

Relaxation joined(const Relaxation& a, const Relaxation& b) {
  return {a.subject, a.field + ", " + b.field, a.from + ", " + b.from, a.to + ", " + b.to,
          a.text + " and " + b.text};
}

std::vector<Change> changes_for(Prepared& prepared, const Problem& there_is, std::size_t row,
                                std::size_t most) {
  const PodRow& pod = prepared.rows[row];
  std::vector<Change> changes;
  add_cuts(prepared, there_is, pod, changes);
  add_tolerations(prepared, *pod.source, changes);
  add_labels(prepared, *pod.source, changes);
  add_topology(prepared, *pod.source, changes);
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Change& a, const Change& b) { return a.rank < b.rank; });
  if (changes.size() > most) changes.resize(most);
  return changes;
}

}  // namespace karst::scheduling
