// One event with everything around it, as the Watcher's parts see it. Internal to happening*.cc.
#pragma once

#include <utility>
#include <vector>

#include "daemon/happening.h"

namespace karst::daemon {

struct Watcher::Scene {
  const events::Envelope& envelope;
  const projections::ClusterState& state;
  std::vector<Happening>& out;

  Happening blank(HappeningKind kind) const {
    Happening h;
    h.kind = kind;
    h.time = envelope.log_time;
    h.position = envelope.position;
    return h;
  }
  void tell(Happening happening) const { out.push_back(std::move(happening)); }
};

// Until when the pods of a claim that goes may stay: the annotation's time, else
// terminationGracePeriod after its deletion; 0: as long as they need.
std::int64_t deadline_of(const model::NodeClaim& claim);

}  // namespace karst::daemon
