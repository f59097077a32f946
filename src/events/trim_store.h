// What a trimmed log keeps of what is gone, as rows of the family `meta`. Inner part of src/events;
// the order in which they are written is RocksLog's (rocks_log.h).
//   "trimmed"                           → TrimMark; absent: the log begins at 1
//   "baseline" | position, 8 | piece, 4 → a MiB of the baseline's bytes
//   "leaves" | tile, 8                  → 256 leaf hashes, 32 bytes each
//   "expired"                           → the first position that the archive still has
// Numbers in keys are big-endian. What is written without the mark is not in force: a crash leaves
// rows that the next trimming writes again or removes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "events/event_log.h"
#include "events/rocks_db.h"

namespace karst::events {

inline constexpr std::size_t kTileBytes = kTrimTile * 32;

// A baseline without its bytes.
struct BaselineNote {
  model::Position position;
  std::string projection;
  std::string decision_version;
  std::uint64_t size = 0;
  std::string digest;  // SHA-256 of the bytes, hex
};

struct TrimMark {
  BaselineNote baseline;
  model::Position event;  // that binds it into the log: LogTrimmed, or ArchiveExpired
  base::WallTime at;
  std::string archive;        // the folder that had the rest, then
  model::Position expired{};  // what is before this is not even there; a row of its own

  model::Position first() const { return model::Position(baseline.position.value() + 1); }
};

// "positions 1 to N were trimmed at TIME; the archive FOLDER has them: …", with what brings them
// back.
std::string where_trimmed(const TrimMark& mark);

// Errors: kCorrupt.
base::Result<std::optional<TrimMark>> read_trim_mark(const RocksDb& db);
// 1 when there is no mark, or none that can be read: then what is missing shows as missing.
model::Position first_position(const RocksDb& db);

// On stable storage when it returns. Errors: kInvalid above 4 GiB; kFull, kCorrupt.
base::Result<BaselineNote> write_baseline(RocksDb& db, const Baseline& baseline);
// Errors: kCorrupt when they are not what the note says.
base::Result<Baseline> read_baseline(const RocksDb& db, const BaselineNote& note);

// Stable with the next baseline. REQUIRES: kTileBytes of them.
base::Status write_leaves(RocksDb& db, std::uint64_t tile, std::string_view hashes);
base::Result<std::string> read_leaves(const RocksDb& db, std::uint64_t tile);

// On stable storage when it returns.
base::Status write_archive_begins(RocksDb& db, model::Position first);

// What brings the mark into force: it, and the end of the events before it, of the snapshots before
// its baseline, and of the baselines before that.
std::vector<RocksChange> trim_changes(const RocksDb& db, const TrimMark& mark);

}  // namespace karst::events
