// Claims that belong on another pool: a claim is of a pool only if no pool of more weight takes all
// of its pods (Karpenter v1.14, NodePool spec.weight). Whoever deals pods out anew puts that right.
// Part of improve.
#pragma once

#include <cstddef>
#include <vector>

#include "scheduling/alternatives.h"
#include "scheduling/joints.h"
#include "scheduling/mobility.h"
#include "scheduling/refill.h"
#include "scheduling/spare_limits.h"

namespace karst::scheduling {

class Heavier {
 public:
  // All outlive it. `is_open`: views whose claims may be changed.
  Heavier(Prepared& prepared, Mobility& mobility, Alternatives& alternatives, IsOpen is_open)
      : prepared_(prepared),
        mobility_(mobility),
        alternatives_(alternatives),
        is_open_(std::move(is_open)) {}

  // If one of the pools [0, last) takes all that is on the claim, its cheapest machine there
  // becomes the claim's. `staying`: rows that are on it beside those that were dealt to it;
  // `change`: what else is taken of the limits. False: that pool would take them, but not from
  // here.
  bool put_right(std::size_t last, Refilled::Filled& filled, const std::vector<Share>& staying,
                 const SpareLimits& limits, const SpareLimits::Change& change);

 private:
  RequirementId requirements_for(std::size_t pool, const View& view,
                                 const std::vector<Share>& shares);
  const View* view_for(std::size_t pool, const View& view, const std::vector<Share>& shares);

  Prepared& prepared_;
  Mobility& mobility_;
  Alternatives& alternatives_;
  IsOpen is_open_;
};

}  // namespace karst::scheduling
