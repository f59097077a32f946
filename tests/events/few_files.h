// A process at its limit of open files, as long as one of these lives.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

namespace karst::events::testing {

// Lets the process open so many files more than it has.
class FewFiles {
 public:
  explicit FewFiles(int more) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(next);
    rlimit few = before_;
    few.rlim_cur = static_cast<rlim_t>(next + more);
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  }
  ~FewFiles() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

}  // namespace karst::events::testing
