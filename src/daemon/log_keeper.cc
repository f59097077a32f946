#include "daemon/log_keeper.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "events/archive_files.h"

namespace karst::daemon {

base::Status LogKeeper::start() {
  if (!parts_.archive.empty()) {
    auto archive = events::Archive::open(parts_.archive, {parts_.log->id(), parts_.log->secret()});
    if (!archive) return base::fail(archive.error().with_context("--archive"));
    archive_.emplace(std::move(*archive));
    const auto go_on = [this](model::Position) { return !stopped(); };
    trimmer_.emplace(*parts_.log, *archive_, parts_.archive, go_on, parts_.kill_points);
    expirer_.emplace(*parts_.log, *archive_, parts_.archive, go_on, parts_.kill_points);
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
    if (archive_fits()) {
      seal();
      if (parts_.retain) trim();
      if (parts_.retain && parts_.retain->archived_millis > 0) expire();
    }
    std::unique_lock lock(mutex_);
    const std::int64_t every = parts_.keep_every_millis;
    const bool is_told = kept_ || expiring_;
    wake_.wait_for(lock,
                   std::chrono::milliseconds(is_told ? std::min(kToldEveryMillis, every) : every),
                   [this] { return stopping_; });
  }
}

void LogKeeper::look() {
  const events::LogSizes sizes = parts_.sizes_of(parts_.data);
  const auto word = sizes_.see(parts_.clock->monotonic_millis(), sizes);
  parts_.board->publish_sizes({sizes, sizes_.growth_bytes_per_day(),
                               archive_ ? archive_->first().value() : std::uint64_t{0},
                               archive_ ? archive_->end().value() - 1 : std::uint64_t{0},
                               parts_.log->first().value()});
  if (!word) return;
  if (word->alarm)
    parts_.notices->alarm(parts_.clock->wall(), word->text);
  else
    parts_.notices->relief(parts_.clock->wall(), word->text);
}

// Nothing goes into or out of an archive of another history of the log; what it has does not change
// while the daemon runs, so that is final.
bool LogKeeper::archive_fits() {
  if (!archive_ || fits_) return archive_ && *fits_;
  const base::Status same = archive_->same_history(*parts_.log);
  if (!same) {
    if (same.error().kind == base::Kind::kInvalid) fits_ = false;
    alarm_once(failing_, "the log is not archived: ", same.error());
    return false;
  }
  fits_ = true;
  archived_again();
  return true;
}

// Whole segments only: what is open still grows.
void LogKeeper::seal() {
  while (!stopped() &&
         parts_.log->synced().value() >= archive_->end().value() - 1 + events::kSegmentEventsMax) {
    if (const auto sealed = seal_next(parts_.log->synced()); !sealed) {
      if (sealed.error().kind != base::Kind::kRetry)
        return alarm_once(failing_, "the log is not archived: ", sealed.error());
      if (!stopped()) archived_again();  // by somebody else
      return;
    }
    archived_again();
    std::this_thread::sleep_for(events::kArchiveLockPause);
  }
}

void LogKeeper::archived_again() {
  if (std::exchange(failing_, false))
    parts_.notices->relief(parts_.clock->wall(), "the log is archived again");
}

// One segment, and the log is told. Errors: kRetry when there is none, or nobody hears it any more.
base::Status LogKeeper::seal_next(model::Position last) {
  const auto sealed = archive_->seal_next(*parts_.log, last);
  if (!sealed) return base::fail(sealed.error());
  if (!*sealed) return base::fail(base::Kind::kRetry, "nothing is left to seal");
  const events::ArchivedSegment& segment = **sealed;
  if (parts_.sink->offer(
          {events::LogArchived{segment.first, segment.last, segment.file, segment.digest},
           parts_.clock->wall(), ""}))
    return {};
  return base::fail(base::Kind::kRetry, "it was asked to stop");
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
  const auto now = last_time();
  if (!now) return base::fail(now.error());
  const auto young = first_since(log, base::LogTime(now->value() - parts_.retain->at_hand_millis));
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

base::Result<base::LogTime> LogKeeper::last_time() const {
  auto cursor = parts_.log->read(model::Position(parts_.log->end().value() - 1));
  if (!cursor) return base::fail(cursor.error());
  const auto last = (*cursor)->next();
  if (!last) return base::fail(last.error());
  return *last ? (*last)->envelope.log_time : base::LogTime();
}

// Only what has gone from the log may go from the archive: until it was trimmed there is nothing to
// look for.
void LogKeeper::expire() {
  const std::int64_t now = parts_.clock->monotonic_millis();
  if (!expiring_ && (now < expiry_due_millis_ || !parts_.log->trimmed())) return;
  if (!expiring_) expiry_due_millis_ = now + kExpireEveryMillis;
  const base::Status status = expiring_ ? end_expiry() : begin_expiry();
  if (!status) {
    // What the log says already goes once nobody else is at the archive.
    if (status.error().kind != base::Kind::kTaken) expiring_.reset();
    if (status.error().kind == base::Kind::kRetry) return;  // stopped
    return alarm_once(expiry_failing_, "old events stay in the archive: ", status.error());
  }
  if (std::exchange(expiry_failing_, false))
    parts_.notices->relief(parts_.clock->wall(), "what is too old in the archive can go again");
}

base::Status LogKeeper::begin_expiry() {
  const auto now = last_time();
  if (!now) return base::fail(now.error());
  auto note = expirer_->prepare(base::LogTime(now->value() - parts_.retain->archived_millis));
  if (!note) return base::fail(note.error());
  if (!*note) return {};
  expiry_told_from_ = parts_.log->end();
  if (parts_.sink->offer(
          {events::expired_of(**note, expirer_->look().segments), parts_.clock->wall(), ""}))
    expiring_ = std::move(*note);
  return {};
}

// Once the log says so durably, and the archive holds that it does, they go.
base::Status LogKeeper::end_expiry() {
  const auto told =
      told_since(*parts_.log, events::EventType::kArchiveExpired, *expiring_, expiry_told_from_);
  if (!told) return base::fail(told.error());
  if (!*told) return {};
  // Another process may have sealed it, which leaves nothing for us.
  while (archive_->end() <= **told)
    if (const base::Status sealed = seal_next(**told); !sealed && archive_->end() <= **told)
      return base::fail(sealed.error());
  KARST_TRY(expirer_->finish(*expiring_, **told, parts_.clock->wall()));
  expiring_.reset();
  parts_.notices->relief(parts_.clock->wall(),
                         "what was too old in the archive was deleted: " + parts_.archive +
                             " begins at position " + std::to_string(archive_->first().value()));
  return {};
}

}  // namespace karst::daemon
