// An archive of a log: a folder of sealed segments (segment.h) that together hold its events from
// position 1 without a gap. FOLDER/log says whose it is: the log's id, and its secret (in hex),
// without which payloads of restored events could not be proven again (docs/decisions/0002); it is
// as private as the log itself. FOLDER/<first>-<last>.seg, both in 20 digits, are written aside,
// synced, and renamed; none is ever changed. So an archive may be copied at any moment, to any
// store of files, and what a crash leaves is a file that ends in .new and is written again.
// One owner, one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "events/event_log.h"
#include "events/segment.h"
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
  // To read. Errors: kInvalid when the folder holds none.
  static base::Result<Archive> open_existing(const std::string& folder);

  const LogIdentity& identity() const { return identity_; }
  const std::vector<ArchivedSegment>& segments() const { return segments_; }  // in order, no gap
  // The first position that is not in it: 1 for an empty archive.
  model::Position end() const;

  // Seals the next segment: events from end() up to `last`, as many as one takes; nullopt when
  // there are none. Errors: those of the log; kDenied, kFull, kInvalid of the folder, which is then
  // as it was.
  base::Result<std::optional<ArchivedSegment>> seal_next(const EventLog& log, model::Position last);

  // A segment's events. Errors: kCorrupt names the file.
  base::Result<Segment> read(const ArchivedSegment& segment) const;

 private:
  std::string folder_;
  LogIdentity identity_;
  std::vector<ArchivedSegment> segments_;
};

// Everything of an archive, in order. Stops at the first error of `take`. Errors: kCorrupt names
// file and position.
base::Status each_archived(const Archive& archive,
                           const std::function<base::Status(const Event&)>& take);

}  // namespace karst::events
