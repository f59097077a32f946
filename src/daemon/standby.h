// What a replica tells while another one leads. Both see the same cluster, so only the one that
// leads says and counts what happens to it: sums over replicas are then those of the cluster. One
// that stands by tells of itself (its start, clock, disk, input), and how what it sent while it led
// ended, which nobody else knows. Plain values, one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "daemon/happening.h"
#include "events/event.h"
#include "projections/cluster_state.h"

namespace karst::daemon {

class Standing {
 public:
  void prime(const projections::ClusterState& state);

  // Takes out of `happenings`, from `first` on, what `event` meant and is not to be told. Events
  // come in their order. `covered`: the lease lasts at this moment. One that was stopped for longer
  // than that hears of the cluster before it hears that it has lost it.
  void keep_to_oneself(const events::Event& event, bool covered, std::size_t first,
                       std::vector<Happening>& happenings);

 private:
  void note(const events::Event& event);

  std::uint64_t epoch_ = 0;
  bool leads_ = true;
};

}  // namespace karst::daemon
