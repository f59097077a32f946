#include "engine/replay.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "daemon/happening.h"
#include "daemon/story.h"
#include "daemon/version.h"
#include "projections/baseline.h"
#include "tools/describe.h"
#include "tools/open_log.h"
#include "tools/talk.h"

namespace karst::tools {
namespace {

int verify(const events::EventLog& log, bool across) {
  auto result = engine::verify(log, daemon::decision_version(), across);
  if (!result) return report(result.error());
  if (result->from.value() > 1)
    fmt::print("positions 1 to {} were trimmed and not verified; ", result->from.value() - 1);
  fmt::print("{} events, {} rounds decided again", result->events, result->rounds);
  if (result->other_version > 0)
    fmt::print(", {} rounds of another decision version not compared (--across does)",
               result->other_version);
  if (!result->difference && result->rounds == 0 && result->other_version > 0) {
    fmt::print(": nothing was compared\n");
    fmt::print(
        stderr,
        "karst: no round of this log was decided by this build ({}); run the build that wrote "
        "it, or ask with --across what this one would decide\n",
        daemon::decision_version());
    return kExitNo;
  }
  if (!result->difference) {
    fmt::print(": no difference\n");
    return kExitDone;
  }
  fmt::print("\ndifference in round {} (RoundClosed at position {}):\n{}\n",
             result->difference->round_number, result->difference->round.value(),
             printable(result->difference->what));
  fmt::print(
      stderr,
      "karst: this build ({}) decides differently; 'karst log dump --from {}' shows the round\n",
      daemon::decision_version(), result->difference->round.value());
  return kExitNo;
}

// Waits for Enter when a person sits there. False: they had enough.
bool wait_for_enter() {
  if (isatty(STDIN_FILENO) != 1) return true;
  fmt::print(stderr, "-- Enter: next round, q: end -- ");
  std::fflush(stderr);
  const int key = std::getchar();
  for (int c = key; c != '\n' && c != EOF;) c = std::getchar();
  return key != 'q' && key != EOF;
}

// Tells the log's story, round by round.
class Telling {
 public:
  Telling(bool step, std::uint64_t end)
      : step_(step),
        story_(color_wanted(STDOUT_FILENO)),
        progress_("folding", end, Meanwhile::kData) {}

  void begin(const projections::ClusterState& state) { watcher_.prime(state); }
  bool visit(const events::Event& event, const projections::ClusterState& state) {
    watcher_.see(event, state, happenings_);
    if (step_) {
      print_line(event_line(event));
    } else {
      progress_.at(event.envelope.position.value());
    }
    const bool closed = event.envelope.type == events::EventType::kRoundClosed;
    if (!closed) return std::ferror(stdout) == 0;
    tell();
    return std::ferror(stdout) == 0 && (!step_ || wait_for_enter());
  }
  void tell() {
    for (const std::string& line : story_.tell(happenings_, watcher_)) print_line(line);
    happenings_.clear();
  }

 private:
  bool step_;
  daemon::Watcher watcher_;
  daemon::Story story_;
  Progress progress_;
  std::vector<daemon::Happening> happenings_;
};

}  // namespace

int replay(const ReplayOptions& options) {
  auto log = open_for_reading(options.data);
  if (!log) return report(log.error());
  say_trimmed(*log);
  if (options.verify) {
    record_access(options.data, "replay --verify");
    return finish(*log, verify(**log, options.across));
  }
  model::Position until((*log)->end().value() - 1);
  if (!options.until.empty()) {
    auto place = parse_place(**log, options.until, "--until");
    if (!place) return finish(*log, report(place.error()));
    until = *place;
  }
  record_access(options.data, options.until.empty() ? "replay" : "replay --until " + options.until);
  projections::ClusterState state;
  if (auto baseline = projections::load_baseline(**log, state); !baseline)
    return finish(*log, report(baseline.error()));
  Telling telling(options.step, until.value());
  telling.begin(state);
  const auto status =
      engine::walk(**log, (*log)->first(), state,
                   [&](const events::Event& event, const projections::ClusterState& now) {
                     return telling.visit(event, now) && event.envelope.position < until;
                   });
  telling.tell();
  return finish(*log, status ? kExitDone : report(status.error()));
}

}  // namespace karst::tools
