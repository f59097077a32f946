#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "scheduling/claim_packer.h"
#include "scheduling/claims.h"
#include "scheduling/node_packer.h"
#include "scheduling/problem.h"
#include "scheduling/reasons.h"

namespace karst::scheduling {
namespace {

// Weight descending, then name descending, as Karpenter tries them.
std::vector<PoolTable> pool_tables(const Problem& problem, const Columns& columns,
                                   RequirementTable& requirements) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < problem.pools.size(); ++i)
    if (is_dynamic(problem.pools[i].pool)) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const model::NodePool& x = problem.pools[a].pool;
    const model::NodePool& y = problem.pools[b].pool;
    return std::tie(y.weight, y.name, a) < std::tie(x.weight, x.name, b);
  });
  std::vector<PoolTable> tables;
  for (const std::size_t pool : order) tables.emplace_back(problem, pool, columns, requirements);
  return tables;
}

struct Prepared {
  const Problem& problem;
  Columns columns;
  RequirementTable requirements;
  std::vector<GroupRow> groups;
  std::vector<PoolTable> pools;
};

Answer solve_in(Prepared& prepared, const std::vector<std::size_t>& order) {
  std::vector<PoolTable> pools = prepared.pools;  // limits are used up
  std::vector<std::int64_t> left;
  for (const GroupRow& group : prepared.groups)
    left.push_back(std::max<std::int64_t>(group.source->count, 0));
  Answer answer;
  answer.placements = place_on_nodes(prepared.problem, prepared.columns, prepared.requirements,
                                     prepared.groups, order, left);
  ClaimPacker packer(prepared.problem, prepared.requirements, pools, prepared.groups, left);
  for (const std::size_t group : order)
    if (prepared.groups[group].unsupported.empty() && left[group] > 0) packer.place(group);
  for (std::size_t i = 0; i < left.size(); ++i)
    if (left[i] > 0)
      answer.unplaced.push_back(
          {prepared.groups[i].group,
           left[i],
           false,
           reasons_for(prepared.groups[i], pools, prepared.columns, prepared.requirements),
           {},
           {}});
  std::sort(answer.unplaced.begin(), answer.unplaced.end(),
            [](const Unplaced& a, const Unplaced& b) { return a.group < b.group; });
  answer.claims = list_claims(prepared.problem, prepared.columns, prepared.requirements, pools,
                              prepared.groups, packer.rows());
  return answer;
}

// Pods left over by priority, highest first, negated: the larger map entry sequence is the better
// answer.
std::vector<std::int64_t> placed_by_priority(const Problem& problem, const Answer& answer) {
  std::map<std::int32_t, std::int64_t, std::greater<>> counts;
  for (const PodGroup& group : problem.pods) counts[group.shape.priority] += 0;
  for (const Unplaced& unplaced : answer.unplaced)
    counts[problem.pods[unplaced.group].shape.priority] -= unplaced.count;
  std::vector<std::int64_t> result;
  for (const auto& [priority, count] : counts) result.push_back(count);
  return result;
}

}  // namespace

// Large pods first packs best. Only when something is left over does priority decide who goes
// first.
Answer solve(const Problem& problem) {
  Prepared prepared{problem, Columns(problem), RequirementTable(problem), {}, {}};
  prepared.groups = group_rows(problem, prepared.columns, prepared.requirements);
  prepared.pools = pool_tables(problem, prepared.columns, prepared.requirements);
  std::vector<std::size_t> order(prepared.groups.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  Answer answer = solve_in(prepared, order);

  const auto placed = placed_by_priority(problem, answer);
  if (answer.unplaced.empty() || placed.size() < 2) return answer;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return prepared.groups[a].source->shape.priority > prepared.groups[b].source->shape.priority;
  });
  Answer by_priority = solve_in(prepared, order);
  return placed_by_priority(problem, by_priority) > placed ? by_priority : answer;
}

}  // namespace karst::scheduling
