#include "events/event_log.h"

namespace karst::events {

base::Result<std::string> EventLog::trimmed_leaves(std::uint64_t tile) const {
  return base::fail(base::Kind::kGone, "the positions from " +
                                           std::to_string(tile * kTrimTile + 1) +
                                           " on are at hand: their leaves are made of them");
}

}  // namespace karst::events
