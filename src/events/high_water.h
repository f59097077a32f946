// The high-water mark: how far the log is known to be on stable storage, kept outside the database
// so that a loss inside it shows. Everything up to `position` was synced; `root` is the SHA-256 of
// the stored bytes of the event there. File: two slots, 4 KiB apart, written in turns, so that a
// torn write leaves the other one. A slot is 64 bytes, little-endian:
//   "karst" | format, 1 byte | two zeros | turn, 8 | position, 8 | root, 32 | XXH3-64 of the 56
//   bytes before, 8
// All else in the file is zero, as a slot is that was not written yet.
// Owner: the one writer of the log. A failure leaves the older mark.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/sha256.h"
#include "model/ids.h"

namespace karst::events {

inline constexpr std::uint8_t kLogFormat = 1;

struct HighWaterMark {
  model::Position position;
  base::Sha256Digest root{};
};

class HighWaterFile {
 public:
  HighWaterFile() = default;
  ~HighWaterFile();
  HighWaterFile(const HighWaterFile&) = delete;
  HighWaterFile& operator=(const HighWaterFile&) = delete;

  // The mark in the file; nullopt when there is no file. Does not keep the file open.
  // Errors: kCorrupt when no slot is whole, kNewer when the newest one has a later format, kDenied.
  static base::Result<std::optional<HighWaterMark>> read(const std::string& path);

  // What in the file is not as it was written, to follow its name in a sentence; empty: nothing. A
  // slot that a crash tore looks like one that was damaged since: read() gives the other's mark.
  static std::string oddity(const std::string& path);

  // Opens for writing; creates it, durably, when there is none. What is odd outside the slots is
  // put right; a slot is when its turn comes.
  base::Status open(const std::string& path);

  // On stable storage when it returns.
  base::Status write(const HighWaterMark& mark);

 private:
  std::string path_;
  base::Status make_room();

  int file_ = -1;
  std::uint64_t turn_ = 0;
};

}  // namespace karst::events
