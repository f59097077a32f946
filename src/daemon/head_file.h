// DIR/checkpoint: the signed head of the log's tree (proof/checkpoint.h), for whoever keeps heads
// elsewhere: a witness, a backup, an auditor's copy. Written when the tree has grown, at most once
// in kHeadEveryMillis, and at the end; replaced as a whole, so a reader has one or the other. Its
// size never steps back, and a head is signed only over one that it continues: where the kept one
// is not the beginning of the log's tree, it stays, and nothing is signed. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "proof/checkpoint.h"
#include "proof/tiles.h"

namespace karst::daemon {

inline constexpr std::int64_t kHeadEveryMillis = 60'000;  // real time

// "DIR/checkpoint"
std::string head_file(const std::string& data);

// The head in it; nullopt: none that could be kept to, as it is no head, or another log's.
std::optional<proof::Checkpoint> kept_head(const std::string& data, const model::LogId& log);

// The tree of a log, as far as it is known.
struct TreeNow {
  const proof::TileReader& tiles;
  std::uint64_t size = 0;
  bool whole = true;  // it has all that the log has
};

// Whether the tree continues the head that was kept in `data`. Errors: kInvalid says what the head
// is, what the log has instead, and what to do; those of the tiles.
base::Status continues(const TreeNow& tree, const proof::Checkpoint& kept, const std::string& data);

class HeadFile {
 public:
  HeadFile(const std::string& data, const model::LogId& log, proof::SignerKey key);

  // What the tree is now; signed and written when that is due, or wanted `now`. Errors: kFull,
  // kDenied, kInvalid with the file; what was there stays. Between two tries it answers as the
  // last.
  base::Status see(const TreeNow& tree, std::int64_t monotonic_millis, bool now);

 private:
  base::Status sign(const TreeNow& tree);

  const std::string data_;
  const std::string origin_;
  const proof::SignerKey key_;
  std::optional<proof::Checkpoint> kept_;     // in the file
  bool continued_ = false;                    // kept_, by this log, as was seen
  std::optional<std::int64_t> tried_millis_;  // monotonic
  base::Status last_;                         // of that try
};

}  // namespace karst::daemon
