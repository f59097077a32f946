// A log read once and decoded, for checkers: what was intended, tried, answered and given up, by
// position. Reads events only; shares no code with the state that the engine folds.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "events/event_log.h"

namespace karst::simulation {

struct CommandLife {
  model::Command command;
  std::int64_t log_millis = 0;
  std::map<std::uint32_t, std::uint64_t>
      attempts;                        // attempt → position of the event that decided it
  bool blocked = false;                // refused by a disruption budget
  std::optional<std::uint64_t> ended;  // position of the outcome or abandonment that ended it
};

struct LogIndex {
  std::map<std::uint64_t, CommandLife> commands;         // by position
  std::map<std::string, std::uint64_t> interruptions;    // message id → position
  std::map<std::string, std::uint64_t> refused;          // refused input's id → position
  std::map<std::string, std::uint64_t> delete_requests;  // claim name → first ObjectDeleteRequested
  std::map<std::string, std::map<std::uint32_t, std::vector<std::uint64_t>>>
      launches;  // claim uid → attempt → orders
  std::int64_t last_command_millis = 0;
  std::uint64_t events = 0;
  std::uint64_t rounds = 0;
};

LogIndex index_log(const events::EventLog& log);

}  // namespace karst::simulation
