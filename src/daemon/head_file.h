// DIR/checkpoint: the signed head of the log's tree (proof/checkpoint.h), for whoever keeps heads
// elsewhere: a witness, a backup, an auditor's copy. Written when the tree has grown, at most once
// in kHeadEveryMillis, and at the end; replaced as a whole, so a reader has one or the other. Its
// size never steps back. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "proof/checkpoint.h"

namespace karst::daemon {

inline constexpr std::int64_t kHeadEveryMillis = 60'000;  // real time

// "DIR/checkpoint"
std::string head_file(const std::string& data);

class HeadFile {
 public:
  HeadFile(const std::string& data, const model::LogId& log, proof::SignerKey key);

  // What the tree is now; signed and written when that is due, or wanted `now`. Errors: kFull,
  // kDenied, kInvalid with the file; what was there stays.
  base::Status see(std::uint64_t size, const proof::Hash& root, std::int64_t monotonic_millis,
                   bool now);

 private:
  const std::string path_;
  const std::string origin_;
  const proof::SignerKey key_;
  std::uint64_t written_ = 0;                 // the size of the tree in the file
  std::optional<std::int64_t> tried_millis_;  // monotonic
};

}  // namespace karst::daemon
