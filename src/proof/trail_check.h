// Checks a trail (trail.h) line by line, without the log. Memory: a line, and one hash for each
// power of two of the tree. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/sha256.h"
#include "proof/trail.h"

namespace karst::proof {

struct TrailFindings {
  TrailHeader header;
  SignedCheckpoint checkpoint;
  std::uint64_t events = 0;
  std::uint64_t withheld = 0;
  std::uint64_t first = 0, last = 0;               // positions
  bool gaps = false;                               // between these two
  std::int64_t first_millis = 0, last_millis = 0;  // log time
  std::string logged_key;          // the last SigningKeyChanged whose payload is there
  std::uint64_t logged_at = 0;     // its position
  std::optional<Hash> since_root;  // of the tree of `since` leaves; only of complete trails
};

class TrailCheck {
 public:
  // `since`: a smaller tree whose root is wanted too; 0: none.
  explicit TrailCheck(std::uint64_t since = 0) : since_(since) {}

  // The next bytes, in pieces of any size. After an error the check is over. Errors: kCorrupt: it
  // is not true, with the line; kInvalid: it is no trail; kNewer: a later karst wrote it.
  base::Status feed(std::string_view bytes);
  // The trail is whole. Everything in the findings is proven against the checkpoint, which itself
  // is nothing but well-formed and, if the header names a key, signed with that. Errors: kCorrupt.
  base::Result<TrailFindings> finish();

 private:
  base::Status line(std::string_view text);
  base::Status header(std::string_view text);
  base::Status event(std::string_view text);
  base::Status end(std::string_view text);
  base::Status proven(const Hash& leaf, std::uint64_t position, const std::vector<Hash>& path);
  void learn(const events::Event& event, bool withheld);
  tl::unexpected<base::Error> untrue(const std::string& what) const;

  struct Pending {  // an event whose path leads to a root that the last line must have
    bool any = false;
    Hash root{};
  };

  std::uint64_t since_;
  std::uint64_t lines_ = 0;
  bool begun_ = false, ended_ = false;
  TrailFindings found_;
  Frontier frontier_;  // of a complete trail
  Pending pending_;
  base::Sha256 digest_;
  std::string begun_line_;  // without its end
  std::string line_;        // scratch
};

}  // namespace karst::proof
