// One run: the engine against the simulated world, from one seed, with crashes at appends and in
// dispatch. One thread, no real time: the same options give the same log, byte for byte.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/set_digest.h"
#include "base/sha256.h"
#include "sim/disk_log.h"
#include "sim/faults.h"
#include "sim/scenario.h"
#include "tests/simulation/checkers.h"

namespace karst::simulation {

// Mistakes put in on purpose, to show that the checkers find them. They live here, not in
// production code.
enum class Plant { kNone, kDispatchBeforeAppend, kAcknowledgeBeforeAppend };

// One crash at a chosen place, counted from 1: the n-th append, or the n-th send.
struct CrashPoint {
  enum class Where { kNone, kBeforeAppend, kAfterAppend, kAfterAppendWithoutPower, kBeforeSend };
  Where where = Where::kNone;
  std::uint64_t number = 0;
};

struct RunOptions {
  std::uint64_t seed = 1;
  std::optional<sim::Scenario> scenario;  // instead of the seed's own
  Plant plant = Plant::kNone;
  CrashPoint crash;
  bool verify = true;  // decide again over the whole log at the end
  std::function<void(const std::string&)> trace;
};

struct RunResult {
  std::uint64_t seed = 0;
  std::vector<Violation> violations;
  base::Sha256Digest log_digest{};  // over all stored bytes
  base::Hash128 state_digest;
  std::uint64_t rounds = 0;
  std::uint64_t events = 0;
  std::uint64_t crashes = 0;
  std::uint64_t appends = 0;
  std::uint64_t sends = 0;
  std::size_t machines = 0;            // ever launched
  std::size_t machines_peak = 0;       // at one time
  std::int64_t run_cpu_micros = 0;     // world, engine and checkers
  std::int64_t verify_cpu_micros = 0;  // the replay after it
  std::array<std::uint64_t, sim::kFaults> hits{};
};

inline constexpr const char* kDecisionVersion = "simulation";

// `keep`, if given, receives the log.
RunResult run(const RunOptions& options, std::unique_ptr<sim::DiskLog>* keep = nullptr);

// Names of crash points on the command line: before-append, after-append, power-loss, before-send.
std::string_view crash_name(CrashPoint::Where where);
CrashPoint::Where crash_of(std::string_view name);  // kNone for a name that there is not

// Ten minutes without a storm: pods come, machines start, one is taken back by the cloud,
// everything goes. Short enough to be played once for every place at which the process can die.
sim::Scenario small_story(const model::Catalogue& catalogue);

// The line that plays a run again.
std::string replay_line(const RunOptions& options);

}  // namespace karst::simulation
