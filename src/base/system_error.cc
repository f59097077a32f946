#include "base/system_error.h"

#include <fcntl.h>
#include <unistd.h>

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

void sync_folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;
  (void)!fsync(file);
  ::close(file);
}

}  // namespace karst::base
