// A log in memory with one claim's story: what every filter, row and format is tried on. Position P
// has the log time P seconds.
//
//   1 LogCreated  2 DaemonStarted  3 CatalogueObserved  4 PodObserved shop/web-1
//   5 create claim general-abcde  6 done  7 launch it  8 NodeClaimObserved  9 NodeObserved n1
//   10 the launch is done  11 InterruptionReceived  12 delete the claim  13 PodObserved, bound
//   14 RoundClosed
#pragma once

#include "events/memory_log.h"

namespace karst::exports {

class SmallLog {
 public:
  SmallLog();
  const events::EventLog& log() const { return log_; }

 private:
  events::MemoryLog log_;
};

}  // namespace karst::exports
