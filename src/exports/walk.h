// One pass over a log that fills tables: each view's rows go to its writer. Reading ends early
// where nothing more can be wanted. One thread; memory is that of the views and writers, and of one
// state of the cluster where a view needs history.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "events/event_log.h"
#include "exports/filter.h"
#include "exports/rows.h"
#include "projections/cluster_state.h"

namespace karst::exports {

struct Output {
  std::unique_ptr<View> view;
  std::unique_ptr<TableWriter> writer;
};

struct Walked {
  std::uint64_t events = 0;       // taken
  std::uint64_t event_bytes = 0;  // of those, counted as `karst log stat` does
  model::Position first, last;    // of those; 0: none
};

// Of a trimmed log: tells filter and views what its baseline knows, which is loaded into `state`.
// Errors: those of the log; kInvalid when that is of another projection version; kCorrupt.
base::Status begin_at_baseline(const events::EventLog& log, Filter& filter,
                               const std::vector<Output>& outputs,
                               projections::ClusterState& state);

// `at` is told the position after each event. Errors: of the log, the views and the writers and of
// begin_at_baseline. A
// writer is finished after its last row, also when there was none.
base::Result<Walked> walk(const events::EventLog& log, Filter& filter,
                          const std::vector<Output>& outputs,
                          const std::function<void(model::Position)>& at);

}  // namespace karst::exports
