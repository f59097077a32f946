// What machines of each node class can be, kept from round to round while the catalogue, the class
// and what its selectors found stay as they are. It only saves time: a fresh one answers the same.
// Owned by whoever decides round after round; that thread.
#pragma once

#include <map>
#include <vector>

#include "model/cloud.h"
#include "projections/cluster_state.h"
#include "providers/provider.h"

namespace karst::reconcilers {

class ClassTypes {
 public:
  // None for a class that is not there. Valid until the next call after a change of the state.
  const std::vector<model::InstanceType>& of(const projections::ClusterState& state,
                                             const providers::Provider& provider,
                                             const model::NodeClassRef& ref);

 private:
  struct Kept {
    model::Position catalogue;
    model::Position node_class;
    model::Position resolved;
    std::vector<model::InstanceType> types;
  };
  std::map<model::NodeClassRef, Kept> kept_;  // of classes that are there
};

}  // namespace karst::reconcilers
