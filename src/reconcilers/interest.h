// Which nodes a pass of provisioning looks at. Internal to provisioning.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "reconcilers/problem_of.h"

namespace karst::reconcilers {

// In a large cluster most nodes are full, and their pods concern nobody. Of one moment.
class Interest {
 public:
  explicit Interest(const Demand* demand) : all_(demand == nullptr) {
    if (all_) return;
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    smallest_.cpu_millis = smallest_.memory_bytes = smallest_.ephemeral_bytes = kMost;
    for (const auto& pods : demand->pods) {
      const model::PodShape& shape = *pods.front()->shape;
      all_ |= !shape.spread.empty() || !shape.affinity.empty();
      const model::Resources& wants = shape.requests;
      smallest_.cpu_millis = std::min(smallest_.cpu_millis, wants.cpu_millis);
      smallest_.memory_bytes = std::min(smallest_.memory_bytes, wants.memory_bytes);
      smallest_.ephemeral_bytes = std::min(smallest_.ephemeral_bytes, wants.ephemeral_bytes);
    }
    smallest_.pods = 1;
  }
  bool in_pods(const projections::NodePods* pods) const {
    return all_ || (pods != nullptr && pods->repelling > 0);
  }
  bool in_room(const model::Resources& available) const {
    return model::fits(smallest_, available);
  }

 private:
  bool all_;
  model::Resources smallest_;  // no pod of the demand asks for less of anything
};

}  // namespace karst::reconcilers
