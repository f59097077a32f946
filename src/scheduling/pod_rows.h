// Rows of equal pods, prepared: what one asks for as columns, the ways in which its demands can be
// met, and what it has to do with other pods. Owned by one solve call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "scheduling/columns.h"
#include "scheduling/problem.h"
#include "scheduling/requirement_table.h"
#include "scheduling/topology.h"

namespace karst::scheduling {

inline constexpr std::size_t kVolumeWaysMax = 64;  // combinations of volumes' topologies tried

// One way to meet a pod's demands on labels.
struct Way {
  RequirementId strict = 0;  // node selector and one required term
  RequirementId wanted = 0;  // that and, while it counts, the heaviest preferred term
};

// What the pod demands once some of its preferences have been given up.
struct Stage {
  std::vector<Way> ways;  // any of them
  std::vector<Constraint> constraints;
  bool tolerates_preferred = false;  // PreferNoSchedule taints do not matter any more
};

struct PodRow {
  std::size_t group = 0;       // index into Problem::pods
  std::size_t size_class = 0;  // the same for rows that ask for the same
  const PodGroup* source = nullptr;
  Row request;                                                      // volumes of its own included
  std::vector<std::pair<std::size_t, std::string>> shared_volumes;  // column, and driver and claim
  std::vector<Stage> stages;                                        // tried in turn; never empty
  std::vector<RequirementId> demands;      // every Way::strict: node selector and a required term
  std::vector<RequirementId> volume_ways;  // any of them; empty: volumes that exclude each other
  std::vector<GroupId> matched;            // groups that count it, by TopologyGroup::order
  std::vector<GroupId> repels;             // groups that its required anti-affinity keeps away
  std::string unsupported;                 // why nothing can place it; empty: something may
};

// One row per group of the problem, in the problem's order.
std::vector<PodRow> pod_rows(const Problem& problem, const Columns& columns,
                             RequirementTable& requirements, Topology& topology);

// It prefers something that it may have to give up. PreferNoSchedule taints, which matter to every
// pod as soon as one is somewhere, are left out.
bool has_preferences(const PodRow& row);

// Whether its pods may be on nodes with these taints.
bool tolerates(const PodRow& row, const Stage& stage, const std::vector<model::Taint>& taints);

// The order of placing: CPU and memory descending, then age, then by content, so that the order of
// the input does not show. Indices into the rows.
std::vector<std::size_t> order_by_size(const std::vector<PodRow>& rows);

// Both bind the same port of the same protocol on addresses that overlap.
bool ports_conflict(const std::vector<model::HostPort>& a, const std::vector<model::HostPort>& b);

}  // namespace karst::scheduling
