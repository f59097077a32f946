// A problem, prepared for packing: everything that does not change while pods are placed (tables
// grow as they are asked, with the same answers). Owned by one solve call.
#pragma once

#include <algorithm>
#include <vector>

#include "scheduling/columns.h"
#include "scheduling/node_table.h"
#include "scheduling/pod_rows.h"
#include "scheduling/pool_table.h"
#include "scheduling/problem.h"
#include "scheduling/reach.h"
#include "scheduling/requirement_table.h"
#include "scheduling/topology.h"

namespace karst::scheduling {

struct Prepared {
  explicit Prepared(const Problem& the_problem, FarLimits far_limits = FarLimits::kLookedAt)
      : problem(the_problem),
        columns(problem),
        requirements(problem),
        topology(problem, requirements, domains),
        pools(problem, columns, requirements, domains, far_limits),
        nodes(problem, columns, requirements),
        rows(pod_rows(problem, columns, requirements, topology)),
        by_size(order_by_size(rows)),
        reach(problem, columns, topology, domains, pools, nodes, requirements) {
    topology.finish(nodes);
  }

  // Whether minValues may give way to pods, and there are any.
  bool may_lower_min_values() const {
    return problem.options.min_values == MinValuesPolicy::kBestEffort &&
           std::any_of(pools.pools().begin(), pools.pools().end(),
                       [](const PoolTable& pool) { return !pool.min_values.empty(); });
  }

  const Problem& problem;
  Columns columns;
  RequirementTable requirements;
  DomainNames domains;
  Topology topology;
  PoolTables pools;
  NodeTable nodes;
  std::vector<PodRow> rows;
  std::vector<std::size_t> by_size;  // the rows in the order of placing
  Reach reach;
};

}  // namespace karst::scheduling
