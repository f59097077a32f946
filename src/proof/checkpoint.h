// The head of a tree as text, https://c2sp.org/tlog-checkpoint: three lines, the origin, the size,
// and the root in base64. As a signed note (note.h) it is what the signer stands for. Ours have no
// extension lines. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/ids.h"
#include "proof/merkle.h"
#include "proof/note.h"

namespace karst::proof {

struct Checkpoint {
  std::string origin;
  std::uint64_t size = 0;
  Hash root{};

  std::string text() const;
  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

// "karst.dev/LOG-ID": the origin, and the name of keys that have none (docs/decisions/0014).
std::string origin_of(const model::LogId& log);

// The text of a note. Errors: kInvalid.
base::Result<Checkpoint> parse_checkpoint(std::string_view text);

// A checkpoint as it is handed out: a note, or without a signer its text alone, which is no note.
struct SignedCheckpoint {
  Checkpoint checkpoint;
  Note note;
};
std::string checkpoint_bytes(const Checkpoint& checkpoint, const SignerKey* key);
base::Result<SignedCheckpoint> parse_checkpoint_bytes(std::string_view bytes);

}  // namespace karst::proof
