#include "scheduling/topology.h"

#include <algorithm>

#include "model/labels.h"
#include "scheduling/pod_rows.h"

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

// Whether a spread that honors taints counts such a node. Karpenter wants PreferNoSchedule
// tolerated too; the kube-scheduler does not look at it.
bool counts_by_taints(SpreadDomains domains, const std::vector<model::Taint>& taints,
                      const std::vector<model::Toleration>& tolerations) {
  if (domains == SpreadDomains::kReachable)
    return model::first_untolerated(taints, tolerations) == nullptr;
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
  group.order = groups_.size();
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
  key_asked_.assign(domains_.keys.size(), true);
  for (std::size_t key = 0; key < domains_.keys.size(); ++key)
    for (const Node& node : problem_.nodes) {
      const auto at = model::find_label(node.labels, domains_.keys[key]);
      node_domains_[key].push_back(at == node.labels.end() ? kNoDomain
                                                           : domains_.id(key, at->second));
    }
  start_.resize(groups_.size());
  owners_of_.resize(groups_.size());
  for (std::size_t i = 0; i < bound_owners_.size(); ++i)
    owners_of_[bound_owners_[i].second].push_back(i);
  count_bound(nodes);
  for (TopologyGroup& group : groups_)
    if (group.is_spread && group.key != kHostKey) make_universe(group, nodes);
}

// What nodes of the pool could be, whatever the pods ask for.
void Topology::add_domains(const Pool& pool, std::size_t key, std::set<int>& found) {
  const std::string& name = domains_.keys[key];
  auto base = model::Requirements::from_labels(pool_labels(pool.pool));
  if (!requirements_.add_all(base, pool.pool.requirements)) return;
  const model::ValueSet* asked = base.find(name);
  const auto add = [&](const model::ValueSet& set) {
    const model::ValueSet both = asked == nullptr ? set : model::intersection(set, *asked);
    if (!both.complement)
      for (const std::string& value : both.values) found.insert(domains_.id(key, value));
  };
  if (asked != nullptr) add(*asked);
  for (std::size_t type = 0; type < pool.types.size(); ++type) {
    if (const model::ValueSet* set = pool.types.requirements(type).find(name)) add(*set);
    for (std::size_t i = 0; i < pool.types[type].offerings.size(); ++i)
      if (const model::ValueSet* set = pool.types.requirements(type, i).find(name)) add(*set);
  }
}

void Topology::make_universe(TopologyGroup& group, NodeTable& nodes) {
  const auto key = static_cast<std::size_t>(group.key);
  const bool all_pools = problem_.options.spread_domains == SpreadDomains::kAllPools;
  std::set<int> found;
  for (const Pool& pool : problem_.pools)
    if (all_pools && is_dynamic(pool.pool) && takes_taints(group.filter, pool.pool.taints))
      add_domains(pool, key, found);
  for (const int domain : found) add_at(group.holders, domain, 1);
  const auto id = static_cast<GroupId>(&group - groups_.data());
  for (std::size_t node = 0; node < problem_.nodes.size(); ++node) {
    const Node& one = problem_.nodes[node];
    const int domain = node_domain(group.key, node);
    if ((one.takes_pods || one.stays) && domain != kNoDomain && node_counts(id, node, nodes))
      add_at(group.holders, domain, 1);
  }
  const std::size_t domains = std::max(group.holders.size(), start_[id].sure.size());
  for (std::size_t domain = 0; domain < domains; ++domain)
    if (is_in_universe(group, static_cast<int>(domain)))
      group.universe.push_back(static_cast<int>(domain));
}

bool Topology::is_in_universe(const TopologyGroup& group, int domain) const {
  const auto id = static_cast<std::size_t>(&group - groups_.data());
  return count_at(group.holders, domain) > 0 || count_at(start_[id].sure, domain) > 0;
}

void Topology::count(const std::vector<GroupId>& matched, const std::vector<GroupId>& repels,
                     std::size_t node, std::int64_t pods, NodeTable& nodes) {
  const auto change = static_cast<std::int32_t>(pods);
  for (const GroupId id : matched) {
    const int domain = node_domain(groups_[id].key, node);
    if (domain == kNoDomain || !node_counts(id, node, nodes)) continue;
    add_at(start_[id].sure, domain, change);
    add_at(start_[id].possible, domain, change);
    start_[id].total += pods;
  }
  for (const GroupId id : repels) {
    groups_[id].owners += pods;
    if (const int domain = node_domain(groups_[id].key, node); domain != kNoDomain)
      add_at(start_[id].owners, domain, change);
  }
}

void Topology::ask_for(const std::vector<PodRow>& rows, const std::vector<bool>& is_gone) {
  allowed_.clear();
  for (TopologyGroup& group : groups_) {
    group.attracts = false;
    group.repels = group.owners > 0;
    group.is_asked = group.repels;
  }
  for (const PodRow& row : rows) {
    for (const Stage& stage : row.stages)
      for (const Constraint& constraint : stage.constraints) {
        TopologyGroup& group = groups_[constraint.group];
        group.is_asked = true;
        group.attracts |= constraint.kind == ConstraintKind::kAffinity;
      }
    for (const GroupId id : row.repels) groups_[id].repels = groups_[id].is_asked = true;
  }
  key_asked_.assign(domains_.keys.size(), false);
  for (const TopologyGroup& group : groups_)
    if (group.is_asked && group.key != kHostKey)
      key_asked_[static_cast<std::size_t>(group.key)] = true;
  put_in_order(rows, is_gone);
}

// First those of bound pods, then those of rows, each where it is first met: which of two keys is
// decided first goes by it.
void Topology::put_in_order(const std::vector<PodRow>& rows, const std::vector<bool>& is_gone) {
  std::size_t next = bound_owners_.size();
  for (GroupId id = 0; id < groups_.size(); ++id) {
    groups_[id].order = SIZE_MAX;
    if (groups_[id].owners == 0) continue;
    const auto stays = [&](std::size_t at) { return !is_gone[bound_owners_[at].first]; };
    const auto first = std::find_if(owners_of_[id].begin(), owners_of_[id].end(), stays);
    if (first != owners_of_[id].end()) groups_[id].order = *first;
  }
  const auto meet = [&](GroupId id) {
    if (groups_[id].order == SIZE_MAX) groups_[id].order = next++;
  };
  for (const PodRow& row : rows) {
    for (const Stage& stage : row.stages)
      for (const Constraint& constraint : stage.constraints) meet(constraint.group);
    for (const GroupId id : row.repels) meet(id);
  }
}

void Topology::hold(std::size_t node, std::int32_t change, NodeTable& nodes) {
  for (GroupId id = 0; id < groups_.size(); ++id) {
    TopologyGroup& group = groups_[id];
    if (!group.is_spread || group.key == kHostKey) continue;
    const int domain = node_domain(group.key, node);
    if (domain == kNoDomain || !node_counts(id, node, nodes)) continue;
    add_at(group.holders, domain, change);
    const auto at = std::lower_bound(group.universe.begin(), group.universe.end(), domain);
    const bool was_in = at != group.universe.end() && *at == domain;
    const bool is_in = is_in_universe(group, domain);
    if (was_in && !is_in) group.universe.erase(at);
    if (!was_in && is_in) group.universe.insert(at, domain);
  }
}

void Topology::count_bound(NodeTable& nodes) {
  // Few different pods are bound on many nodes.
  using Pods = std::pair<std::string_view, const model::Labels*>;
  const auto less = [](const Pods& a, const Pods& b) {
    return a.first != b.first ? a.first < b.first : *a.second < *b.second;
  };
  std::map<Pods, std::vector<GroupId>, decltype(less)> known(less);
  for (const BoundPods& bound : problem_.bound) {
    const auto [at, is_new] = known.try_emplace({bound.namespace_name, &bound.labels});
    if (is_new) at->second = matching(bound.namespace_name, bound.labels);
    count(at->second, {}, bound.node, bound.count, nodes);
  }
  for (const auto& [row, group] : bound_owners_)
    count({}, {group}, problem_.bound[row].node, problem_.bound[row].count, nodes);
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

bool Topology::takes_taints(const NodeFilter& filter,
                            const std::vector<model::Taint>& taints) const {
  return !filter.by_taints ||
         counts_by_taints(problem_.options.spread_domains, taints, filter.tolerations);
}

bool Topology::node_counts(GroupId group, std::size_t node, NodeTable& nodes) const {
  const Node& one = problem_.nodes[node];
  return counts_under(one.present_taints ? *one.present_taints : one.taints, group, node, nodes);
}

bool Topology::node_will_count(GroupId group, std::size_t node, NodeTable& nodes) const {
  return counts_under(problem_.nodes[node].taints, group, node, nodes);
}

bool Topology::counts_under(const std::vector<model::Taint>& taints, GroupId group,
                            std::size_t node, NodeTable& nodes) const {
  const NodeFilter& filter = groups_[group].filter;
  if (filter.by_affinity &&
      std::none_of(filter.terms.begin(), filter.terms.end(),
                   [&](RequirementId term) { return nodes.meets(node, term); }))
    return false;
  return takes_taints(filter, taints);
}

bool Topology::claim_counts(GroupId group, const std::vector<model::Taint>& taints,
                            RequirementId claim) {
  const NodeFilter& filter = groups_[group].filter;
  if (filter.by_affinity &&
      std::none_of(filter.terms.begin(), filter.terms.end(), [&](RequirementId term) {
        return requirements_.combine(claim, term) != kImpossible;
      }))
    return false;
  return takes_taints(filter, taints);
}

const std::vector<int>& Topology::universe(GroupId group, std::size_t row,
                                           const std::vector<RequirementId>& demands) {
  const TopologyGroup& own = groups_[group];
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
