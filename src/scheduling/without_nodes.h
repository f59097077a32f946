// One problem, asked again and again: where would the pods of these nodes go, if the nodes were
// gone? What consolidation would ask of thousands of nodes; asked by bench/resolve.cc and the laws
// so far (src/disruption solves anew for each). Whatever no question changes (the catalogue,
// what demands meet which nodes, whose pods are counted where) is prepared once; a question costs
// what its pods and one look at the nodes cost. Owned by one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "scheduling/prepared.h"
#include "scheduling/problem.h"

namespace karst::scheduling {

// Pods that are bound on a node and would have to go with it.
struct Resident {
  std::size_t node = 0;   // index into Problem::nodes
  std::size_t group = 0;  // index into Problem::pods
  std::int64_t count = 1;
};

// A node that is taken away. It takes pods in the problem.
struct GoneNode {
  std::size_t node = 0;         // index into Problem::nodes
  std::size_t pool = SIZE_MAX;  // index into Problem::pools, whose limits it uses up; or none
  model::Resources capacity;    // so much of them
};

class WithoutNodes {
 public:
  // `problem` as it is with all its nodes: the count of a group is what is pending of it (0: only
  // residents are of it), and `bound` is without the residents, who count as bound until their node
  // is gone.
  WithoutNodes(Problem problem, const std::vector<Resident>& residents);
  WithoutNodes(const WithoutNodes&) = delete;
  WithoutNodes& operator=(const WithoutNodes&) = delete;

  // As place() would answer for the problem without these nodes, their residents pending; indices
  // are those of the problem that was given. What was asked before does not show, but for counts in
  // the texts of reasons, which may tell of more places.
  Answer place(const std::vector<GoneNode>& gone);

 private:
  void count(const Share& stay, std::size_t node, std::int64_t pods);
  void leave(const GoneNode& gone, std::vector<std::int64_t>& counts);
  void come_back(const GoneNode& gone);
  void select(const std::vector<std::size_t>& groups, const std::vector<std::int64_t>& counts);
  void put_back(const std::vector<std::size_t>& groups);

  Problem problem_;  // its pods: those of the question
  std::vector<PodGroup> groups_;
  std::vector<std::int64_t> pending_;          // by group
  std::vector<std::vector<Share>> stays_;      // by node
  std::vector<std::size_t> always_;            // groups with pending pods
  std::unique_ptr<Prepared> prepared_;         // its rows: those of the question
  std::vector<PodRow> rows_;                   // by group; those not in the question
  std::vector<std::vector<GroupId>> matched_;  // by group: who counts it, in any question
};

}  // namespace karst::scheduling
