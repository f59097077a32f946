// An archive of a log: a folder of sealed segments (segment.h) that together hold its events from
// position 1 without a gap. FOLDER/log says whose it is: the log's id, and its secret (in hex),
// without which payloads of restored events could not be proven again (docs/decisions/0002); it is
// as private as the log itself. FOLDER/<first>-<last>.seg, both in 20 digits, are written aside,
// synced, and renamed; none is ever changed. So an archive may be copied at any moment, to any
// store of files, and what a crash leaves is a file that ends in .new and is written again.
// Of an archive whose oldest segments have expired (docs/decisions/0020), the beginning is kept as
// of a trimmed log: the state before first(), and the leaf hashes of all that went
// (archive_expiry.h). One owner, one thread; several processes may seal into one folder, one after
// the other (ArchiveLock).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "events/event_log.h"
#include "events/segment.h"
#include "events/trim_store.h"
#include "model/ids.h"

namespace karst::events {

// Who a log is, beside what it holds.
struct LogIdentity {
  model::LogId id;
  std::string secret;  // 32 bytes (rocks_log.h)
};

struct ArchivedSegment {
  model::Position first;
  model::Position last;
  std::string file;  // its name in the folder
  std::uint64_t bytes = 0;
  std::string digest;  // SHA-256 of the file, hex; only of one that was just sealed
};

class Archive {
 public:
  // Of this log: made when the folder holds none. Errors: kInvalid when it is another log's or not
  // an archive, kDenied, kFull.
  static base::Result<Archive> open(const std::string& folder, const LogIdentity& log);
  // To read. Errors: kInvalid when the folder holds none, kDenied.
  static base::Result<Archive> open_existing(const std::string& folder);

  const LogIdentity& identity() const { return identity_; }
  const std::vector<ArchivedSegment>& segments() const { return segments_; }  // in order, no gap
  // The first position that comes back: 1, or the first that has not expired. The first segment
  // may begin before it.
  model::Position first() const;
  // The first position that is not in it: 1 for an empty archive.
  model::Position end() const;
  // What is gone, since when, and by which event; nullopt: nothing. Its `archive` is empty.
  const std::optional<TrimMark>& expired() const { return expired_; }
  // What it folded to. Errors: kCorrupt when it is not what expired() says, kDenied.
  base::Result<std::optional<Baseline>> baseline() const;
  // Its leaf hashes, 256 each time. Errors: kCorrupt; those of `take`.
  base::Status each_expired_tile(
      const std::function<base::Status(std::uint64_t tile, std::string_view hashes)>& take) const;

  // Whether it is of the log's history, which the log's id does not say: all of its last segment
  // that the log has at hand, or else the leaf of its last event, is held against the log. Errors:
  // kInvalid says from which position on it differs, and what to do; those of the log, and of
  // read().
  base::Status same_history(const EventLog& log) const;

  // Takes over what others have sealed meanwhile, then seals the next segment: events from end() up
  // to `last`, as many as one takes; nullopt when there are none. It is sealed behind those of the
  // same history only. Errors: those of the log, of open_existing and of same_history; kDenied,
  // kFull, kInvalid of the folder, kTaken (ArchiveLock), which is then as it was.
  base::Result<std::optional<ArchivedSegment>> seal_next(const EventLog& log, model::Position last);

  // A segment's events. Errors: kCorrupt names the file.
  base::Result<Segment> read(const ArchivedSegment& segment) const;

  // Expiry, in this order. A crash between two steps leaves an archive that opens and comes back
  // whole, or beginning at the new place.
  // 1. What an earlier one left goes: segments that have expired, what was kept and is not in
  // force. Errors: kDenied, kTaken.
  base::Status settle();
  // 2. The leaf hashes of what will go, whole tiles from this one on, at most kLeavesFileTilesMax.
  base::Status keep_leaves(std::uint64_t tile, std::string_view hashes);
  // 3. The state before the first event that stays. Stable when it returns, as the leaves.
  base::Result<BaselineNote> keep_baseline(const Baseline& baseline);
  // 4. ArchiveExpired (expired_of) is appended to the log, and sealed into this archive.
  // 5. From here on the archive begins at mark.first(); then the segments before it go, oldest
  // first. `marked` and `removed` (of each segment) are places for tests. Errors: kInvalid before
  // 4, kCorrupt when 2 or 3 are not there: nothing has changed then; kFull, kDenied, kTaken.
  base::Status expire(const TrimMark& mark, const std::function<void()>& marked = {},
                      const std::function<void()>& removed = {});

 private:
  base::Status take_over_what_is_new();

  std::string folder_;
  LogIdentity identity_;
  std::optional<TrimMark> expired_;
  std::vector<ArchivedSegment> segments_;
  bool same_history_ = false;  // was seen to be, of the log that it is sealed from
};

// Everything of an archive, in order. Stops at the first error of `take`. Errors: kCorrupt names
// file and position.
base::Status each_archived(const Archive& archive,
                           const std::function<base::Status(const Event&)>& take);

}  // namespace karst::events
