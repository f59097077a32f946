// One problem, asked again and again: where would the pods of these nodes go, if the nodes were
// gone? What consolidation and drift ask of up to thousands of nodes (disruption/simulator.h).
// Whatever no question changes (the catalogue, what demands meet which nodes, whose pods are
// counted where) is prepared once; a question costs what its pods and one look at the nodes cost.
// Owned by one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "scheduling/prepared.h"
#include "scheduling/problem.h"

namespace karst::scheduling {

// A node that is taken away.
struct GoneNode {
  std::size_t node = 0;         // index into Problem::nodes
  std::size_t pool = SIZE_MAX;  // index into Problem::pools, whose limits it uses up; or none
  model::Resources capacity;    // so much of them
};

// Bound pods of one of the nodes that are gone, and not bound in the question.
struct GonePods {
  std::size_t bound = 0;  // index into Problem::bound
  std::size_t group = 0;  // of which they are: index into Problem::pods
};

// Pods of a group to be placed: the fields of PodGroup that pods of one group may differ in.
struct AskedPods {
  std::size_t group = 0;  // index into Problem::pods
  std::int64_t count = 1;
  std::int64_t creation_millis = 0;
  bool voluntary = false;
};

struct WithoutNodesQuestion {
  std::vector<GoneNode> nodes;  // each once
  std::vector<GonePods> gone;
  std::vector<AskedPods> asked;  // as a problem made for the question would list them
};

class WithoutNodes {
 public:
  // `problem` as it is with all its nodes. Its pods are the groups that questions name, each with
  // as many pods as there may ever be of it in one; everybody bound is in `bound`.
  explicit WithoutNodes(Problem problem);
  WithoutNodes(const WithoutNodes&) = delete;
  WithoutNodes& operator=(const WithoutNodes&) = delete;

  // As place() would answer for a problem made for the question; groups of the answer are indices
  // into `asked`. What was asked before does not show, nor do groups that are not asked for, but in
  // the texts of reasons whose code is "topology": they may tell of more places.
  Answer place(const WithoutNodesQuestion& question);

 private:
  void count(const GonePods& pods, std::int64_t change);
  bool leave(const GoneNode& gone);
  void come_back(const GoneNode& gone, bool took_pods);
  void select(const std::vector<AskedPods>& asked);

  Problem problem_;            // its pods: those of the question
  std::vector<bool> is_gone_;  // by bound row
  std::vector<PodGroup> groups_;
  std::unique_ptr<Prepared> prepared_;         // its rows: those of the question
  std::vector<PodRow> rows_;                   // by group
  std::vector<std::vector<GroupId>> matched_;  // by group: who counts it, in any question
};

}  // namespace karst::scheduling
