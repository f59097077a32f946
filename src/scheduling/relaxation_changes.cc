#include "scheduling/relaxation_changes.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "model/labels.h"
#include "model/quantity.h"
#include "scheduling/reasons.h"

namespace karst::scheduling {
namespace {

constexpr std::size_t kValuesShownMax = 5;
constexpr std::size_t kTolerationsMax = 8;  // sets of taints looked at
// By how much there is to ask for.
constexpr int kSmallCut = 0, kToleration = 1, kLabel = 2, kSpread = 3, kAffinity = 4, kVolume = 5,
              kPort = 6, kLargeCut = 7;

Change change(int rank, std::string field, std::string from, std::string to,
              std::function<void(PodGroup&)> apply) {
  Change result;
  result.rank = rank;
  result.relaxation = {"pod", std::move(field), std::move(from), std::move(to), ""};
  Relaxation& r = result.relaxation;
  r.text = r.field + (r.from.empty() ? "" : " " + r.from) + (r.to.empty() ? "" : " → " + r.to);
  result.apply = std::move(apply);
  result.is_cut = rank == kSmallCut || rank == kLargeCut;
  return result;
}

// What a label can be on the pools' machines and on the nodes.
struct Choice {
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

Choice choice_of(Prepared& prepared, const std::string& key) {
  Choice choice;
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
      for (const auto& [index, demands] : type.offers) {
        const bool offer_has = add(demands);
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
  const Choice choice = choice_of(prepared, key);
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
  for (const model::NodeSelectorTerm& term : pod.shape.required_terms)
    for (const model::RequirementSpec& spec : term.expressions) {
      if (spec.key != key) continue;
      asked.push_back(model::to_value_set(spec));
      from += (from.empty() ? "" : " or ") + model::describe("", asked.back()).substr(1);
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

// Kubernetes takes minDomains with DoNotSchedule alone.
void add_spread(const std::string& over, std::int32_t min_domains, std::vector<Change>& changes) {
  const auto of_key = [over](bool anyway) {
    return [over, anyway](PodGroup& one) {
      for (model::SpreadConstraint& spread : one.shape.spread) {
        if (spread.topology_key != over) continue;
        spread.min_domains = 0;
        spread.schedule_anyway |= anyway;
      }
    };
  };
  if (min_domains > 0)
    changes.push_back(change(kSpread, "minDomains of the spread over " + over,
                             std::to_string(min_domains), "none", of_key(false)));
  changes.push_back(change(kSpread, "spread over " + over, "DoNotSchedule",
                           min_domains > 0 ? "ScheduleAnyway without minDomains" : "ScheduleAnyway",
                           of_key(true)));
}

void add_topology(const PodGroup& pod, std::vector<Change>& changes) {
  // All of one key together: they are told by their key, with the most of their minDomains.
  std::map<std::string, std::int32_t> spreads;
  for (const model::SpreadConstraint& spread : pod.shape.spread)
    if (!spread.schedule_anyway) {
      std::int32_t& most = spreads[spread.topology_key];
      most = std::max(most, spread.min_domains);
    }
  for (const auto& [key, min_domains] : spreads) add_spread(key, min_domains, changes);
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

std::string amount_text(std::string_view resource, std::int64_t amount) {
  if (resource == "cpu" && amount > 1'000) {
    std::string text = std::to_string(amount % 1'000 + 1'000);
    text.replace(0, 1, std::to_string(amount / 1'000) + ".");
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
    return text;
  }
  if (resource == "cpu") return model::format_millis(amount);
  if (resource == "memory" || resource == "ephemeral-storage") return model::format_bytes(amount);
  return std::to_string(amount);
}

// A figure that people would write, no larger.
std::int64_t rounded_down(std::string_view resource, std::int64_t amount) {
  constexpr std::int64_t kMi = std::int64_t{1} << 20;
  std::int64_t unit = 1;
  if (resource == "cpu") unit = 10;
  if (resource == "memory" || resource == "ephemeral-storage")
    unit = amount >= 32 * 1024 * kMi ? 1024 * kMi : kMi;
  return amount < unit ? amount : amount / unit * unit;
}

// What is left of a pool's limits, in the order of PoolTable::limited_names.
std::vector<std::int64_t> limits_left(const PoolTable& table, const Pool& pool) {
  std::vector<std::int64_t> left;
  for (const std::string& name : table.limited_names) {
    left.push_back(INT64_MAX);
    for (const auto& [limited, limit] : pool.pool.limits)
      if (limited == name) left.back() = limit;
    for (const auto& [used, amount] : pool.used)
      if (used == name) left.back() -= amount;
  }
  return left;
}

// Looks for the most of one resource that a machine or a node which has enough of the others offers
// a pod of this row.
class Offered {
 public:
  Offered(Prepared& prepared, const Problem& there_is, const PodRow& row, std::size_t column)
      : prepared_(prepared), there_is_(there_is), row_(row), column_(column), rest_(row.request) {
    rest_[column] = 0;
  }

  // Where no machine and no node meets its demands on labels, the most of any.
  std::int64_t most() {
    for (const Way& way : row_.stages.back().ways) {
      for (std::size_t pool = 0; pool < prepared_.pools.pools().size(); ++pool)
        look_at_pool(
            pool, prepared_.requirements.combine(prepared_.pools.pools()[pool].base, way.strict));
      for (const std::size_t node : prepared_.nodes.order())
        if (prepared_.nodes.meets(node, way.strict)) look_at_node(node);
    }
    if (most_ > 0) return most_;
    for (std::size_t pool = 0; pool < prepared_.pools.pools().size(); ++pool)
      look_at_pool(pool, prepared_.pools.pools()[pool].base);
    for (const std::size_t node : prepared_.nodes.order()) look_at_node(node);
    return most_;
  }

 private:
  void look_at_pool(std::size_t at, RequirementId requirements) {
    if (requirements == kImpossible) return;
    const PoolTable& table = prepared_.pools.pools()[at];
    const std::vector<std::int64_t> left = limits_left(table, there_is_.pools[table.pool]);
    for (const Machine& machine : prepared_.pools.view(at, requirements).machines) {
      const auto& limited = table.types[machine.type].limited;
      bool within = true;
      for (std::size_t i = 0; i < left.size(); ++i) within = within && limited[i] <= left[i];
      if (within && fits(rest_, machine.room)) most_ = std::max(most_, machine.room[column_]);
    }
  }
  // Its room once what has a place is there.
  void look_at_node(std::size_t node) {
    Row room = prepared_.nodes.room()[node];
    model::Resources taken = prepared_.problem.nodes[node].available;
    taken -= there_is_.nodes[node].available;
    add_times(room, prepared_.columns.row(taken), -1);
    if (fits(rest_, room)) most_ = std::max(most_, room[column_]);
  }

  Prepared& prepared_;
  const Problem& there_is_;
  const PodRow& row_;
  std::size_t column_;
  Row rest_;  // what the pod asks of the other columns
  std::int64_t most_ = 0;
};

// A pod that asks for much less is another pod: such a cut is no advice.
constexpr std::int64_t kCutDivisorMax = 4;

void add_cuts(Prepared& prepared, const Problem& there_is, const PodRow& row,
              std::vector<Change>& changes) {
  for (std::size_t column = 0; column < row.request.size(); ++column) {
    const std::int64_t asked = row.request[column];
    const std::string resource(prepared.columns.name(column));
    if (asked <= 0 || column == kPodsColumn ||
        prepared.columns.volumes(resource) != row.request.size())
      continue;
    const std::int64_t most =
        rounded_down(resource, Offered(prepared, there_is, row, column).most());
    if (asked <= most || most <= 0 || most < asked / kCutDivisorMax) continue;
    const bool is_small = most >= asked / 4 * 3;
    changes.push_back(
        change(is_small ? kSmallCut : kLargeCut, resource, amount_text(resource, asked),
               amount_text(resource, most),
               [resource, most](PodGroup& one) { one.shape.requests.set_amount(resource, most); }));
  }
}

}  // namespace

std::vector<Change> changes_for(Prepared& prepared, const Problem& there_is, std::size_t row,
                                std::size_t most) {
  const PodRow& pod = prepared.rows[row];
  std::vector<Change> changes;
  add_cuts(prepared, there_is, pod, changes);
  add_tolerations(prepared, *pod.source, changes);
  add_labels(prepared, *pod.source, changes);
  add_topology(*pod.source, changes);
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Change& a, const Change& b) { return a.rank < b.rank; });
  if (changes.size() > most) changes.resize(most);
  return changes;
}

}  // namespace karst::scheduling
