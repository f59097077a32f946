// Many seeds, each played twice: every invariant holds, both runs are the same to the byte, and
// deciding again over the log gives the same decisions. Every kind of fault is played at least
// once.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "tests/sanitized.h"
#include "tests/simulation/runner.h"

namespace karst::simulation {
namespace {

constexpr std::uint64_t kSeeds = kSanitized ? 12 : 200;

std::string violations_of(const RunResult& result) {
  std::string text;
  for (const Violation& violation : result.violations)
    text += "  " + violation.invariant + ": " + violation.what + "\n";
  return text;
}

TEST(Simulation, EverySeedHoldsEveryInvariantAndIsTheSameTwice) {
  std::vector<std::int64_t> micros;
  std::array<std::uint64_t, sim::kFaults> hits{};
  std::size_t machines_peak = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    RunOptions options;
    options.seed = seed;
    const RunResult first = run(options);
    options.verify = false;
    const RunResult second = run(options);
    EXPECT_TRUE(first.violations.empty()) << replay_line(options) << "\n" << violations_of(first);
    EXPECT_EQ(first.log_digest, second.log_digest) << replay_line(options);
    EXPECT_EQ(first.state_digest, second.state_digest) << replay_line(options);
    micros.push_back(second.run_cpu_micros);
    machines_peak = std::max(machines_peak, first.machines_peak);
    for (std::size_t i = 0; i < sim::kFaults; ++i) hits[i] += first.hits[i];
  }
  std::sort(micros.begin(), micros.end());
  std::printf(
      "%llu seeds of 30 simulated minutes, median CPU %.1f ms a seed, most machines at once %zu\n",
      static_cast<unsigned long long>(kSeeds),
      static_cast<double>(micros[micros.size() / 2]) / 1000.0, machines_peak);
  for (std::size_t i = 0; i < sim::kFaults; ++i) {
    const std::string name(sim::fault_name(static_cast<sim::Fault>(i)));
    std::printf("  %-20s %8llu\n", name.c_str(), static_cast<unsigned long long>(hits[i]));
    EXPECT_GE(hits[i], kSanitized ? 0u : 1u) << "no seed plays: " << name;
  }
}

}  // namespace
}  // namespace karst::simulation
