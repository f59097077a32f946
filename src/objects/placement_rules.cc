// Where pods may go: node affinity, pod affinity, topology spread.
#include <algorithm>
#include <limits>
#include <set>

#include "base/utf8.h"
#include "objects/manifest_rules.h"
#include "objects/name_rules.h"

namespace karst::objects {
namespace {

void check_node_term(Review& review, const TreeValue& requirement) {
  const std::string_view op = requirement.text_of("operator");
  const TreeValue* values = requirement.find("values");
  const std::size_t count = values == nullptr ? 0 : values->items.size();
  if ((op == "In" || op == "NotIn") && count == 0)
    refuse_field(review, requirement, "values", "must not be empty with " + std::string(op));
  if ((op == "Exists" || op == "DoesNotExist") && count != 0)
    refuse_field(review, requirement, "values", "must be empty with " + std::string(op));
  if ((op == "Gt" || op == "Lt") && count != 1)
    refuse_field(review, requirement, "values", "must hold one value with " + std::string(op));
}

void check_terms(Review& review, const TreeValue& term) {
  if (const TreeValue* expressions = term.find("matchExpressions")) {
    Review::Scope scope(review, "matchExpressions");
    for (std::size_t i = 0; i < expressions->items.size(); ++i) {
      Review::Scope inner(review, i);
      check_text(review, expressions->items[i], "key", bad_label_key);
      const TreeValue* values = expressions->items[i].find("values");
      const std::string_view op = expressions->items[i].text_of("operator");
      if (values == nullptr || op == "Exists" || op == "DoesNotExist") continue;
      Review::Scope field(review, "values");
      for (std::size_t j = 0; j < values->items.size(); ++j)
        if (const std::string bad = bad_label_value(values->items[j].text); !bad.empty()) {
          Review::Scope element(review, j);
          review.refuse(values->items[j].line, bad);
        }
    }
  }
  const TreeValue* match_fields = term.find("matchFields");
  if (match_fields == nullptr) return;
  Review::Scope scope(review, "matchFields");
  for (std::size_t i = 0; i < match_fields->items.size(); ++i) {
    const TreeValue& field = match_fields->items[i];
    Review::Scope inner(review, i);
    if (field.text_of("key") != "metadata.name")
      refuse_field(review, field, "key", "must be metadata.name");
    const std::string_view op = field.text_of("operator");
    const TreeValue* values = field.find("values");
    if ((op != "In" && op != "NotIn") || values == nullptr || values->items.size() != 1)
      refuse_field(review, field, "operator", "must be In or NotIn with one value");
  }
}

void check_node_selector(Review& review, const TreeValue& selector) {
  check_not_empty(review, selector, "nodeSelectorTerms");
}

void check_weight(Review& review, const TreeValue& term) {
  check_range(review, term, "weight", 1, 100);
}

// Keys that stand in for labels of the pod: they need a selector, and of a spread must not be in it
// as well.
void check_label_keys(Review& review, const TreeValue& term, std::string_view name) {
  const TreeValue* keys = term.find(name);
  if (keys == nullptr || keys->items.empty()) return;
  const TreeValue* selector = term.find("labelSelector");
  if (selector == nullptr) return refuse_field(review, term, name, "needs a labelSelector");
  std::set<std::string_view> used;
  const TreeValue* labels = selector->find("matchLabels");
  if (labels != nullptr && term.find("maxSkew") != nullptr)
    for (const TreeField& field : labels->fields) used.insert(field.key);
  Review::Scope scope(review, name);
  for (std::size_t i = 0; i < keys->items.size(); ++i) {
    Review::Scope inner(review, i);
    const TreeValue& key = keys->items[i];
    if (const std::string bad = bad_label_key(key.text); !bad.empty()) review.refuse(key.line, bad);
    if (used.contains(key.text))
      review.refuse(key.line, "\"" + key.text + "\" is in labelSelector as well");
  }
}

void check_both_label_keys(Review& review, const TreeValue& term) {
  const TreeValue* equal = term.find("matchLabelKeys");
  const TreeValue* unequal = term.find("mismatchLabelKeys");
  if (equal == nullptr || unequal == nullptr) return;
  for (const TreeValue& key : unequal->items)
    if (std::any_of(equal->items.begin(), equal->items.end(),
                    [&](const TreeValue& other) { return other.text == key.text; }))
      refuse_field(
          review, term, "mismatchLabelKeys",
          "\"" + std::string(base::cut_utf8(key.text, 80)) + "\" is in matchLabelKeys as well");
}

void check_topology_key(Review& review, const TreeValue& object) {
  if (object.text_of("topologyKey").empty())
    refuse_field(review, object, "topologyKey", "must not be empty");
  else
    check_text(review, object, "topologyKey", bad_label_key);
}

void check_affinity_term(Review& review, const TreeValue& term) {
  check_topology_key(review, term);
  check_label_keys(review, term, "matchLabelKeys");
  check_label_keys(review, term, "mismatchLabelKeys");
  check_both_label_keys(review, term);
  const TreeValue* namespaces = term.find("namespaces");
  if (namespaces == nullptr) return;
  Review::Scope scope(review, "namespaces");
  for (std::size_t i = 0; i < namespaces->items.size(); ++i)
    if (const std::string bad = bad_dns_label(namespaces->items[i].text); !bad.empty()) {
      Review::Scope inner(review, i);
      review.refuse(namespaces->items[i].line, bad);
    }
}

void check_spread(Review& review, const TreeValue& spread) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  check_range(review, spread, "maxSkew", 1, kMost);
  check_range(review, spread, "minDomains", 1, kMost);
  check_topology_key(review, spread);
  if (spread.text_of("whenUnsatisfiable").empty())
    refuse_field(review, spread, "whenUnsatisfiable", "must be DoNotSchedule or ScheduleAnyway");
  if (spread.find("minDomains") != nullptr &&
      spread.text_of("whenUnsatisfiable") == "ScheduleAnyway")
    refuse_field(review, spread, "minDomains", "needs whenUnsatisfiable DoNotSchedule");
  check_label_keys(review, spread, "matchLabelKeys");
}

}  // namespace

std::vector<RuleEntry> placement_rules() {
  return {{"NodeSelectorRequirement", check_node_term}, {"NodeSelectorTerm", check_terms},
          {"NodeSelector", check_node_selector},        {"PreferredSchedulingTerm", check_weight},
          {"WeightedPodAffinityTerm", check_weight},    {"PodAffinityTerm", check_affinity_term},
          {"TopologySpreadConstraint", check_spread}};
}

}  // namespace karst::objects
