// The answer to a state at a time: every reconciler in order, each plan applied before the next one
// decides. Shared by the live round and by verification, so that they cannot differ.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/sha256.h"
#include "base/time.h"
#include "events/event.h"
#include "ports/command_port.h"
#include "projections/cluster_state.h"
#include "providers/provider.h"
#include "reconcilers/class_types.h"

namespace karst::engine {

struct Answer {
  std::vector<events::Record>
      records;  // the decisions, in order, positions consecutive from the state's next
  std::vector<ports::IssuedCommand> commands;  // those of them that hands must carry out
  std::optional<base::LogTime> wake_at;
};

// Applies what it decides to `state`. `class_types`: the same one for each round of a state.
Answer decide(projections::ClusterState& state, const providers::Provider& provider,
              reconcilers::ClassTypes& class_types, base::LogTime now, base::WallTime wall);

// Applies one record to `state` at its next position; returns that position.
model::Position apply_record(projections::ClusterState& state, const events::Record& record,
                             const events::Body& body);

// SHA-256 over (type, stream, causation, correlation, payload) of each record.
base::Sha256Digest decision_digest(const std::vector<events::Record>& records);

}  // namespace karst::engine
