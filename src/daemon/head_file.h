// DIR/checkpoint: the signed head of the log's tree (proof/checkpoint.h), for whoever keeps heads
// elsewhere: a witness, a backup, an auditor's copy. Written when the tree has grown, at most once
// in kHeadEveryMillis, and at the end; replaced as a whole, so a reader has one or the other. Its
// size never steps back, and a head is signed only over one that it continues: where the kept one
// is not the beginning of the log's tree, it stays, and nothing is signed. The same for one that
// is damaged. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "proof/checkpoint.h"
#include "proof/tiles.h"

namespace karst::daemon {

inline constexpr std::int64_t kHeadEveryMillis = 60'000;  // real time

// "DIR/checkpoint"
std::string head_file(const std::string& data);

// The head in it; nullopt: there is no such file. Errors: kInvalid when it is no head of this log,
// with what to do: damaged, or left by another log; kDenied. It is kept to whatever it is: one bit
// less of it must not be the end of what it proves.
base::Result<std::optional<proof::SignedCheckpoint>> kept_head(const std::string& data,
                                                               const model::LogId& log);
// Whether it is as one of these keys signed it. Errors: kInvalid when it names one of them, and its
// signature does not hold, or when it is not signed. A key that is not among them counts for
// nothing, against it neither: `continues` asks whether the log is the one that was signed.
base::Status check_signed(const proof::SignedCheckpoint& head,
                          std::span<const proof::VerifierKey> keys, const std::string& data);

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
  base::Status read();
  base::Status sign(const TreeNow& tree);

  const std::string data_;
  const model::LogId log_;
  const proof::SignerKey key_;
  bool read_ = false;                         // what is in the file; until then nothing is written
  std::optional<proof::Checkpoint> kept_;     // in the file
  bool continued_ = false;                    // kept_, by this log, as was seen
  std::optional<std::int64_t> tried_millis_;  // monotonic
  base::Status last_;                         // of that try
};

}  // namespace karst::daemon
