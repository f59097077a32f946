#include "scheduling/pod_rows.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "scheduling/preferences.h"

namespace karst::scheduling {
namespace {

std::string unsupported_field(const PodGroup& pod) {
  const model::PodShape& shape = pod.shape;
  if (!pod.volume_error.empty()) return pod.volume_error;
  if (shape.uses_dra)
    return "pod has Dynamic Resource Allocation requirements that are not yet supported";
  for (const model::NodeSelectorTerm& term : shape.required_terms)
    if (term.has_match_fields)
      return "node affinity by matchFields is not supported, and an empty term matches no node";
  return "";
}

bool has_soft_taint(const std::vector<model::Taint>& taints) {
  return std::any_of(taints.begin(), taints.end(), [](const model::Taint& taint) {
    return taint.effect == model::TaintEffect::kPreferNoSchedule;
  });
}

// Every combination of one topology per volume that is not a contradiction.
std::vector<RequirementId> volume_ways(const PodGroup& pod, RequirementTable& requirements) {
  std::vector<RequirementId> ways = {requirements.intern({})};
  for (const Volume& volume : pod.volumes) {
    if (volume.topology.empty()) continue;
    std::vector<RequirementId> longer;
    for (const RequirementId way : ways)
      for (const auto& specs : volume.topology) {
        model::Requirements one;
        if (!requirements.add_all(one, specs)) continue;
        const RequirementId both = requirements.both(way, requirements.intern(one));
        if (both != kImpossible && longer.size() < kVolumeWaysMax &&
            std::find(longer.begin(), longer.end(), both) == longer.end())
          longer.push_back(both);
      }
    ways = std::move(longer);
  }
  return ways;
}

PodRow row_of(const Problem& problem, std::size_t index, const Columns& columns, bool soft_taints,
              RequirementTable& requirements, Topology& topology) {
  const PodGroup& pod = problem.pods[index];
  PodRow row;
  row.group = index;
  row.source = &pod;
  row.request = columns.row(pod.shape.requests);
  row.request[kPodsColumn] = std::max<std::int64_t>(row.request[kPodsColumn], 1);
  for (const Volume& volume : pod.volumes) {
    const std::size_t column = columns.volumes(volume.driver);
    if (column == columns.size()) continue;
    if (volume.claim.empty())
      ++row.request[column];
    else
      row.shared_volumes.emplace_back(column, volume.driver + " " + volume.claim);
  }
  row.unsupported = unsupported_field(pod);
  row.volume_ways = volume_ways(pod, requirements);
  row.demands = requirements.alternatives_of(pod.shape);
  row.stages = stages_of(pod, problem.options, soft_taints, requirements, topology);
  for (const model::PodAffinityTerm& term : pod.shape.affinity)
    if (term.anti && term.preferred_weight == 0) {
      row.repels.push_back(topology.affinity(term, pod.namespace_name, pod.labels).group);
      topology.mark_repelling(row.repels.back());
    }
  return row;
}

}  // namespace

std::vector<PodRow> pod_rows(const Problem& problem, const Columns& columns,
                             RequirementTable& requirements, Topology& topology) {
  bool soft_taints = false;
  for (const Pool& pool : problem.pools) soft_taints |= has_soft_taint(pool.pool.taints);
  for (const Node& node : problem.nodes) soft_taints |= has_soft_taint(node.taints);
  std::vector<PodRow> rows;
  for (std::size_t i = 0; i < problem.pods.size(); ++i)
    rows.push_back(row_of(problem, i, columns, soft_taints, requirements, topology));
  std::map<Row, std::size_t> sizes;
  for (PodRow& row : rows) {
    row.matched = topology.matching(row.source->namespace_name, row.source->labels);
    row.size_class = sizes.try_emplace(row.request, sizes.size()).first->second;
  }
  return rows;
}

bool has_preferences(const PodRow& row) {
  return row.stages.size() > (row.stages.back().tolerates_preferred ? 2U : 1U);
}

bool tolerates(const PodRow& row, const Stage& stage, const std::vector<model::Taint>& taints) {
  return std::all_of(taints.begin(), taints.end(), [&](const model::Taint& taint) {
    return (taint.effect == model::TaintEffect::kPreferNoSchedule && stage.tolerates_preferred) ||
           model::tolerates(row.source->shape.tolerations, taint);
  });
}

std::vector<std::size_t> order_by_size(const std::vector<PodRow>& rows) {
  std::vector<model::ShapeHash> shapes;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    shapes.push_back(model::hash_of(rows[i].source->shape));
    order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const PodRow& x = rows[a];
    const PodRow& y = rows[b];
    if (x.request[0] != y.request[0]) return x.request[0] > y.request[0];
    if (x.request[1] != y.request[1]) return x.request[1] > y.request[1];
    const auto key = [&](const PodRow& row, std::size_t at) {
      return std::tie(row.source->creation_millis, shapes[at], row.source->namespace_name,
                      row.source->labels, row.source->volumes, row.source->count, row.group);
    };
    return key(x, a) < key(y, b);
  });
  return order;
}

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

}  // namespace karst::scheduling
