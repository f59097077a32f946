// A fact: what a source tells the engine, before it has a position. And where facts go in.
#pragma once

#include <cstdint>
#include <string>

#include "base/bounded_queue.h"
#include "base/time.h"
#include "events/body.h"
#include "model/ids.h"

namespace karst::ports {

struct Fact {
  events::Body body;
  base::WallTime wall_time;  // when the source saw it
  // What to acknowledge once the fact is durable or known to be old news (a queue's receipt
  // handle). Empty: nothing.
  std::string receipt;
  // When it was offered among all that the inbox was, whatever lane it took; 0: in its turn.
  std::uint64_t order = 0;
};

// Interruptions, outcomes and leadership go first. So an EpochOpened may overtake a list that began
// before it; Fact::order tells (engine/admission.h).
inline base::Lane lane_of(const events::Body& body) {
  const bool urgent = std::holds_alternative<events::InterruptionReceived>(body) ||
                      std::holds_alternative<model::Outcome>(body) ||
                      std::holds_alternative<events::EpochOpened>(body) ||
                      std::holds_alternative<events::LeadershipLost>(body);
  return urgent ? base::Lane::kUrgent : base::Lane::kOrdinary;
}

// The engine's bounded inbox as sources see it. Any thread.
// A source sends a ShapeRecorded before the first PodObserved or DaemonSetObserved with that shape,
// and may send it again at any time. For each full list it sends ListStarted{kind} before it asks
// (what exists then and is not named is gone; a list that fails is started anew), every object of
// that kind, and ListEnded{kind}; objects of a kind keep their order within one source. Nothing
// else is asked: redelivered and repeated facts cost no log (engine/admission.h).
class FactSink {
 public:
  virtual ~FactSink() = default;
  // Blocks while the inbox is full (a source that may not block drops its connection instead and
  // lists again later). False: the engine is stopping, the fact was not taken.
  virtual bool offer(Fact fact) = 0;
};

}  // namespace karst::ports
