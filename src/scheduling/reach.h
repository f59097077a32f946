// Which domains a spread counts for a row of pods: those of nodes that are there, and those where a
// node for such a pod could be made. A zone that only pools with taints against the pod are in, or
// that sells no machine with room for it under the DaemonSets, within the pool's limits as they are
// at the start and by its minValues, is none of them: the pods would wait for it for ever. What is
// sold out for now counts. Owned by one solve call.
#pragma once

#include <cstddef>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "scheduling/columns.h"
#include "scheduling/node_table.h"
#include "scheduling/pod_rows.h"
#include "scheduling/pool_table.h"
#include "scheduling/requirement_table.h"
#include "scheduling/topology.h"

namespace karst::scheduling {

class Reach {
 public:
  Reach(const Problem& problem, const Columns& columns, Topology& topology, DomainNames& domains,
        const PoolTables& pools, NodeTable& nodes, RequirementTable& requirements);

  // Sorted. Under SpreadDomains::kAllPools Karpenter's: the topology's own.
  const std::vector<int>& domains(GroupId group, const PodRow& row);
  // Where such a pod may be, whatever others are there: on nodes that have room for it, and where
  // one could be made. Sorted.
  const std::vector<int>& places(int key, const PodRow& row);
  // Rows are other pods now, and nodes may have left or come back.
  void forget_rows() {
    known_.clear();
    places_.clear();
  }

 private:
  // A kind of node: a type (index into PoolTable::types) and its room under the DaemonSets.
  struct Kind {
    std::size_t type = 0;
    Row room;
  };
  // A domain in which nodes could be made, and of which kinds: of a pool without minValues only
  // those that none other is as large as for as little of the limits.
  struct Sold {
    int domain = 0;
    std::vector<Kind> kinds;
  };
  // Where a pool could make a node for the pod under any of the demands.
  void add_pools(std::size_t key, const PodRow& row, const std::vector<RequirementId>& demands,
                 std::vector<int>& found);
  const std::vector<Sold>& sold(std::size_t pool, RequirementId together, std::size_t key);
  using DaemonsIn = std::map<int, PoolTables::DaemonDemands>;  // by domain
  void add_type(const PoolTable& table, std::size_t type, RequirementId together, std::size_t key,
                DaemonsIn& daemons, std::vector<Sold>& sold);
  void add_kind(const PoolTable& table, int domain, Kind kind, std::vector<Sold>& sold) const;
  bool can_make(const PoolTable& table, const Sold& sold, const PodRow& row) const;

  const Problem& problem_;
  const Columns& columns_;
  Topology& topology_;
  DomainNames& domains_;
  const PoolTables& pools_;
  NodeTable& nodes_;
  RequirementTable& requirements_;
  RequirementId anything_;
  // By pool, requirements and key.
  std::map<std::tuple<std::size_t, RequirementId, std::size_t>, std::vector<Sold>> sold_;
  std::map<std::pair<GroupId, std::size_t>, std::vector<int>> known_;  // by group and row
  std::map<std::pair<int, std::size_t>, std::vector<int>> places_;     // by key and row
};

}  // namespace karst::scheduling
