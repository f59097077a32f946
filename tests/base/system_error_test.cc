// The Kind of an errno: a full disk, a right or a limit that a person grants, and what only the
// caller knows.
#include "base/system_error.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>

namespace karst::base {
namespace {

TEST(SystemError, SaysWhatTheCallerReactsTo) {
  const struct {
    int code;
    Kind kind;
    bool limit;
  } table[] = {
      {ENOSPC, Kind::kFull, false},      {EDQUOT, Kind::kFull, false},
      {EFBIG, Kind::kFull, false},       {EACCES, Kind::kDenied, false},
      {EPERM, Kind::kDenied, false},     {EROFS, Kind::kDenied, false},
      {EIO, Kind::kDenied, false},       {EMFILE, Kind::kDenied, true},
      {ENFILE, Kind::kDenied, true},     {ENOMEM, Kind::kDenied, true},
      {ESTALE, Kind::kDenied, false},    {ENOTCONN, Kind::kDenied, false},
      {ETIMEDOUT, Kind::kDenied, false}, {EHOSTDOWN, Kind::kDenied, false},
      {ENOENT, Kind::kGone, false},      {EISDIR, Kind::kGone, false},
  };
  for (const auto& c : table) {
    EXPECT_EQ(kind_of_errno(c.code, Kind::kGone), c.kind) << std::strerror(c.code);
    EXPECT_EQ(is_at_a_limit(c.code), c.limit) << std::strerror(c.code);
  }
  EXPECT_EQ(kind_of_errno(ENOENT, Kind::kCorrupt), Kind::kCorrupt) << "the caller's own";
}

}  // namespace
}  // namespace karst::base
