// Existing nodes, prepared: which demands each one meets (nodes that nobody can tell apart share
// one profile), what room it has after the DaemonSets' pods that are still to come, and the order
// in which they are tried. Owned by one solve call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "scheduling/columns.h"
#include "scheduling/problem.h"
#include "scheduling/requirement_table.h"

namespace karst::scheduling {

class NodeTable {
 public:
  // `requirements` gets what the nodes' labels say.
  NodeTable(const Problem& problem, const Columns& columns, RequirementTable& requirements);

  // Indices into Problem::nodes: those that take pods, initialized ones first, then by name.
  const std::vector<std::size_t>& order() const { return order_; }
  // A node's place in it.
  std::size_t place(std::size_t node) const { return place_[node]; }
  // The node, which took pods, takes none; and takes them again, as the last of those that left.
  void leave(std::size_t node);
  void come_back(std::size_t node);
  // Room at the start, by index into Problem::nodes.
  const std::vector<Row>& room() const { return room_; }
  // The same of the nodes in order(), side by side.
  const std::vector<std::int64_t>& room_in_order() const { return room_in_order_; }
  // The node's labels meet the demand: a key that it does not carry is not "any".
  bool meets(std::size_t node, RequirementId demand);

 private:
  using Ways = std::vector<std::vector<RequirementId>>;  // by DaemonSet
  Row room_of(std::size_t node, const Columns& columns, const Ways& ways);

  const Problem& problem_;
  RequirementTable& requirements_;
  std::vector<std::size_t> order_;
  std::vector<std::size_t> place_;  // by node; of those that take pods
  std::vector<Row> room_;
  std::vector<std::int64_t> room_in_order_;
  std::vector<std::size_t> profile_of_;
  std::vector<model::Requirements> profiles_;
  std::vector<std::vector<std::int8_t>> met_;  // by profile and demand; -1: not asked yet
};

}  // namespace karst::scheduling
