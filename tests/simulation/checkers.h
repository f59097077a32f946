// What must hold, judged from outside: the world's truth against the log's events. Nothing of the
// engine, its state or its reconcilers is asked.
#pragma once

#include <string>
#include <vector>

#include "sim/disk_log.h"
#include "sim/world.h"
#include "tests/simulation/log_index.h"

namespace karst::simulation {

struct Violation {
  std::string invariant;  // short name, see checkers.cc
  std::string what;
};

inline constexpr std::int64_t kQuietMillis =
    3 * 60'000;  // the last part of the heal phase, in which nothing may be asked

// At any time.
void check_one_instance_per_attempt(const sim::World& world, std::vector<Violation>& out);
void check_one_open_attempt(const LogIndex& log, std::vector<Violation>& out);
void check_intent_before_effect(const sim::World& world, const LogIndex& log,
                                std::vector<Violation>& out);
void check_event_before_acknowledgement(const sim::World& world, const LogIndex& log,
                                        std::vector<Violation>& out);
void check_limits(const sim::World& world, const LogIndex& log, std::vector<Violation>& out);
void check_interruptions_heeded(const LogIndex& log, std::vector<Violation>& out);
void check_nothing_new_while_full(const LogIndex& log, std::vector<Violation>& out);
void check_budgets(const sim::World& world, const LogIndex& log, std::vector<Violation>& out);

// At the end of the heal phase.
void check_no_orphans(const sim::World& world, std::vector<Violation>& out);
void check_messages_consumed(const sim::World& world, std::vector<Violation>& out);
void check_commands_end(const sim::World& world, const LogIndex& log, std::vector<Violation>& out);
void check_pods_bound(const sim::World& world, std::vector<Violation>& out);

std::vector<Violation> check_all(const sim::World& world, const LogIndex& log);

}  // namespace karst::simulation
