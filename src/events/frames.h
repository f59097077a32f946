// Frames that no karst writes, in the write-ahead logs and manifests of RocksDB. A reader beside
// the writer that meets a frame of a recycled log never comes back (RocksDB 7.8: it neither takes
// the frame nor gives up), and one longer than its block is read beyond its buffer; the writer's
// opening takes the first for the end of the file, without a word. So one flipped bit of a frame's
// head would hang or go unnoticed. Looked for before RocksDB reads. Inner part of src/events.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"

namespace karst::events {

class Frames {
 public:
  explicit Frames(std::string folder) : folder_(std::move(folder)) {}

  // kCorrupt with the file, the byte and what is there. Files that are gone meanwhile, and an end
  // that is still being written, are fine; checksums are RocksDB's business. A second call looks
  // only at what came since.
  base::Status check_manifests() { return check("MANIFEST-", ""); }
  base::Status check_logs() { return check("", ".log"); }

 private:
  base::Status check(const std::string& front, const std::string& ending);
  base::Status check_file(const std::string& name);

  std::string folder_;
  // Up to where a file was looked at, in whole blocks. As many as RocksDB has such files at once.
  std::map<std::string, std::uint64_t> seen_;
};

}  // namespace karst::events
