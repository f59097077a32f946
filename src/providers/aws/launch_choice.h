// Which of the allowed offers an order names: capacity type, kind of reservation, no machines of
// special kinds where ordinary ones do, no spot dearer than on demand, at most kLaunchTypesMax
// types. Karpenter's filters (v1.14), in their order. Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/cloud.h"
#include "model/cluster.h"
#include "providers/aws/resolved.h"

namespace karst::providers::aws {

struct ChosenOffer {
  model::Offer offer;
  const model::InstanceType* type = nullptr;  // as the class has it
  const Image* image = nullptr;
  std::string reservation;  // id; of a reserved offer
};

struct Choice {
  std::string capacity_type;
  std::string reservation_type;  // default, capacity-block, interruptible; empty: not reserved
  std::vector<ChosenOffer> offers;
};

// `types`: as the class has them, sorted by name; `resolved` must outlive the answer. No offers
// when none of them has a type, an image and, when reserved, a reservation.
Choice choose_offers(std::span<const model::Offer> offers,
                     const std::vector<model::InstanceType>& types, const Resolved& resolved,
                     const model::NodeClaim& claim);

}  // namespace karst::providers::aws
