// One round: admit → append facts → apply → (each reconciler: decide → apply its plan) → append the
// answer. The only caller of append, apply and reconcile. Pure but for the log it is given: no
// clock, no threads, no world; the same facts at the same times give the same log.
//
// The caller (src/daemon, or a simulation) then does what the Round says, in this order:
// acknowledge, dispatch. Nothing in a Round exists before it is durable.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "engine/admission.h"
#include "events/event_log.h"
#include "events/snapshots.h"
#include "ports/command_port.h"
#include "ports/fact.h"
#include "projections/cluster_state.h"
#include "providers/provider.h"
#include "reconcilers/class_types.h"

namespace karst::engine {

inline constexpr std::size_t kFactsPerRoundMax = 5'000;
// What nobody waits for is synced with the first round that closes this long after the last sync;
// sources beat every 15 s, so nothing stays buffered for longer than that.
inline constexpr std::int64_t kSyncEveryMillis = 1'000;
// A reading of prices that waited longer than this for its round is not one of that moment.
inline constexpr std::int64_t kReadingWaitMillis = base::kMillisPerMinute;
inline constexpr std::uint64_t kSnapshotDistance = 50'000;  // positions between two snapshots
inline constexpr std::uint64_t kSnapshotsOfAFold = 16;      // that a start leaves on its way

struct EngineOptions {
  events::Config config;
  std::string version;                                  // of the build, for people
  std::string decision_version;                         // hash of the pure folders' sources
  std::uint64_t snapshot_distance = kSnapshotDistance;  // positions between two snapshots
  std::string signing_key;  // the verifier key of checkpoints; empty: none, or as it was
};

struct Recovery {
  model::Position folded_from;  // 1, or the one after the snapshot that was used
  model::Position end;          // before this process wrote anything
  std::size_t open_commands = 0;
  // Why nothing is known of what was before: the log was trimmed, and this build cannot read the
  // state that was kept. Empty: everything is known.
  std::string past_unknown;
};

struct Round {
  std::vector<std::string> to_acknowledge;        // receipts of facts that are durable now
  std::vector<ports::IssuedCommand> to_dispatch;  // durable commands, in the order of the log
  std::optional<base::LogTime> wake_at;           // run a round then, facts or not
  model::Position through;                        // last position of the log
  std::uint64_t facts = 0;                        // events admitted
  std::uint64_t decisions = 0;
};

class Engine {
 public:
  // `log`, `snapshots` (may be nullptr) and `provider` must outlive the engine.
  Engine(events::EventLog& log, events::Snapshots* snapshots, const providers::Provider& provider,
         EngineOptions options);

  // Folds the log (from the newest usable snapshot) and appends DaemonStarted. A trimmed log whose
  // baseline is of another projection version is gone on with as if it were empty. Call once,
  // before the first step. Errors: those of the log; kCorrupt when the log's events do not fold.
  base::Result<Recovery> recover(base::LogTime now, base::WallTime wall);

  // One round at `now` with at most kFactsPerRoundMax facts; none at all is a wake-up. Log time
  // never steps back: an earlier `now` is raised to the last one. Errors: those of append. kFull:
  // nothing was lost, the same round is finished by the next step() once there is room; every other
  // error: abort the process and recover.
  base::Result<Round> step(base::LogTime now, base::WallTime wall, std::vector<ports::Fact> facts);

  const projections::ClusterState& state() const { return state_; }

 private:
  base::Result<Recovery> fold();
  base::Result<Recovery> begin_anew(base::Error why);
  void tell_embedded_catalogue(base::LogTime now, base::WallTime wall);
  void weigh_reading(ports::Fact& fact, base::WallTime wall);
  void fact_record(events::Body body, base::LogTime now, base::WallTime wall);
  base::Status flush(events::Durability durability);
  void decide(base::LogTime now, base::WallTime wall, Round& round);
  bool snapshot_due() const;
  void maybe_snapshot();
  void keep_snapshot();

  events::EventLog& log_;
  events::Snapshots* snapshots_;
  const providers::Provider& provider_;
  reconcilers::ClassTypes class_types_;
  EngineOptions options_;
  projections::ClusterState state_;
  Admission admission_;
  std::set<std::string> catalogues_refused_;   // providers whose last catalogue was too large
  std::vector<events::Record> unsaved_;        // applied, not yet appended
  std::vector<std::string> unsaved_receipts_;  // to acknowledge once they are
  std::vector<ports::IssuedCommand> unsaved_commands_;
  std::uint64_t facts_since_round_ = 0;
  base::LogTime synced_at_;
  model::Position snapshot_at_;
  bool recovered_ = false;
};

}  // namespace karst::engine
