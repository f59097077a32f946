// What pools can buy: the catalogue, under the NodeOverlays while their gate is on. Internal to
// whoever buys.
#pragma once

#include <map>
#include <vector>

#include "reconcilers/queries.h"

namespace karst::reconcilers {

// Of one moment; `state` and `context` outlive it.
class Offered {
 public:
  Offered(const ClusterState& state, const Context& context);

  const std::vector<model::InstanceType>& types(const model::PoolName& pool) const {
    const auto at = overlaid_.find(pool);
    return at == overlaid_.end() ? plain_ : at->second;
  }

 private:
  const std::vector<model::InstanceType>& plain_;
  std::map<model::PoolName, std::vector<model::InstanceType>> overlaid_;
};

}  // namespace karst::reconcilers
