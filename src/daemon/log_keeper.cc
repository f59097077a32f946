#include "daemon/log_keeper.h"

#include <chrono>

namespace karst::daemon {

base::Status LogKeeper::start() {
  if (!parts_.archive.empty()) {
    auto archive = events::Archive::open(parts_.archive, {parts_.log->id(), parts_.log->secret()});
    if (!archive) return base::fail(archive.error().with_context("--archive"));
    archive_.emplace(std::move(*archive));
  }
  thread_ = std::thread([this] { run(); });
  return {};
}

LogKeeper::~LogKeeper() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool LogKeeper::stopped() {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

void LogKeeper::run() {
  while (!stopped()) {
    look();
    if (archive_) seal();
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, std::chrono::milliseconds(kKeepEveryMillis), [this] { return stopping_; });
  }
}

void LogKeeper::look() {
  const events::LogSizes sizes = events::sizes_of(parts_.data);
  const auto word = sizes_.see(parts_.clock->monotonic_millis(), sizes);
  parts_.board->publish_sizes({sizes, sizes_.growth_bytes_per_day(),
                               archive_ ? archive_->end().value() - 1 : std::uint64_t{0}});
  if (!word) return;
  if (word->alarm)
    parts_.notices->alarm(parts_.clock->wall(), word->text);
  else
    parts_.notices->relief(parts_.clock->wall(), word->text);
}

// Whole segments only: what is open still grows.
void LogKeeper::seal() {
  while (!stopped() &&
         parts_.log->synced().value() >= archive_->end().value() - 1 + events::kSegmentEventsMax) {
    const auto sealed = archive_->seal_next(*parts_.log, parts_.log->synced());
    if (!sealed) {
      if (!std::exchange(failing_, true))
        parts_.notices->alarm(parts_.clock->wall(),
                              "the log is not archived: " + sealed.error().message);
      return;
    }
    if (!*sealed) return;
    if (std::exchange(failing_, false))
      parts_.notices->relief(parts_.clock->wall(), "the log is archived again");
    const events::ArchivedSegment& segment = **sealed;
    if (!parts_.sink->offer(
            {events::LogArchived{segment.first, segment.last, segment.file, segment.digest},
             parts_.clock->wall(), ""}))
      return;
  }
}

}  // namespace karst::daemon
