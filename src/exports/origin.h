// Whose log it is, as the log itself says.
#pragma once

#include <string>

#include "base/result.h"
#include "events/event_log.h"

namespace karst::exports {

inline constexpr std::uint64_t kOriginSearchMax = 1000;  // events from the beginning of the log

struct Origin {
  std::string log;
  std::string cluster_uid;  // empty: no process has said so
};

// From the first DaemonStarted, or what a trimmed log keeps of the past. Errors: of the log.
base::Result<Origin> origin_of(const events::EventLog& log);

}  // namespace karst::exports
