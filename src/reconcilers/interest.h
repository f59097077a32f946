// Which nodes a pass of provisioning looks at. Internal to provisioning.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <string_view>
#include <vector>

#include "reconcilers/problem_of.h"

namespace karst::reconcilers {

// In a large cluster most nodes are full, and their pods concern nobody. Of one moment.
class Interest {
 public:
  Interest(const Demand& demand, bool all) : all_(all) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    smallest_.cpu_millis = smallest_.memory_bytes = smallest_.ephemeral_bytes = kMost;
    for (const auto& pods : demand.pods) {
      const model::PodShape& shape = *pods.front()->shape;
      all_ |= !shape.spread.empty() || !shape.affinity.empty();
      const model::Resources& wants = shape.requests;
      smallest_.cpu_millis = std::min(smallest_.cpu_millis, wants.cpu_millis);
      smallest_.memory_bytes = std::min(smallest_.memory_bytes, wants.memory_bytes);
      smallest_.ephemeral_bytes = std::min(smallest_.ephemeral_bytes, wants.ephemeral_bytes);
      for (const projections::PodRow* pod : pods)
        if (pod->expected_until.value() != 0) asking_.push_back(pod);
    }
    std::sort(asking_.begin(), asking_.end(), std::less<>());
    smallest_.pods = 1;
  }
  bool in_pods(const projections::NodePods* pods) const {
    return all_ || (pods != nullptr && pods->repelling > 0);
  }
  bool in_room(const model::Resources& available) const {
    return all_ || model::fits(smallest_, available);
  }
  // Requests of pods that are expected on the node and not bound there yet. One that asks again is
  // in nobody's way: it may get the same place once more.
  model::Resources expected_requests(const std::vector<const projections::PodRow*>& pods,
                                     std::string_view node) const {
    model::Resources total;
    for (const projections::PodRow* pod : pods)
      if ((pod->node == nullptr || *pod->node != node) && !asks(pod)) total += pod->shape->requests;
    return total;
  }
  bool asks(const projections::PodRow* pod) const {
    return std::binary_search(asking_.begin(), asking_.end(), pod, std::less<>());
  }

 private:
  bool all_;
  std::vector<const projections::PodRow*>
      asking_;                 // those that were expected somewhere; by address
  model::Resources smallest_;  // no pod of the demand asks for less of anything
};

}  // namespace karst::reconcilers
