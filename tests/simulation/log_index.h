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
  std::map<std::string, std::uint64_t> delete_requests;  // claim name → first ObjectDeleteRequested
  std::map<std::string, std::map<std::uint32_t, std::vector<std::uint64_t>>>
      launches;                                  // claim uid → attempt → orders
  std::map<std::string, std::int64_t> notices;   // provider id → log time of the first notice
  std::map<std::string, std::string> claim_of;   // provider id → claim uid, once an answer said so
  std::map<std::string, std::int64_t> answered;  // provider id → log time of that answer
  std::map<std::string, std::string> name_of;    // claim uid → name
  std::map<std::string, std::int64_t> given_up;  // claim name → it is asked to go, is going or gone
  std::vector<std::int64_t> starts;              // log times at which a process took over
  bool full = false;                             // the last LogSpaceLow of this process said so
  std::vector<std::uint64_t> started_while_full;  // creates and launches between LogSpaceLow events
  std::int64_t last_command_millis = 0;
  std::uint64_t events = 0;
  std::uint64_t rounds = 0;
};

LogIndex index_log(const events::EventLog& log);

}  // namespace karst::simulation
