// Which pools a pass of provisioning could not use, and why. Internal to provisioning.
#pragma once

#include "reconcilers/queries.h"
#include "scheduling/problem.h"

namespace karst::reconcilers {

struct PoolsOfPass {
  const ClusterState& state;
  const Context& context;
  Plan& plan;
  const scheduling::Problem& problem;
  bool left_behind = false;  // pods: then it is asked whether a pool has instance types at all
};

// A verdict for each pool that is left out or has no instance types, and one when that is over.
void say_which_pools(const PoolsOfPass& pass);

}  // namespace karst::reconcilers
