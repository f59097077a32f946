#include "daemon/line_writer.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace karst::daemon {
namespace {

constexpr std::chrono::milliseconds kLineWait{500};
constexpr int kPollMillis = 100;
constexpr int kLastWordsMillis = 1000;  // how long a reader has to take the last lines
constexpr std::size_t kPipeAtOnce =
    4096;  // PIPE_BUF: what a pipe that is ready takes without blocking

// False: the reader is gone, or did not read in time once we are stopping.
bool write_all(int descriptor, std::string_view bytes, const std::atomic<bool>& stopping) {
  int waited_millis = 0;
  while (!bytes.empty()) {
    pollfd ready{descriptor, POLLOUT, 0};
    const int count = poll(&ready, 1, kPollMillis);
    if (count < 0 && errno != EINTR) return false;
    if (count <= 0) {
      if (stopping && (waited_millis += kPollMillis) >= kLastWordsMillis) return false;
      continue;
    }
    const ssize_t written = ::write(descriptor, bytes.data(), std::min(bytes.size(), kPipeAtOnce));
    if (written > 0)
      bytes.remove_prefix(static_cast<std::size_t>(written));
    else if (written < 0 && errno != EINTR && errno != EAGAIN)
      return false;
  }
  return true;
}

}  // namespace

LineWriter::LineWriter(std::vector<int> descriptors)
    : descriptors_(std::move(descriptors)), thread_([this] { run(); }) {}

LineWriter::~LineWriter() {
  stopping_ = true;
  lines_.close();
  thread_.join();
}

void LineWriter::write(std::string line) {
  if (!lines_.try_push(std::move(line), base::Lane::kOrdinary)) ++dropped_;
}

void LineWriter::run() noexcept {
  for (;;) {
    const bool last = stopping_;
    const auto lines = lines_.pop_some(kLinesAtOnceMax, kLineWait);
    if (lines.empty() && last) return;
    std::string bytes;
    for (const std::string& line : lines) {
      bytes += line;
      bytes += '\n';
    }
    bool all = true;
    for (const int descriptor : descriptors_) {
      if (write_all(descriptor, bytes, stopping_)) continue;
      dropped_ += lines.size();
      all = false;
    }
    if (!all && last) return;
  }
}

}  // namespace karst::daemon
