#include "scheduling/topology.h"

#include <algorithm>

#include "model/labels.h"

namespace karst::scheduling {
namespace {

bool holds(const model::RequirementSpec& spec, const model::Labels& labels) {
  const auto at = model::find_label(labels, spec.key);
  const bool present = at != labels.end();
  const bool listed =
      present && std::find(spec.values.begin(), spec.values.end(), at->second) != spec.values.end();
  switch (spec.op) {
    case model::Operator::kIn:
      return listed;
    case model::Operator::kNotIn:
      return !listed;
    case model::Operator::kExists:
      return present;
    case model::Operator::kDoesNotExist:
      return !present;
    default:
      return false;  // label selectors know no other operators
  }
}

// The selector with the pod's own values of `keys` demanded or, for `without`, excluded.
model::LabelSelector with_label_keys(model::LabelSelector selector,
                                     const std::vector<std::string>& keys,
                                     const model::Labels& labels, model::Operator op) {
  for (const std::string& key : keys)
    if (model::has_label(labels, key))
      selector.expressions.push_back({key, op, {std::string(model::label_value(labels, key))}, 0});
  std::sort(selector.expressions.begin(), selector.expressions.end());
  selector.expressions.erase(std::unique(selector.expressions.begin(), selector.expressions.end()),
                             selector.expressions.end());
  return selector;
}

// A pod tolerates every taint, PreferNoSchedule too.
bool tolerates_all(const std::vector<model::Taint>& taints,
                   const std::vector<model::Toleration>& tolerations) {
  return std::all_of(taints.begin(), taints.end(), [&](const model::Taint& taint) {
    return model::tolerates(tolerations, taint);
  });
}

}  // namespace

bool selects(const model::LabelSelector& selector, const model::Labels& labels) {
  return !selector.matches_nothing &&
         std::all_of(selector.expressions.begin(), selector.expressions.end(),
                     [&](const model::RequirementSpec& spec) { return holds(spec, labels); });
}

Topology::Topology(const Problem& problem, RequirementTable& requirements, DomainNames& domains)
    : problem_(problem), requirements_(requirements), domains_(domains) {
  for (std::size_t i = 0; i < problem.bound.size(); ++i) {
    const BoundPods& bound = problem.bound[i];
    for (const model::PodAffinityTerm& term : bound.anti_affinity) {
      const GroupId group = affinity(term, bound.namespace_name, bound.labels).group;
      mark_repelling(group);
      bound_owners_.emplace_back(i, group);
    }
  }
}

GroupId Topology::group_of(const std::string& key, bool is_spread, model::LabelSelector selector,
                           std::vector<std::string> namespaces, NodeFilter filter) {
  std::sort(namespaces.begin(), namespaces.end());
  namespaces.erase(std::unique(namespaces.begin(), namespaces.end()), namespaces.end());
  const auto [at, is_new] = ids_.try_emplace(
      Identity(key, is_spread, selector.expressions, selector.matches_nothing, namespaces, filter),
      static_cast<GroupId>(groups_.size()));
  if (!is_new) return at->second;
  TopologyGroup group;
  if (key != model::kHostnameLabel) {
    const auto known = std::find(domains_.keys.begin(), domains_.keys.end(), key);
    group.key = static_cast<int>(known - domains_.keys.begin());
    if (known == domains_.keys.end()) domains_.keys.push_back(key);
  }
  group.is_spread = is_spread;
  group.selector = std::move(selector);
  group.namespaces = std::move(namespaces);
  group.filter = std::move(filter);
  groups_.push_back(std::move(group));
  return at->second;
}

Constraint Topology::spread(const PodGroup& pod, const model::SpreadConstraint& spread) {
  NodeFilter filter;
  const model::PodShape& shape = pod.shape;
  if (!spread.ignore_node_affinity &&
      (!shape.node_selector.empty() || !shape.required_terms.empty())) {
    filter.by_affinity = true;
    filter.terms = requirements_.alternatives_of(shape);
  }
  if (spread.honor_node_taints) {
    filter.by_taints = true;
    filter.tolerations = shape.tolerations;
  }
  const model::LabelSelector selector =
      with_label_keys(spread.selector, spread.match_label_keys, pod.labels, model::Operator::kIn);
  Constraint constraint;
  constraint.kind = ConstraintKind::kSpread;
  constraint.self = selects(selector, pod.labels);
  constraint.max_skew = std::max(spread.max_skew, 1);
  constraint.min_domains = spread.min_domains;
  constraint.group = group_of(spread.topology_key, true, selector, {pod.namespace_name}, filter);
  return constraint;
}

Constraint Topology::affinity(const model::PodAffinityTerm& term, const std::string& namespace_name,
                              const model::Labels& labels) {
  std::vector<std::string> namespaces = term.namespaces;
  if (namespaces.empty() && !term.namespace_selector) namespaces = {namespace_name};
  if (term.namespace_selector)
    for (const auto& [name, its_labels] : problem_.namespaces)
      if (selects(*term.namespace_selector, its_labels)) namespaces.push_back(name);
  model::LabelSelector selector =
      with_label_keys(term.selector, term.match_label_keys, labels, model::Operator::kIn);
  selector = with_label_keys(std::move(selector), term.mismatch_label_keys, labels,
                             model::Operator::kNotIn);
  Constraint constraint;
  constraint.kind = term.anti ? ConstraintKind::kAntiAffinity : ConstraintKind::kAffinity;
  constraint.self = selects(selector, labels) && std::find(namespaces.begin(), namespaces.end(),
                                                           namespace_name) != namespaces.end();
  constraint.group =
      group_of(term.topology_key, false, std::move(selector), std::move(namespaces), {});
  if (!term.anti) groups_[constraint.group].attracts = true;
  return constraint;
}

void Topology::finish(NodeTable& nodes) {
  node_domains_.assign(domains_.keys.size(), {});
  for (std::size_t key = 0; key < domains_.keys.size(); ++key)
    for (const Node& node : problem_.nodes) {
      const auto at = model::find_label(node.labels, domains_.keys[key]);
      node_domains_[key].push_back(at == node.labels.end() ? kNoDomain
                                                           : domains_.id(key, at->second));
    }
  start_.resize(groups_.size());
  count_bound(nodes);
  for (TopologyGroup& group : groups_)
    if (group.is_spread && group.key != kHostKey) make_universe(group, nodes);
}

// What nodes of the pool could be, that one of the terms allows (any: none is given).
void Topology::add_domains(const Pool& pool, std::size_t key,
                           const std::vector<RequirementId>* terms, std::set<int>& found) {
  const std::string& name = domains_.keys[key];
  auto base = model::Requirements::from_labels(pool_labels(pool.pool));
  if (!requirements_.add_all(base, pool.pool.requirements)) return;
  const RequirementId of_pool = requirements_.intern(base);
  const model::ValueSet* asked = base.find(name);
  const auto add = [&](const model::ValueSet& set) {
    const model::ValueSet both = asked == nullptr ? set : model::intersection(set, *asked);
    if (!both.complement)
      for (const std::string& value : both.values) found.insert(domains_.id(key, value));
  };
  if (terms == nullptr && asked != nullptr) add(*asked);
  std::vector<const model::Requirements*> possible;  // terms that its nodes can meet
  if (terms != nullptr)
    for (const RequirementId term : *terms)
      if (requirements_.conflict(of_pool, term).empty())
        possible.push_back(&requirements_.at(term));
  const auto any_term = [&](const model::Requirements& part) {
    return terms == nullptr ||
           (part.intersects(base) &&
            std::any_of(possible.begin(), possible.end(),
                        [&](const model::Requirements* term) { return part.intersects(*term); }));
  };
  for (std::size_t type = 0; type < pool.types.size(); ++type) {
    const model::Requirements& own = pool.types.requirements(type);
    if (!any_term(own)) continue;
    const std::vector<Offering>& offerings = pool.types[type].offerings;
    bool said = false;  // by an offering: then the type's word is no more than their sum
    for (std::size_t i = 0; i < offerings.size(); ++i) {
      const model::Requirements& demands = pool.types.requirements(type, i);
      const model::ValueSet* set = demands.find(name);
      if (set == nullptr) continue;
      said = true;
      if (any_term(demands)) add(*set);
    }
    if (const model::ValueSet* set = own.find(name); set != nullptr && (!said || terms == nullptr))
      add(*set);
  }
}

void Topology::make_universe(TopologyGroup& group, NodeTable& nodes) {
  const auto key = static_cast<std::size_t>(group.key);
  const bool narrow =
      group.filter.by_affinity && problem_.options.spread_domains == SpreadDomains::kReachable;
  std::set<int> found;
  for (const Pool& pool : problem_.pools) {
    if (!is_dynamic(pool.pool)) continue;
    if (group.filter.by_taints && !tolerates_all(pool.pool.taints, group.filter.tolerations))
      continue;
    add_domains(pool, key, narrow ? &group.filter.terms : nullptr, found);
  }
  const auto id = static_cast<GroupId>(&group - groups_.data());
  for (std::size_t node = 0; node < problem_.nodes.size(); ++node) {
    const Node& one = problem_.nodes[node];
    const int domain = node_domain(group.key, node);
    if ((one.takes_pods || one.stays) && domain != kNoDomain && node_counts(id, node, nodes))
      found.insert(domain);
  }
  for (std::size_t domain = 0; domain < start_[id].sure.size(); ++domain)
    if (start_[id].sure[domain] > 0) found.insert(static_cast<int>(domain));
  group.universe.assign(found.begin(), found.end());
}

void Topology::count_bound(NodeTable& nodes) {
  for (const BoundPods& bound : problem_.bound)
    for (const GroupId id : matching(bound.namespace_name, bound.labels)) {
      const int domain = node_domain(groups_[id].key, bound.node);
      if (domain == kNoDomain || !node_counts(id, bound.node, nodes)) continue;
      add_at(start_[id].sure, domain, static_cast<std::int32_t>(bound.count));
      add_at(start_[id].possible, domain, static_cast<std::int32_t>(bound.count));
      start_[id].total += bound.count;
    }
  for (const auto& [row, group] : bound_owners_)
    if (const int domain = node_domain(groups_[group].key, problem_.bound[row].node);
        domain != kNoDomain)
      add_at(start_[group].owners, domain, static_cast<std::int32_t>(problem_.bound[row].count));
}

std::vector<GroupId> Topology::matching(const std::string& namespace_name,
                                        const model::Labels& labels) const {
  std::vector<GroupId> found;
  for (GroupId id = 0; id < groups_.size(); ++id)
    if (std::binary_search(groups_[id].namespaces.begin(), groups_[id].namespaces.end(),
                           namespace_name) &&
        selects(groups_[id].selector, labels))
      found.push_back(id);
  return found;
}

bool Topology::node_counts(GroupId group, std::size_t node, NodeTable& nodes) const {
  const NodeFilter& filter = groups_[group].filter;
  if (filter.by_affinity &&
      std::none_of(filter.terms.begin(), filter.terms.end(),
                   [&](RequirementId term) { return nodes.meets(node, term); }))
    return false;
  return !filter.by_taints || tolerates_all(problem_.nodes[node].taints, filter.tolerations);
}

bool Topology::claim_counts(GroupId group, const std::vector<model::Taint>& taints,
                            RequirementId claim) {
  const NodeFilter& filter = groups_[group].filter;
  if (filter.by_affinity &&
      std::none_of(filter.terms.begin(), filter.terms.end(), [&](RequirementId term) {
        return requirements_.combine(claim, term) != kImpossible;
      }))
    return false;
  return !filter.by_taints || tolerates_all(taints, filter.tolerations);
}

const std::vector<int>& Topology::universe(GroupId group, std::size_t row,
                                           const std::vector<RequirementId>& demands) {
  const TopologyGroup& own = groups_[group];
  // Where node affinity does not count every domain does, also those that the pod may not be in.
  if (!own.filter.by_affinity && problem_.options.spread_domains == SpreadDomains::kReachable)
    return own.universe;
  const auto [at, is_new] = allowed_.try_emplace({group, row});
  if (is_new)
    for (const int domain : own.universe)
      if (std::any_of(demands.begin(), demands.end(),
                      [&](RequirementId demand) { return allows(demand, own.key, domain); }))
        at->second.push_back(domain);
  return at->second;
}

bool Topology::allows(RequirementId demand, int key, int domain) const {
  const auto index = static_cast<std::size_t>(key);
  const model::ValueSet* set = requirements_.at(demand).find(domains_.keys[index]);
  return set == nullptr || set->contains(domains_.name(index, domain));
}

std::string Topology::key_name(int key) const {
  return key == kHostKey ? std::string(model::kHostnameLabel)
                         : domains_.keys[static_cast<std::size_t>(key)];
}

}  // namespace karst::scheduling
