// After the greedy answer: pods that may just as well be on another new claim are dealt out again,
// sector by sector, where that makes the fleet cheaper. Within a sector (claims of one pool under
// the same requirements, and those of other pools of its weight under like ones, where all who may
// move would find what they demand) a pod finds the labels, the taints and the zone that it minds,
// so every count over zones is what it was, turn by turn; what matters is room, and who else is on
// the host. Pools of one weight are improved together and one by one: the cheaper way counts.
// Left as they are: claims of pools whose limits leave pods over, or that have both limits and
// minValues, claims that were let off minValues, answers that use a reservation, pods on existing
// nodes, and pods with preferences, host ports, shared volumes, affinity or anti-affinity over
// hosts, or ties over a zone that is still open; but those that spreads merely count may move while
// it is, where every machine is sold in several.
#pragma once

#include "scheduling/packer.h"
#include "scheduling/prepared.h"

namespace karst::scheduling {

// The packer's claims and turns, made cheaper in place; never dearer, all pods where some claim
// takes them. The packer is at its end after that: it places no more pods.
void improve(Prepared& prepared, Packer& packer);

}  // namespace karst::scheduling
