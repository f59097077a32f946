#include "daemon/log_keeper.h"

#include <chrono>

namespace karst::daemon {

base::Status LogKeeper::start() {
  if (!parts_.archive.empty()) {
    auto archive = events::Archive::open(parts_.archive, {parts_.log->id(), parts_.log->secret()});
    if (!archive) return base::fail(archive.error().with_context("--archive"));
    archive_.emplace(std::move(*archive));
    trimmer_.emplace(
        *parts_.log, *archive_, parts_.archive, [this](model::Position) { return !stopped(); },
        parts_.kill_points);
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
    if (archive_ && parts_.retain) trim();
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, std::chrono::milliseconds(parts_.keep_every_millis),
                   [this] { return stopping_; });
  }
}

void LogKeeper::look() {
  const events::LogSizes sizes = events::sizes_of(parts_.data);
  const auto word = sizes_.see(parts_.clock->monotonic_millis(), sizes);
  parts_.board->publish_sizes({sizes, sizes_.growth_bytes_per_day(),
                               archive_ ? archive_->end().value() - 1 : std::uint64_t{0},
                               parts_.log->first().value()});
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
      return alarm_once(failing_, "the log is not archived: ", sealed.error());
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

void LogKeeper::alarm_once(bool& failing, const std::string& what, const base::Error& error) {
  if (!std::exchange(failing, true))
    parts_.notices->alarm(parts_.clock->wall(), what + error.message);
}

void LogKeeper::trim() {
  const std::int64_t now = parts_.clock->monotonic_millis();
  if (!kept_ && now < trim_due_millis_) return;
  if (!kept_) trim_due_millis_ = now + kTrimEveryMillis;
  const base::Status status = kept_ ? end_trim() : begin_trim();
  if (!status) {
    kept_.reset();
    if (status.error().kind == base::Kind::kRetry) return;  // stopped
    return alarm_once(trim_failing_, "old events stay in the log: ", status.error());
  }
  if (std::exchange(trim_failing_, false))
    parts_.notices->relief(parts_.clock->wall(), "the log is trimmed again");
}

// Keeps what must stay of what is too old, and has the log told of it.
base::Status LogKeeper::begin_trim() {
  const events::RocksLog& log = *parts_.log;
  auto cursor = log.read(model::Position(log.end().value() - 1));
  if (!cursor) return base::fail(cursor.error());
  const auto last = (*cursor)->next();
  if (!last) return base::fail(last.error());
  if (!*last) return {};
  const base::LogTime now = (*last)->envelope.log_time;
  const auto young = first_since(log, base::LogTime(now.value() - parts_.retain->at_hand_millis));
  if (!young) return base::fail(young.error());
  const std::uint64_t begins = log.first().value();
  const model::Position place =
      trim_place(std::min({*young, archive_->end(), model::Position(begins + kTrimEventsMax)}));
  if (place.value() < begins + kTrimEventsMin) return {};
  auto note = trimmer_->prepare(place);
  if (!note) return base::fail(note.error());
  told_from_ = log.end();
  if (parts_.sink->offer({events::told_of(*note), parts_.clock->wall(), ""}))
    kept_ = std::move(*note);
  return {};
}

// Once the log says so durably, they go.
base::Status LogKeeper::end_trim() {
  const auto told = trimmer_->told(*kept_, told_from_);
  if (!told) return base::fail(told.error());
  if (!*told) return {};
  KARST_TRY(trimmer_->finish(*kept_, **told, parts_.clock->wall()));
  kept_.reset();
  trim_due_millis_ = 0;  // there may be more
  parts_.notices->relief(parts_.clock->wall(), "the log was trimmed: it begins at position " +
                                                   std::to_string(parts_.log->first().value()) +
                                                   ", " + parts_.archive + " has what was before");
  return {};
}

}  // namespace karst::daemon
