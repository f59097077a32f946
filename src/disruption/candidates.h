// Which nodes may be given up at all, and by which method. The first rule that stands in the way is
// the reason; the texts are those of Karpenter's events (v1.14). Pure.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "disruption/costs.h"
#include "disruption/world.h"

namespace karst::disruption {

enum class Method {
  kEmptiness = 0,
  kStaticDrift = 1,
  kDrift = 2,
  kMultiNode = 3,
  kSingleNode = 4,
};
inline constexpr Method kMethods[] = {Method::kEmptiness, Method::kStaticDrift, Method::kDrift,
                                      Method::kMultiNode, Method::kSingleNode};
std::string_view method_name(Method method);  // "MultiNodeConsolidation"
// As budgets name it: "Empty", "Drifted", "Underutilized".
std::string_view reason_of(Method method);

// Graceful: pods and their budgets may hold a node. Eventual: not where a grace period will end it.
enum class DisruptionClass { kGraceful = 0, kEventual = 1 };
DisruptionClass class_of(Method method);

struct Candidate {
  std::size_t node = 0;           // index into World::nodes
  const Pool* pool = nullptr;     // of the World
  std::int64_t price_nanos = 0;   // an hour; 0: not known
  Cost cost = 0;                  // of moving its pods
  std::vector<std::size_t> pods;  // those to be moved: indices into World::pods
};

// Why the node may not be disrupted by anything of that class.
Refusal refusal_of(const World& world, const Node& node, DisruptionClass disruption);
// Why this method leaves a node alone that may be disrupted.
Refusal refusal_of(const World& world, const Candidate& candidate, Method method);

// Of a node whose pool is known.
Candidate make_candidate(const World& world, std::size_t node);

// More saved per cost first; of equals the earlier node.
void sort_by_ratio(std::vector<Candidate>& candidates);

}  // namespace karst::disruption
