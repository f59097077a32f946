// What pools can buy: what their node classes can be, under the NodeOverlays while their gate is
// on. Internal to whoever buys.
#pragma once

#include <map>
#include <vector>

#include "reconcilers/queries.h"

namespace karst::reconcilers {

// Of one moment; `state` and `context` outlive it.
class Offered {
 public:
  Offered(const ClusterState& state, const Context& context);

  const std::vector<model::InstanceType>& types(const model::NodePool& pool) const {
    const auto at = overlaid_.find(pool.name);
    return at == overlaid_.end() ? plain(pool) : at->second;
  }

  // Names of overlays that do nothing, because another of their weight sets the same.
  const std::vector<std::string>& conflicts() const { return conflicts_; }

  // What the solver may buy for the pool at this moment: less offerings that lately had no capacity
  // and reservations that claims have used up, and with domains as the pool can fill them.
  scheduling::TypeList on_sale(const model::NodePool& pool) const;

 private:
  const std::vector<model::InstanceType>& plain(const model::NodePool& pool) const {
    return context_.class_types.of(state_, context_.provider, pool.node_class);
  }

  SaleKey key_of(const model::NodePool& pool) const;

  const ClusterState& state_;
  const Context& context_;
  std::map<model::PoolName, std::vector<model::InstanceType>> overlaid_;
  std::vector<std::string> conflicts_;
};

}  // namespace karst::reconcilers
