#include "daemon/log_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace karst::daemon {

base::Result<LogFiles> LogFiles::open(const std::vector<std::string>& paths) {
  LogFiles files;
  for (const std::string& path : paths) {
    int descriptor = path == "stdout" ? STDOUT_FILENO : path == "stderr" ? STDERR_FILENO : -1;
    if (descriptor < 0) {
      descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
      if (descriptor < 0)
        return base::fail(base::Kind::kInvalid,
                          "LOG_OUTPUT_PATHS: cannot write " + path + ": " + std::strerror(errno) +
                              "; expected stdout, stderr or a file in a folder that is there");
      files.opened_.push_back(descriptor);
    }
    files.descriptors_.push_back(descriptor);
  }
  return files;
}

LogFiles::~LogFiles() {
  for (const int descriptor : opened_) close(descriptor);
}

}  // namespace karst::daemon
