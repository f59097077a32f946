#include "base/sync_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/descriptor.h"

namespace karst::base {

int sync_folder(const std::string& folder) {
  const Descriptor file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return file.get() >= 0 && fsync(file.get()) == 0 ? 0 : errno;
}

}  // namespace karst::base
