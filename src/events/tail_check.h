// Is the end of the log whole? Walks back from the last event over what a write-ahead log can hold
// and at least to the high-water mark. At or below the mark nothing may be missing or bad; above
// it, the first bad position is where to cut. What is older is checked when it is read, by
// checksums and positions.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "events/high_water.h"
#include "events/rocks_db.h"

namespace karst::events {

struct TailCheck {
  model::Position last;                // 0: no events
  std::optional<model::Position> cut;  // this and everything after it must go
  std::string reason;                  // why, when there is a cut
};

// Errors: kCorrupt and kNewer, naming the position. `folder` is for the message.
base::Result<TailCheck> check_tail(const RocksDb& db, const std::string& folder,
                                   const HighWaterMark& mark);

// "FOLDER: WHAT. …", with the advice that fits every damage.
tl::unexpected<base::Error> damaged(const std::string& folder, const std::string& what);

}  // namespace karst::events
