// Whose log it is, as the log itself says.
#pragma once

#include <string>

#include "base/result.h"
#include "events/event_log.h"

namespace karst::exports {

struct Origin {
  std::string log;
  std::string cluster_uid;  // empty: no process has said so
};

// From what a trimmed log keeps of the past, else from the first DaemonStarted, wherever that is.
// Errors: of the log.
base::Result<Origin> origin_of(const events::EventLog& log);

}  // namespace karst::exports
