#include "tests/scheduling/build.h"

#include <algorithm>
#include <map>
#include <set>

#include "scheduling/claims.h"

namespace karst::scheduling::test {
namespace {

model::Resources times(const model::Resources& unit, std::int64_t count) {
  model::Resources sum;
  sum.cpu_millis = unit.cpu_millis * count;
  sum.memory_bytes = unit.memory_bytes * count;
  sum.ephemeral_bytes = unit.ephemeral_bytes * count;
  sum.pods = unit.pods * count;
  for (const auto& [name, amount] : unit.extended) sum.set_amount(name, amount * count);
  return sum;
}

model::Resources sum_of(const Problem& problem, const std::vector<Share>& pods) {
  model::Resources sum;
  for (const Share& share : pods)
    sum += times(problem.pods[share.group].shape.requests, share.count);
  return sum;
}

model::Labels labels_of(const Pool& pool, const NewClaim& claim, const InstanceType& type,
                        const model::Offer& offer, const std::string& name) {
  model::Labels labels = claim_labels(pool, claim);
  for (const model::RequirementSpec& spec : type.requirements)
    if (spec.op == model::Operator::kIn && spec.values.size() == 1)
      model::set_label(labels, spec.key, spec.values.front());
  model::set_label(labels, model::kZoneLabel, offer.zone);
  model::set_label(labels, model::kCapacityTypeLabel, offer.capacity_type);
  model::set_label(labels, model::kHostnameLabel, name);
  return labels;
}

// kube-scheduler's reading of one expression, written anew.
bool holds(const model::RequirementSpec& spec, const model::Labels& labels) {
  const bool present = model::has_label(labels, spec.key);
  const std::string value(model::label_value(labels, spec.key));
  const bool listed = std::find(spec.values.begin(), spec.values.end(), value) != spec.values.end();
  switch (spec.op) {
    case model::Operator::kIn:
      return present && listed;
    case model::Operator::kNotIn:
      return !present || !listed;
    case model::Operator::kExists:
      return present;
    case model::Operator::kDoesNotExist:
      return !present;
    case model::Operator::kGt:
      return present && std::stoll(value) > std::stoll(spec.values.at(0));
    case model::Operator::kLt:
      return present && std::stoll(value) < std::stoll(spec.values.at(0));
    case model::Operator::kGte:
      return present && std::stoll(value) >= std::stoll(spec.values.at(0));
    case model::Operator::kLte:
      return present && std::stoll(value) <= std::stoll(spec.values.at(0));
  }
  return false;
}

bool may_run(const model::PodShape& shape, const model::Labels& labels,
             const std::vector<model::Taint>& taints) {
  for (const model::Taint& taint : taints)
    if (taint.effect != model::TaintEffect::kPreferNoSchedule &&
        std::none_of(shape.tolerations.begin(), shape.tolerations.end(),
                     [&](const auto& t) { return model::tolerates(t, taint); }))
      return false;
  for (const auto& [key, value] : shape.node_selector)
    if (model::label_value(labels, key) != value || !model::has_label(labels, key)) return false;
  if (shape.required_terms.empty()) return true;
  for (const model::NodeSelectorTerm& term : shape.required_terms)
    if (!term.expressions.empty() &&
        std::all_of(term.expressions.begin(), term.expressions.end(),
                    [&](const auto& spec) { return holds(spec, labels); }))
      return true;
  return false;
}

// Two pods of these groups must not meet on a node; every term of the tests is over the hostname
// and one label "app".
bool must_part(const PodGroup& a, const PodGroup& b) {
  for (const model::HostPort& x : a.shape.host_ports)
    for (const model::HostPort& y : b.shape.host_ports)
      if (x.port == y.port && (x.ip == y.ip || x.ip.empty() || y.ip.empty())) return true;
  const auto repels = [](const PodGroup& owner, const PodGroup& other) {
    for (const model::PodAffinityTerm& term : owner.shape.affinity)
      if (term.anti && term.preferred_weight == 0 && owner.namespace_name == other.namespace_name &&
          holds(term.selector.expressions.at(0), other.labels))
        return true;
    return false;
  };
  return repels(a, b) || repels(b, a);
}

bool has_conflict(const Problem& problem, const std::vector<Share>& pods) {
  for (std::size_t i = 0; i < pods.size(); ++i)
    for (std::size_t j = 0; j <= i; ++j)
      if ((i != j || pods[i].count > 1) &&
          must_part(problem.pods[pods[i].group], problem.pods[pods[j].group]))
        return true;
  return false;
}

// The pool's minValues among the types that the claim lists.
std::string wrong_variety(const Pool& pool, const NewClaim& claim) {
  for (const model::RequirementSpec& spec : pool.pool.requirements) {
    std::set<std::string> values;
    const auto add = [&](const std::vector<model::RequirementSpec>& specs) {
      for (const model::RequirementSpec& own : specs)
        if (own.key == spec.key) values.insert(own.values.begin(), own.values.end());
    };
    for (const std::size_t index : claim.types) {
      add(pool.types.at(index).requirements);
      for (const Offering& offering : pool.types[index].offerings) add(offering.requirements);
    }
    if (static_cast<int>(values.size()) < spec.min_values)
      return std::to_string(values.size()) + " values of " + spec.key;
  }
  return "";
}

std::string wrong_claim(const Problem& problem, const NewClaim& claim) {
  const Pool& pool = problem.pools[claim.pool];
  const std::string where = "claim of pool " + pool.pool.name.str() + ": ";
  if (claim.types.empty() || claim.offers.empty() || claim.pods.empty())
    return where + "no types, no offers or no pods";
  if (has_conflict(problem, claim.pods)) return where + "pods that must not meet";
  std::set<std::string> listed;
  for (const std::size_t index : claim.types) {
    const InstanceType& type = pool.types.at(index);
    if (!listed.insert(type.name).second) return where + type.name + " listed twice";
    if (!model::fits(type.capacity, claim.max_capacity)) return where + "max_capacity too small";
  }
  std::int64_t last = 0;
  for (const model::Offer& offer : claim.offers) {
    if (!listed.contains(offer.instance_type)) return where + "an offer of a type not listed";
    if (offer.price_nanos_per_hour < last) return where + "offers are not cheapest first";
    last = offer.price_nanos_per_hour;
    for (const std::size_t index : claim.types) {
      const InstanceType& type = pool.types[index];
      if (type.name != offer.instance_type) continue;
      const model::Labels labels = labels_of(pool, claim, type, offer, "some-node");
      model::Resources sum = sum_of(problem, claim.pods);
      for (const Daemon& daemon : problem.daemons)
        if (may_run(daemon.shape, labels, pool.pool.taints)) sum += daemon.shape.requests;
      if (!model::fits(sum, type.allocatable))
        return where + type.name + " is short of " + model::first_exceeded(sum, type.allocatable);
      for (const Share& share : claim.pods)
        if (!may_run(problem.pods[share.group].shape, labels, pool.pool.taints))
          return where + "group " + std::to_string(share.group) + " may not run on " + type.name +
                 " " + offer.zone + " " + offer.capacity_type;
      for (const model::RequirementSpec& spec : pool.pool.requirements)
        if (!holds(spec, labels)) return where + "the pool's own " + spec.key + " does not hold";
    }
  }
  return "";
}

std::string wrong_limits(const Problem& problem, const Answer& answer) {
  for (std::size_t i = 0; i < problem.pools.size(); ++i) {
    const Pool& pool = problem.pools[i];
    for (const auto& [name, limit] : pool.pool.limits) {
      std::int64_t used = 0;
      for (const auto& [used_name, amount] : pool.used) used += used_name == name ? amount : 0;
      bool added = false;
      for (const NewClaim& claim : answer.claims) {
        if (claim.pool != i) continue;
        used += name == "nodes" ? 1 : claim.max_capacity.amount(name);
        added = true;
      }
      if (added && used > limit)
        return "pool " + pool.pool.name.str() + ": " + name + " " + std::to_string(used) +
               " above the limit " + std::to_string(limit);
    }
  }
  return "";
}

std::string expression_text(const model::RequirementSpec& spec) {
  std::string text = " " + spec.key + " " + std::string(model::operator_name(spec.op)) + " [";
  for (const std::string& value : spec.values) text += value + ",";
  return text + "]";
}

std::string selector_text(const model::LabelSelector& selector) {
  std::string text;
  for (const model::RequirementSpec& spec : selector.expressions) text += expression_text(spec);
  return text;
}

std::string shape_text(const model::PodShape& shape) {
  std::string text = " cpu " + std::to_string(shape.requests.cpu_millis) + "m memory " +
                     std::to_string(shape.requests.memory_bytes / kGi) + "Gi priority " +
                     std::to_string(shape.priority);
  for (const auto& [key, value] : shape.node_selector) text += " " + key + "=" + value;
  for (const model::NodeSelectorTerm& term : shape.required_terms)
    for (const model::RequirementSpec& spec : term.expressions)
      text += " |" + expression_text(spec);
  if (!shape.tolerations.empty()) text += " tolerates db";
  for (const model::PodAffinityTerm& term : shape.affinity)
    text += (term.anti ? " parts from" : " joins") + selector_text(term.selector) + " over " +
            term.topology_key;
  for (const model::SpreadConstraint& spread : shape.spread)
    text += " spreads" + selector_text(spread.selector) + " over " + spread.topology_key +
            " skew " + std::to_string(spread.max_skew) + " of " +
            std::to_string(spread.min_domains);
  return text;
}

// A pool with its limits and with the offerings that cannot be had.
std::string pool_text(const Pool& pool) {
  std::string text = "pool " + pool.pool.name.str() + " weight " +
                     std::to_string(pool.pool.weight) +
                     (pool.pool.taints.empty() ? "" : " tainted db");
  for (const model::RequirementSpec& spec : pool.pool.requirements) text += expression_text(spec);
  for (const auto& [name, limit] : pool.pool.limits)
    text += " limit " + name + " " + std::to_string(limit);
  for (const auto& [name, amount] : pool.used)
    text += " used " + name + " " + std::to_string(amount);
  for (const model::RequirementSpec& spec : pool.pool.requirements)
    if (spec.min_values > 0) text += " at least " + std::to_string(spec.min_values);
  text += " of " + std::to_string(pool.types.size()) + " types";
  for (const InstanceType& type : pool.types)
    for (const Offering& offering : type.offerings)
      if (!offering.available)
        text += " gone " + type.name + "/" + std::string(value_of(offering, model::kZoneLabel)) +
                "/" + std::string(value_of(offering, model::kCapacityTypeLabel));
  return text + "\n";
}

}  // namespace

std::string describe(const Problem& problem, const Answer& answer) {
  std::string text;
  for (std::size_t i = 0; i < problem.pods.size(); ++i)
    text += "group" + std::to_string(i) + "*" + std::to_string(problem.pods[i].count) + " " +
            std::string(model::label_value(problem.pods[i].labels, "app")) +
            shape_text(problem.pods[i].shape) + "\n";
  for (const Daemon& daemon : problem.daemons) text += "daemon" + shape_text(daemon.shape) + "\n";
  for (const Pool& pool : problem.pools) text += pool_text(pool);
  const auto pods_text = [](const std::vector<Share>& pods) {
    std::string line;
    for (const Share& s : pods)
      line += " group" + std::to_string(s.group) + "*" + std::to_string(s.count);
    return line + "\n";
  };
  for (const Node& node : problem.nodes)
    text += "node " + node.name + " cpu " + std::to_string(node.available.cpu_millis) + "m in " +
            std::string(model::label_value(node.labels, model::kZoneLabel)) + "\n";
  for (const BoundPods& bound : problem.bound)
    text += "bound " + std::to_string(bound.count) + " " +
            std::string(model::label_value(bound.labels, "app")) + " on " +
            problem.nodes[bound.node].name + "\n";
  for (const NodePlacement& p : answer.placements)
    text += "node " + problem.nodes[p.node].name + ":" + pods_text(p.pods);
  for (const NewClaim& claim : answer.claims)
    text += "claim " + problem.pools[claim.pool].pool.name.str() + " " +
            claim.offers.front().instance_type + " in " + claim.offers.front().zone + ":" +
            pods_text(claim.pods);
  for (const Unplaced& u : answer.unplaced) {
    text += "unplaced group" + std::to_string(u.group) + "*" + std::to_string(u.count) + "\n";
    for (const PoolReason& r : u.reasons)
      text += "  " + r.pool + " " + r.code + ": " + r.text + "\n";
  }
  return text;
}

std::int64_t placed(const Answer& answer, std::size_t group) {
  std::int64_t count = 0;
  const auto add = [&](const std::vector<Share>& pods) {
    for (const Share& share : pods) count += share.group == group ? share.count : 0;
  };
  for (const NodePlacement& placement : answer.placements) add(placement.pods);
  for (const NewClaim& claim : answer.claims) add(claim.pods);
  return count;
}

std::int64_t placed(const Answer& answer) {
  std::int64_t count = 0;
  for (const NodePlacement& p : answer.placements)
    for (const Share& share : p.pods) count += share.count;
  for (const NewClaim& claim : answer.claims)
    for (const Share& share : claim.pods) count += share.count;
  return count;
}

std::int64_t price(const Answer& answer) {
  std::int64_t sum = 0;
  for (const NewClaim& claim : answer.claims) sum += claim.offers.front().price_nanos_per_hour;
  return sum;
}

std::string wrong(const Problem& problem, const Answer& answer) {
  std::map<std::size_t, std::int64_t> unplaced;
  for (const Unplaced& u : answer.unplaced) {
    if (u.count <= 0 || u.reasons.empty()) return "an unplaced entry without count or reason";
    unplaced[u.group] += u.count;
  }
  for (std::size_t i = 0; i < problem.pods.size(); ++i)
    if (placed(answer, i) + unplaced[i] != problem.pods[i].count)
      return "group " + std::to_string(i) + ": placed and unplaced do not add up";
  for (const NodePlacement& placement : answer.placements) {
    const Node& node = problem.nodes.at(placement.node);
    if (!model::fits(sum_of(problem, placement.pods), node.available))
      return "node " + node.name + " is overcommitted";
    if (has_conflict(problem, placement.pods))
      return "node " + node.name + ": pods that must not meet";
    for (const Share& share : placement.pods)
      if (!may_run(problem.pods[share.group].shape, node.labels, node.taints))
        return "group " + std::to_string(share.group) + " may not run on node " + node.name;
  }
  for (const NewClaim& claim : answer.claims) {
    const Pool& pool = problem.pools[claim.pool];
    if (std::string text = wrong_claim(problem, claim); !text.empty()) return text;
    if (const std::string text = wrong_variety(pool, claim);
        !text.empty() && !claim.min_values_relaxed)
      return "claim of pool " + pool.pool.name.str() + ": only " + text;
  }
  return wrong_limits(problem, answer);
}

Node node_of(const Problem& problem, const NewClaim& claim, const std::string& name,
             std::size_t nth) {
  const Pool& pool = problem.pools[claim.pool];
  const InstanceType& type = pool.types[claim.types.at(nth)];
  Node node;
  node.name = name;
  node.taints = pool.pool.taints;
  const auto offer =
      std::find_if(claim.offers.begin(), claim.offers.end(),
                   [&](const model::Offer& o) { return o.instance_type == type.name; });
  node.labels = labels_of(pool, claim, type, *offer, name);
  node.available = type.allocatable;
  return node;
}

}  // namespace karst::scheduling::test
