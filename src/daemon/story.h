// Happenings told as a readable story: one line each, with the time since the beginning, names and
// prices; pods that wait, start or go together are one line. Plain value, one thread; writing the
// lines somewhere is the caller's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "daemon/happening.h"

namespace karst::daemon {

class Story {
 public:
  explicit Story(bool color) : color_(color) {}

  // The lines of one round, without line ends. `watcher` has seen the same happenings.
  std::vector<std::string> tell(const std::vector<Happening>& happenings, const Watcher& watcher);

 private:
  struct Group;  // pods that one line tells together

  static std::optional<Group> group_of(const Happening& happening);
  std::string line_of(const Happening& happening) const;
  std::string line_of(const Group& group) const;
  std::string stamped(base::LogTime time, std::string_view text, HappeningKind kind) const;

  bool color_;
  std::optional<base::LogTime> start_;
};

}  // namespace karst::daemon
