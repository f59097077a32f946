// The one error type. A Kind exists only where the caller reacts differently; the message is for
// people and says what, where, what was expected, and what to do.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace karst::base {

enum class Kind {
  kRetry,     // passing: the same attempt may succeed later
  kCapacity,  // the world has no room for this: choose otherwise
  kGone,      // the thing does not exist (any more)
  kConflict,  // it changed under us: read again, decide again
  kDenied,    // we may not: a person must grant something
  kInvalid,   // the input is wrong: never send it again
  kCorrupt,   // stored bytes are damaged: stop, exit 3
  kUnclear,   // it may or may not have happened: find out first
  kTaken,     // another process holds it: exit 4
  kFull,      // the disk is full: finish what is open, start nothing
  kNewer,     // written by a newer version than this build understands: refuse, exit 3
};

std::string_view kind_name(Kind kind);

struct Error {
  Kind kind = Kind::kInvalid;
  std::string message;

  Error with_context(std::string_view context) const {
    return Error{kind, std::string(context) + ": " + message};
  }
};

}  // namespace karst::base
