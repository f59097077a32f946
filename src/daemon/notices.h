// Notices for people while the daemon runs (docs/decisions/0004: best effort, not logged). Two
// tellers: the story of `run
// --embedded`, and the cluster's log lines. Engine thread; the lines leave through a LineWriter,
// which never blocks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "daemon/happening.h"
#include "daemon/line_writer.h"
#include "daemon/log_lines.h"
#include "daemon/story.h"

namespace karst::daemon {

class Notices {
 public:
  virtual ~Notices() = default;
  virtual void round(const std::vector<Happening>& happenings, const Watcher& watcher,
                     std::int64_t round_millis) = 0;
  // Something a person should do something about. Any thread.
  virtual void alarm(base::WallTime time, std::string_view message) = 0;
  // What an alarm was about is over. Any thread.
  virtual void relief(base::WallTime time, std::string_view message) = 0;
};

class StoryNotices final : public Notices {
 public:
  StoryNotices(LineWriter& lines, bool color) : lines_(lines), story_(color) {}
  void round(const std::vector<Happening>& happenings, const Watcher& watcher,
             std::int64_t) override {
    for (std::string& line : story_.tell(happenings, watcher)) lines_.write(std::move(line));
  }
  void alarm(base::WallTime, std::string_view message) override {
    lines_.write("karst: " + std::string(message));
  }
  void relief(base::WallTime time, std::string_view message) override { alarm(time, message); }

 private:
  LineWriter& lines_;
  Story story_;
};

class LogNotices final : public Notices {
 public:
  LogNotices(LineWriter& lines, LogLines format) : lines_(lines), format_(std::move(format)) {}
  void round(const std::vector<Happening>& happenings, const Watcher& watcher,
             std::int64_t round_millis) override {
    for (std::string& line : format_.tell(repeated_.without(happenings), watcher, round_millis))
      lines_.write(std::move(line));
  }
  void alarm(base::WallTime time, std::string_view message) override {
    remark(LogLevel::kError, time, message);
  }
  void relief(base::WallTime time, std::string_view message) override {
    remark(LogLevel::kInfo, time, message);
  }
  void remark(LogLevel level, base::WallTime time, std::string_view message) {
    std::string line = format_.remark(level, time, message);
    if (!line.empty()) lines_.write(std::move(line));
  }

 private:
  LineWriter& lines_;
  LogLines format_;
  Repeated repeated_;
};

}  // namespace karst::daemon
