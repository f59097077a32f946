#include "base/error.h"

namespace karst::base {

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::kRetry:
      return "retry";
    case Kind::kCapacity:
      return "capacity";
    case Kind::kGone:
      return "gone";
    case Kind::kConflict:
      return "conflict";
    case Kind::kDenied:
      return "denied";
    case Kind::kInvalid:
      return "invalid";
    case Kind::kCorrupt:
      return "corrupt";
    case Kind::kUnclear:
      return "unclear";
    case Kind::kTaken:
      return "taken";
    case Kind::kFull:
      return "full";
    case Kind::kNewer:
      return "newer";
  }
  return "?";
}

}  // namespace karst::base
