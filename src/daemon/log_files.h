// Where log lines go: stdout, stderr, and files, which are made if need be and appended to. Owns
// the files; the lines' writer must end first.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace karst::daemon {

class LogFiles {
 public:
  // Errors: kInvalid with the path that cannot be opened.
  static base::Result<LogFiles> open(const std::vector<std::string>& paths);
  ~LogFiles();
  LogFiles(LogFiles&& other) noexcept
      : descriptors_(std::exchange(other.descriptors_, {})),
        opened_(std::exchange(other.opened_, {})) {}
  LogFiles& operator=(LogFiles&&) = delete;

  const std::vector<int>& descriptors() const { return descriptors_; }

 private:
  LogFiles() = default;
  std::vector<int> descriptors_;
  std::vector<int> opened_;  // those of them to close
};

}  // namespace karst::daemon
