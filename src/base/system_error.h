// What a failed system call means to its caller: the Kind of an errno (errno(3)), the same wherever
// karst reads or writes files.
#pragma once

#include "base/error.h"

namespace karst::base {

// kFull when there is no room (ENOSPC, EDQUOT, EFBIG); kDenied when a person must grant something,
// a right or more of a limited thing, or mend the disk or the way to it (EACCES, EPERM, EROFS,
// EMFILE, ENFILE, ENOMEM, EIO; ESTALE, ENOTCONN, ETIMEDOUT, EHOSTDOWN of a network file system):
// what is stored may be sound, and the same attempt can succeed later. What the others mean, only
// the caller knows: they are `otherwise`.
Kind kind_of_errno(int code, Kind otherwise);

// EMFILE, ENFILE, ENOMEM: the process or the machine ran out of something that a limit can give.
bool is_at_a_limit(int code);

}  // namespace karst::base
