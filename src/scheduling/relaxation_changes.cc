#include "scheduling/relaxation_changes.h"

#include <algorithm>
#include <set>
#include <string>

#include "model/labels.h"
#include "model/quantity.h"
#include "scheduling/reasons.h"

namespace karst::scheduling {
namespace {

constexpr std::size_t kValuesShownMax = 5;
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
  return result;
}

// The values of a label that the pools' machines can have.
std::string any_of(Prepared& prepared, const std::string& key) {
  std::set<std::string> values;
  for (const PoolTable& pool : prepared.pools.pools()) {
    const auto add = [&](const model::Requirements& from) {
      const model::ValueSet* set = from.find(key);
      const model::ValueSet* base = prepared.requirements.at(pool.base).find(key);
      if (set == nullptr || set->complement) return;
      for (const std::string& value : set->values)
        if (base == nullptr || base->contains(value)) values.insert(value);
    };
    add(prepared.requirements.at(pool.base));
    for (const TypeRow& type : pool.types) {
      add(type.requirements);
      for (const auto& [index, demands] : type.offers) add(demands);
    }
  }
  if (values.empty()) return "not demanded";
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

void add_labels(Prepared& prepared, const PodGroup& pod, std::vector<Change>& changes) {
  for (const auto& [key, value] : pod.shape.node_selector)
    changes.push_back(change(kLabel, "node selector " + key, value, any_of(prepared, key),
                             [key = key](PodGroup& one) {
                               std::erase_if(one.shape.node_selector,
                                             [&](const auto& label) { return label.first == key; });
                             }));
  std::set<std::string> keys;
  for (const model::NodeSelectorTerm& term : pod.shape.required_terms)
    for (const model::RequirementSpec& spec : term.expressions) keys.insert(spec.key);
  for (const std::string& key : keys) {
    std::string from;
    for (const model::NodeSelectorTerm& term : pod.shape.required_terms)
      for (const model::RequirementSpec& spec : term.expressions)
        if (spec.key == key)
          from += (from.empty() ? "" : " or ") +
                  model::describe("", model::to_value_set(spec)).substr(1);
    changes.push_back(
        change(kLabel, "node affinity " + key, from, any_of(prepared, key), [key](PodGroup& one) {
          for (model::NodeSelectorTerm& term : one.shape.required_terms) {
            std::erase_if(term.expressions, [&](const auto& spec) { return spec.key == key; });
            if (!term.expressions.empty()) continue;
            one.shape.required_terms.clear();  // one term that always holds
            return;
          }
        }));
  }
}

void add_tolerations(const Prepared& prepared, const PodGroup& pod, std::vector<Change>& changes) {
  std::set<std::vector<model::Taint>> asked;
  for (const PoolTable& pool : prepared.pools.pools()) {
    std::vector<model::Taint> missing;
    for (const model::Taint& taint : pool.spec().taints)
      if (model::first_untolerated({taint}, pod.shape.tolerations) != nullptr)
        missing.push_back(taint);
    if (missing.empty() || !asked.insert(missing).second) continue;
    std::string names;
    for (const model::Taint& taint : missing)
      names += (names.empty() ? "" : ", ") + describe(taint);
    Change one = change(kToleration, "toleration", "", names, [missing](PodGroup& changed) {
      for (const model::Taint& taint : missing)
        changed.shape.tolerations.push_back({taint.key, false, taint.value, taint.effect, {}});
    });
    one.relaxation.text = "toleration for " + names;
    changes.push_back(std::move(one));
  }
}

void add_topology(const PodGroup& pod, std::vector<Change>& changes) {
  for (std::size_t i = 0; i < pod.shape.spread.size(); ++i)
    if (!pod.shape.spread[i].schedule_anyway)
      changes.push_back(change(kSpread, "spread over " + pod.shape.spread[i].topology_key,
                               "DoNotSchedule", "ScheduleAnyway",
                               [i](PodGroup& one) { one.shape.spread[i].schedule_anyway = true; }));
  for (std::size_t i = 0; i < pod.shape.affinity.size(); ++i) {
    const model::PodAffinityTerm& term = pod.shape.affinity[i];
    if (term.preferred_weight != 0) continue;
    changes.push_back(
        change(kAffinity,
               (term.anti ? "pod anti-affinity over " : "pod affinity over ") + term.topology_key,
               "required", "preferred",
               [i](PodGroup& one) { one.shape.affinity[i].preferred_weight = 1; }));
  }
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
  if (resource == "cpu") return model::format_millis(amount);
  if (resource == "memory" || resource == "ephemeral-storage") return model::format_bytes(amount);
  return std::to_string(amount);
}

// The most of one resource that a machine which has enough of the others offers a pod of this row;
// where no machine meets its demands on labels, the most of any.
std::int64_t most_offered(Prepared& prepared, const PodRow& row, std::size_t column) {
  Row without = row.request;
  without[column] = 0;
  std::int64_t most = 0;
  const auto look = [&](std::size_t pool, RequirementId requirements) {
    if (requirements == kImpossible) return;
    for (const Machine& machine : prepared.pools.view(pool, requirements).machines)
      if (fits(without, machine.room)) most = std::max(most, machine.room[column]);
  };
  for (const bool with_labels : {true, false})
    for (std::size_t pool = 0; pool < prepared.pools.pools().size(); ++pool) {
      const RequirementId base = prepared.pools.pools()[pool].base;
      if (with_labels)
        for (const Way& way : row.stages.back().ways)
          look(pool, prepared.requirements.combine(base, way.strict));
      else if (most == 0)
        look(pool, base);
    }
  return most;
}

void add_cuts(Prepared& prepared, const PodRow& row, std::vector<Change>& changes) {
  for (std::size_t column = 0; column < row.request.size(); ++column) {
    if (row.request[column] <= 0) continue;
    const std::int64_t most = most_offered(prepared, row, column);
    const std::string resource(prepared.columns.name(column));
    if (row.request[column] <= most || prepared.columns.volumes(resource) != row.request.size())
      continue;
    const bool is_small = most >= row.request[column] / 4 * 3;
    changes.push_back(
        change(is_small ? kSmallCut : kLargeCut, resource,
               amount_text(resource, row.request[column]), amount_text(resource, most),
               [resource, most](PodGroup& one) { one.shape.requests.set_amount(resource, most); }));
  }
}

}  // namespace

std::vector<Change> changes_for(Prepared& prepared, std::size_t row, std::size_t most) {
  const PodRow& pod = prepared.rows[row];
  std::vector<Change> changes;
  add_cuts(prepared, pod, changes);
  add_tolerations(prepared, *pod.source, changes);
  add_labels(prepared, *pod.source, changes);
  add_topology(*pod.source, changes);
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Change& a, const Change& b) { return a.rank < b.rank; });
  if (changes.size() > most) changes.resize(most);
  return changes;
}

}  // namespace karst::scheduling
