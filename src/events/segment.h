// One sealed piece of the log, as a file of an archive: consecutive events, compressed, never
// changed again. Layout, numbers little-endian:
//   "karstseg" | format, 4 | zeros, 4 | first position, 8 | count, 8 | body's bytes, 8 |
//   SHA-256 of all other bytes of the file, 32 | log id's length, 1 | log id | zeros to 128 | one
//   zstd frame
// The body holds, for each event, its stored bytes' length in 8 bytes, the bytes (event.h), and
// zeros to a multiple of 8. Nothing of it is rendered: what comes back is what was stored, bit for
// bit, and proofs hold over it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "events/event_log.h"
#include "model/ids.h"

namespace karst::events {

inline constexpr std::uint64_t kSegmentEventsMax = 16'384;
inline constexpr std::size_t kSegmentBodyMax = 64 << 20;  // and one event more

// Gathers events, in order, for one segment.
class SegmentWriter {
 public:
  // True while another event belongs into it.
  bool has_room() const { return count_ < kSegmentEventsMax && body_.size() < kSegmentBodyMax; }
  // REQUIRES: has_room(), and the position after the last one.
  void add(const Event& event);

  bool empty() const { return count_ == 0; }
  model::Position first() const { return first_; }
  model::Position last() const { return model::Position(first_.value() + count_ - 1); }
  // The file's bytes: the same for the same events and the same version of zstd.
  std::string seal(const model::LogId& log) const;

 private:
  model::Position first_;
  std::uint64_t count_ = 0;
  std::string body_;
};

// A segment that was read back whole and is what it was when it was sealed. Owns its bytes.
class Segment {
 public:
  // Errors: kCorrupt for bytes that are not what was sealed, kNewer for a later format. What bytes
  // may claim is bounded: at most kSegmentBodyMax and one event are unpacked.
  static base::Result<Segment> open(std::string_view file);

  const model::LogId& log() const { return log_; }
  model::Position first() const { return first_; }
  model::Position last() const { return model::Position(first_.value() + count_ - 1); }

  // Forward over its events, each verified (decode_event). Lives no longer than the segment.
  std::unique_ptr<Cursor> read() const;

 private:
  model::LogId log_;
  model::Position first_;
  std::uint64_t count_ = 0;
  std::string body_;
};

}  // namespace karst::events
