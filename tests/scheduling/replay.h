// A naive judge of spreads, affinities and anti-affinities: binds the pods one after the other in
// the answer's order, as the kube-scheduler would, and looks at each constraint when its pod is
// bound. Written apart from the solver: it uses none of its parts but the problem and the answer.
#pragma once

#include <string>

#include "scheduling/problem.h"

namespace karst::scheduling::test {

// Empty, or the first constraint that did not hold at its turn. Understands selectors with In, the
// keys hostname and zone, and pods of one namespace.
std::string wrong_order(const Problem& problem, const Answer& answer);

}  // namespace karst::scheduling::test
