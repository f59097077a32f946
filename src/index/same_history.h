// Whether a stored tree is that of a log. Its id does not say so: a log that was put back from a
// copy goes on with another history under the same id, and an index that was left behind is the
// index of the one before. Inner part of src/index.
#pragma once

#include <string>

#include "base/result.h"
#include "events/event_log.h"
#include "index/tile_store.h"

namespace karst::index {

// Holds the last leaves that both have, at most a tile of them, against the log's events, or where
// these were trimmed against the leaves that are kept. Empty: they are the same, or there are none.
// Otherwise why this tree is not the log's. `secret`: the log's. Errors: those of the log alone.
base::Result<std::string> other_history(const TileStore& tiles, const events::EventLog& log,
                                        const std::string& secret);

}  // namespace karst::index
