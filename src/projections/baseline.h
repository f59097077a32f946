// Where the state of a trimmed log begins (docs/decisions/0018-trimming.md). One thread.
#pragma once

#include <optional>

#include "base/result.h"
#include "events/event_log.h"
#include "projections/cluster_state.h"

namespace karst::projections {

// The state before the first event at hand: of nothing (nullopt, `state` is as it was), or the
// baseline. Errors: those of the log; kGone when what it keeps of the past is of another projection
// version; kCorrupt when it is not the state at that place.
base::Result<std::optional<events::Baseline>> load_baseline(const events::EventLog& log,
                                                            ClusterState& state);

}  // namespace karst::projections
