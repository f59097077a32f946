// Replay: fold a log again (rebuild), and decide again at every RoundClosed and compare (verify).
// No effects by construction: nothing here has a port.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "events/event_log.h"
#include "events/snapshots.h"
#include "projections/cluster_state.h"

namespace karst::engine {

// Folds the events up to `until` (0: all) into `state`, starting from a snapshot if one fits, from
// the baseline of a trimmed log, or from nothing at position 1. Returns the first position folded.
// `folded`, if given, sees the state after each event. Errors: those of the log; kGone when the log
// was trimmed and what it keeps of the past is of another projection version.
base::Result<model::Position> rebuild(
    const events::EventLog& log, const events::Snapshots* snapshots, model::Position until,
    projections::ClusterState& state,
    const std::function<void(const projections::ClusterState&)>& folded = {});

struct Difference {
  model::Position round;  // position of the RoundClosed
  std::uint64_t round_number = 0;
  std::string what;  // what was logged, what is decided now, in one or two lines
};

struct VerifyReport {
  model::Position from{1};          // what is before this was trimmed, and is not verified
  std::uint64_t rounds = 0;         // decided again
  std::uint64_t other_version = 0;  // rounds of another decision version: folded, not compared
  std::uint64_t events = 0;
  std::optional<Difference> difference;  // the first one; verification stops there
};

// Decides again at every round whose DaemonStarted has `decision_version` (all of them when
// `across`), and compares every decision byte for byte and both digests. Of a trimmed log from its
// baseline on: the round that this cuts in two is folded, and its state digest compared. Errors: as
// rebuild.
base::Result<VerifyReport> verify(const events::EventLog& log, const std::string& decision_version,
                                  bool across);

// Folds event by event; `visit` sees each event after it was applied and may stop the walk by
// returning false.
base::Status walk(
    const events::EventLog& log, model::Position from, projections::ClusterState& state,
    const std::function<bool(const events::Event&, const projections::ClusterState&)>& visit);

}  // namespace karst::engine
