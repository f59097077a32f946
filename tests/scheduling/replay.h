// A naive judge of spreads, affinities and anti-affinities: binds the pods one after the other in
// the answer's order, as the kube-scheduler would, and looks at each constraint when its pod is
// bound. Written apart from the solver: it uses none of its parts but the problem and the answer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scheduling/problem.h"

namespace karst::scheduling::test {

// Empty, or the first constraint that did not hold at its turn. Understands selectors with In, the
// keys hostname, zone and capacity type, node selectors and terms over the zone, and pods of one
// namespace. The answer's claims count as nodes from the start.
std::string wrong_order(const Problem& problem, const Answer& answer);

// The same, or an existing node on which a pod that is left over could be bound all the same. Pods
// ask for CPU alone.
std::string wrongly_left(const Problem& problem, const Answer& answer);

// The most pods that any order and any choice of zones can bind when each pod gets a node of its
// own in whatever zone of `zones`: no existing nodes, no constraints over hosts. Everything is
// tried, so few pods only.
std::int64_t most_bound(const Problem& problem, const std::vector<std::string>& zones);

}  // namespace karst::scheduling::test
