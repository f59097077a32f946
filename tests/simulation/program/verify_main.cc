// Decides again over a simulated log in a file (log_file.h). Built twice: as it is, and with one
// constant of one reconciler changed (tests/CMakeLists.txt), which must be found. Exit codes: 0 the
// same decisions, 1 a difference, 2 no such log.
#include <cstdio>

#include "engine/replay.h"
#include "tests/simulation/log_file.h"
#include "tests/simulation/runner.h"

int main(int argc, char** argv) {
  using namespace karst;
  const auto log = argc == 2 ? simulation::load_log(argv[1]) : nullptr;
  if (!log) {
    std::fprintf(stderr, "karst_simulate_verify FILE: a log as a simulation saved it\n");
    return 2;
  }
  const auto report = engine::verify(*log, simulation::kDecisionVersion, false);
  if (!report) {
    std::fprintf(stderr, "%s\n", report.error().message.c_str());
    return 2;
  }
  if (!report->difference) {
    std::printf("%llu rounds decided again, no difference\n",
                static_cast<unsigned long long>(report->rounds));
    return 0;
  }
  std::printf("round %llu at position %llu: %s\n",
              static_cast<unsigned long long>(report->difference->round_number),
              static_cast<unsigned long long>(report->difference->round.value()),
              report->difference->what.c_str());
  return 1;
}
