#include "scheduling/group_table.h"

#include <algorithm>
#include <tuple>

#include "model/labels.h"

namespace karst::scheduling {
namespace {

bool is_required(const model::PodAffinityTerm& term) {
  return term.preferred_weight == 0;
}

bool matches(const model::LabelSelector& selector, const model::Labels& labels) {
  if (selector.matches_nothing) return false;
  const auto own = model::Requirements::from_labels(labels);
  for (const model::RequirementSpec& spec : selector.expressions)
    if (!own.incompatible(model::Requirements({spec}), {}).empty()) return false;
  return true;
}

bool selects_every_namespace(const model::PodAffinityTerm& term) {
  return term.namespace_selector && term.namespace_selector->expressions.empty() &&
         !term.namespace_selector->matches_nothing;
}

bool in_namespaces(const model::PodAffinityTerm& term, const PodGroup& owner,
                   const PodGroup& other) {
  if (selects_every_namespace(term)) return true;
  if (term.namespaces.empty()) return owner.namespace_name == other.namespace_name;
  return std::find(term.namespaces.begin(), term.namespaces.end(), other.namespace_name) !=
         term.namespaces.end();
}

// Required anti-affinity of `owner` that keeps pods like `other` off its node.
bool repels(const PodGroup& owner, const PodGroup& other) {
  for (const model::PodAffinityTerm& term : owner.shape.affinity)
    if (term.anti && is_required(term) && in_namespaces(term, owner, other) &&
        matches(term.selector, other.labels))
      return true;
  return false;
}

std::string unsupported_affinity(const model::PodAffinityTerm& term) {
  if (!is_required(term)) return "";
  if (!term.anti)
    return "podAffinity with topologyKey " + term.topology_key + " is not supported yet";
  if (term.topology_key != model::kHostnameLabel)
    return "podAntiAffinity with topologyKey " + term.topology_key + " is not supported yet";
  if (!term.match_label_keys.empty() || !term.mismatch_label_keys.empty())
    return "podAntiAffinity with matchLabelKeys or mismatchLabelKeys is not supported yet";
  if (term.namespace_selector && !selects_every_namespace(term))
    return "podAntiAffinity with a namespaceSelector is not supported yet";
  return "";
}

std::string unsupported_field(const model::PodShape& shape) {
  if (shape.uses_dra)
    return "pod has Dynamic Resource Allocation requirements that are not yet supported";
  for (const model::NodeSelectorTerm& term : shape.required_terms)
    if (term.has_match_fields) return "nodeAffinity with matchFields is not supported";
  for (const model::SpreadConstraint& spread : shape.spread)
    if (!spread.schedule_anyway)
      return "topologySpreadConstraints with topologyKey " + spread.topology_key +
             " and DoNotSchedule are not supported yet";
  for (const model::PodAffinityTerm& term : shape.affinity)
    if (std::string text = unsupported_affinity(term); !text.empty()) return text;
  if (!shape.volume_claims.empty())
    return "volumes with a persistentVolumeClaim (" + shape.volume_claims.front() +
           ") are not supported yet";
  return "";
}

bool has_required_anti_affinity(const model::PodShape& shape) {
  return std::any_of(
      shape.affinity.begin(), shape.affinity.end(),
      [](const model::PodAffinityTerm& term) { return term.anti && is_required(term); });
}

struct OrderKey {
  Row request;
  model::ShapeHash shape;
  friend auto operator<=>(const OrderKey&, const OrderKey&) = default;
};

GroupRow group_row(const PodGroup& group, std::size_t index, const Columns& columns,
                   RequirementTable& requirements) {
  GroupRow row;
  row.group = index;
  row.source = &group;
  row.request = columns.row(group.shape.requests);
  for (const model::Requirements& wanted : alternatives_of(group.shape))
    row.alternatives.push_back(requirements.intern(wanted));
  row.unsupported = unsupported_field(group.shape);
  row.new_nodes_only = !group.shape.host_ports.empty() || has_required_anti_affinity(group.shape);
  row.per_node = row.new_nodes_only && conflicts(group, group) ? 1 : 0;
  return row;
}

}  // namespace

bool ports_conflict(const std::vector<model::HostPort>& a, const std::vector<model::HostPort>& b) {
  const auto any_address = [](const std::string& ip) {
    return ip.empty() || ip == "0.0.0.0" || ip == "::";
  };
  for (const model::HostPort& x : a)
    for (const model::HostPort& y : b)
      if (x.port == y.port && x.protocol == y.protocol &&
          (x.ip == y.ip || any_address(x.ip) || any_address(y.ip)))
        return true;
  return false;
}

bool conflicts(const PodGroup& a, const PodGroup& b) {
  return ports_conflict(a.shape.host_ports, b.shape.host_ports) || repels(a, b) || repels(b, a);
}

std::vector<GroupRow> group_rows(const Problem& problem, const Columns& columns,
                                 RequirementTable& requirements) {
  std::vector<GroupRow> rows;
  std::vector<OrderKey> keys;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < problem.pods.size(); ++i) {
    rows.push_back(group_row(problem.pods[i], i, columns, requirements));
    keys.push_back({rows.back().request, model::hash_of(problem.pods[i].shape)});
    order.push_back(i);
  }
  for (GroupRow& one : rows) {
    if (!one.new_nodes_only || !one.unsupported.empty()) continue;
    for (GroupRow& other : rows)
      if (conflicts(*one.source, *other.source)) one.has_conflicts = other.has_conflicts = true;
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const PodGroup& x = problem.pods[a];
    const PodGroup& y = problem.pods[b];
    if (keys[a].request != keys[b].request) return keys[a].request > keys[b].request;
    return std::tie(keys[a].shape, x.namespace_name, x.labels, x.count, a) <
           std::tie(keys[b].shape, y.namespace_name, y.labels, y.count, b);
  });
  std::vector<GroupRow> sorted;
  for (const std::size_t index : order) sorted.push_back(std::move(rows[index]));
  return sorted;
}

}  // namespace karst::scheduling
