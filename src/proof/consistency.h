// The proof that a log only grew, as one line of JSON (docs/audit.md):
//   {"consistency":"karst-consistency/1","log":…,"old_size":…,"old_root":…,"path":[…],
//    "checkpoint":…,"key":…}
// It has one form, as a trail has (trail.h). Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "proof/checkpoint.h"

namespace karst::proof {

inline constexpr std::string_view kConsistencyFormat = "karst-consistency/1";

struct ConsistencyProof {
  std::string log;
  std::uint64_t old_size = 0;
  Hash old_root{};
  std::vector<Hash> path;
  std::string checkpoint;  // of the tree now
  std::string key;         // the verifier key of who signed, as the writer says; empty: unsigned
};

std::string consistency_line(const ConsistencyProof& proof);  // without its line end

struct ConsistencyFindings {
  ConsistencyProof proof;
  SignedCheckpoint checkpoint;
};
// `bytes`: the line and its end. Errors: kInvalid when it is no such line, kCorrupt when it is not
// true.
base::Result<ConsistencyFindings> check_consistency(std::string_view bytes);

// What a trail's or a proof's own key has to say of its checkpoint: nothing signed and no key, or
// exactly one signature, which holds. Errors: kCorrupt.
base::Status check_own_key(const Note& note, const std::string& key);

}  // namespace karst::proof
