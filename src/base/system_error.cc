#include "base/system_error.h"

#include <cerrno>

namespace karst::base {

Kind kind_of_errno(int code, Kind otherwise) {
  switch (code) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return Kind::kFull;
    case EACCES:
    case EPERM:
    case EROFS:
    case EIO:
    case ESTALE:
    case ENOTCONN:
    case ETIMEDOUT:
    case EHOSTDOWN:
      return Kind::kDenied;
    default:
      return is_at_a_limit(code) ? Kind::kDenied : otherwise;
  }
}

bool is_at_a_limit(int code) {
  return code == EMFILE || code == ENFILE || code == ENOMEM;
}

}  // namespace karst::base
