// karst_simulate: many seeds, or one with its timeline.
//   karst_simulate --seeds N [--from S] [--twice] [--no-verify] [--plant dispatch|acknowledge]
//   [--markdown] karst_simulate --seed N [--trace] [--story [--crash WHERE N]] [--plant …]
// Exit codes: 0 every invariant held, 1 one was violated, 2 bad usage.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "providers/provider.h"
#include "tests/simulation/runner.h"

namespace {

using namespace karst;
using simulation::RunOptions;
using simulation::RunResult;

struct Arguments {
  std::uint64_t from = 1;
  std::uint64_t count = 1;
  bool trace = false;
  bool twice = false;
  bool verify = true;
  bool markdown = false;
  bool story = false;
  simulation::CrashPoint crash;
  simulation::Plant plant = simulation::Plant::kNone;
};

int usage() {
  std::fprintf(stderr,
               "karst_simulate --seeds N [--from S] [--twice] [--no-verify] [--markdown] [--plant "
               "dispatch|acknowledge]\n"
               "karst_simulate --seed N [--trace] [--story [--crash WHERE N]]\n"
               "WHERE: before-append, after-append, power-loss, before-send\n");
  return 2;
}

bool parse(int argc, char** argv, Arguments& out) {
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    const auto number = [&](std::uint64_t& value) {
      if (i + 1 >= argc) return false;
      char* end = nullptr;
      value = std::strtoull(argv[++i], &end, 10);
      return *end == '\0';
    };
    if (flag == "--seed" || flag == "--from") {
      if (!number(out.from)) return false;
    } else if (flag == "--seeds") {
      if (!number(out.count) || out.count == 0) return false;
    } else if (flag == "--trace") {
      out.trace = true;
    } else if (flag == "--twice") {
      out.twice = true;
    } else if (flag == "--no-verify") {
      out.verify = false;
    } else if (flag == "--markdown") {
      out.markdown = true;
    } else if (flag == "--story") {
      out.story = true;
    } else if (flag == "--crash" && i + 2 < argc) {
      out.crash.where = simulation::crash_of(argv[++i]);
      if (out.crash.where == simulation::CrashPoint::Where::kNone || !number(out.crash.number))
        return false;
    } else if (flag == "--plant" && i + 1 < argc) {
      const std::string which = argv[++i];
      if (which != "dispatch" && which != "acknowledge") return false;
      out.plant = which == "dispatch" ? simulation::Plant::kDispatchBeforeAppend
                                      : simulation::Plant::kAcknowledgeBeforeAppend;
    } else {
      return false;
    }
  }
  return argc > 1;
}

struct Totals {
  std::vector<std::int64_t> run_micros;
  std::vector<std::int64_t> verify_micros;
  std::uint64_t rounds = 0;
  std::uint64_t events = 0;
  std::uint64_t crashes = 0;
  std::uint64_t machines = 0;
  std::size_t machines_peak = 0;
  std::uint64_t failed = 0;
  std::map<std::string, std::uint64_t> invariants;
  std::array<std::uint64_t, sim::kFaults> hits{};
  std::array<std::uint64_t, sim::kFaults> seeds_hit{};
};

double median_millis(std::vector<std::int64_t> micros) {
  if (micros.empty()) return 0;
  std::sort(micros.begin(), micros.end());
  return static_cast<double>(micros[micros.size() / 2]) / 1000.0;
}

void tell_failure(const RunOptions& options, const RunResult& result) {
  std::fprintf(stderr, "FAIL %s\n", simulation::replay_line(options).c_str());
  std::size_t told = 0;
  for (const simulation::Violation& violation : result.violations)
    if (++told <= 5)
      std::fprintf(stderr, "  %s: %s\n", violation.invariant.c_str(), violation.what.c_str());
  if (told > 5) std::fprintf(stderr, "  and %zu more\n", told - 5);
}

void run_seed(const Arguments& arguments, std::uint64_t seed, Totals& totals) {
  RunOptions options;
  options.seed = seed;
  options.plant = arguments.plant;
  options.verify = arguments.verify;
  options.crash = arguments.crash;
  if (arguments.story)
    options.scenario =
        simulation::small_story(providers::find_provider("kwok")->embedded_catalogue());
  if (arguments.trace)
    options.trace = [](const std::string& line) { std::printf("%s\n", line.c_str()); };
  RunResult result = simulation::run(options);
  if (arguments.twice) {
    options.verify = false;
    options.trace = nullptr;
    const RunResult again = simulation::run(options);
    if (again.log_digest != result.log_digest || !(again.state_digest == result.state_digest))
      result.violations.push_back({"determinism", "the second run of this seed differs"});
  }
  totals.run_micros.push_back(result.run_cpu_micros);
  totals.verify_micros.push_back(result.verify_cpu_micros);
  totals.rounds += result.rounds;
  totals.events += result.events;
  totals.crashes += result.crashes;
  totals.machines += result.machines;
  totals.machines_peak = std::max(totals.machines_peak, result.machines_peak);
  for (std::size_t i = 0; i < sim::kFaults; ++i) {
    totals.hits[i] += result.hits[i];
    totals.seeds_hit[i] += result.hits[i] > 0 ? 1 : 0;
  }
  if (result.violations.empty()) return;
  ++totals.failed;
  std::map<std::string, bool> kinds;
  for (const simulation::Violation& violation : result.violations)
    kinds[violation.invariant] = true;
  for (const auto& [kind, present] : kinds) ++totals.invariants[kind];
  tell_failure(options, result);
}

void report(const Arguments& arguments, const Totals& totals, double seconds) {
  const double minutes = static_cast<double>(arguments.count) * 30.0;
  const char* row = arguments.markdown ? "| %s | %s |\n" : "%-26s %s\n";
  const auto line = [&](const char* name, const std::string& value) {
    std::printf(row, name, value.c_str());
  };
  char text[128];
  if (arguments.markdown) std::printf("| figure | value |\n|---|---|\n");
  line("seeds", std::to_string(arguments.from) + " to " +
                    std::to_string(arguments.from + arguments.count - 1));
  line("failed seeds", std::to_string(totals.failed));
  std::snprintf(text, sizeof text, "%.1f", static_cast<double>(arguments.count) / seconds);
  line("seeds per second", text);
  std::snprintf(text, sizeof text, "%.1f ms", median_millis(totals.run_micros));
  line("median CPU per seed", text);
  std::snprintf(text, sizeof text, "%.1f ms", median_millis(totals.verify_micros));
  line("median CPU of its replay", text);
  std::snprintf(text, sizeof text, "%.1f hours in %.1f s", minutes / 60.0, seconds);
  line("simulated time", text);
  line("events", std::to_string(totals.events));
  line("rounds", std::to_string(totals.rounds));
  line("crashes", std::to_string(totals.crashes));
  line("machines launched", std::to_string(totals.machines));
  line("most machines at once", std::to_string(totals.machines_peak));
  for (const auto& [invariant, count] : totals.invariants)
    line(("violated: " + invariant).c_str(), std::to_string(count) + " seeds");
  std::printf(arguments.markdown ? "\n| fault | times | seeds |\n|---|---|---|\n"
                                 : "faults played\n");
  for (std::size_t i = 0; i < sim::kFaults; ++i)
    std::printf(arguments.markdown ? "| %s | %llu | %llu |\n" : "  %-24s %8llu in %llu seeds\n",
                std::string(sim::fault_name(static_cast<sim::Fault>(i))).c_str(),
                static_cast<unsigned long long>(totals.hits[i]),
                static_cast<unsigned long long>(totals.seeds_hit[i]));
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!parse(argc, argv, arguments)) return usage();
  Totals totals;
  const auto began = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i < arguments.count; ++i) {
    run_seed(arguments, arguments.from + i, totals);
    if ((i + 1) % 500 == 0)
      std::fprintf(stderr, "%llu seeds, %llu failed\n", static_cast<unsigned long long>(i + 1),
                   static_cast<unsigned long long>(totals.failed));
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  if (!arguments.trace) report(arguments, totals, took.count());
  return totals.failed == 0 ? 0 : 1;
}
