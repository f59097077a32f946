#include "daemon/indexer.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "daemon/system_clock.h"

namespace karst::daemon {
namespace {

constexpr int kNice = 10;

std::int64_t wall_now_millis() {
  return SystemClock().monotonic_millis();
}

}  // namespace

Indexer::Indexer(const events::RocksLog& log, const std::string& data, Tell tell,
                 std::optional<proof::SignerKey> key)
    : log_(log), folder_(index::index_folder(data)), tell_(std::move(tell)) {
  if (key) head_.emplace(data, log.id(), std::move(*key));
  thread_ = std::thread([this] { run(); });
}

Indexer::~Indexer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

IndexLag Indexer::lag() const {
  const std::lock_guard lock(mutex_);
  IndexLag lag;
  lag.through = through_;
  const model::Position synced = log_.synced();
  if (synced > through_) lag.events = synced.value() - through_.value();
  if (behind_since_millis_ != 0)
    lag.since_millis = std::max<std::int64_t>(1, wall_now_millis() - behind_since_millis_);
  return lag;
}

void Indexer::run() {
  // Of this thread alone, as Linux has it. Where it is refused this thread competes, no more.
  (void)setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), kNice);
  std::int64_t pause = 0;
  while (wait(pause)) {
    const base::Status status = work();
    pause = kIndexPollMillis;
    if (!status) {
      index_.reset();  // opening looks at all of it
      note(through_);  // one that cannot be opened is behind, too
      pause = kIndexRetryMillis;
      if (!std::exchange(failed_, true))
        tell_(false,
              "the index of the log cannot be written, 'karst explain' reads the log "
              "meanwhile: " +
                  status.error().message);
    } else if (std::exchange(failed_, false)) {
      tell_(true, "the index of the log is written again");
    }
    sign(/*now=*/false);
  }
  catch_up();
  sign(/*now=*/true);
}

// At the stop: what came since the last look is in the last head too, unless it is much (an index
// that was being built again), which the next start goes on with.
void Indexer::catch_up() {
  const model::Position synced = log_.synced();
  if (index_ == nullptr || synced.value() > index_->through().value() + kIndexAtStopMax) return;
  while (index_->through() < synced)
    if (!index_->advance(log_, synced)) return;
  note(index_->through());
}

// Of all that is on stable storage, or at the end of what there is.
void Indexer::sign(bool now) {
  if (!head_ || index_ == nullptr || (!now && index_->through() < log_.synced())) return;
  const bool whole = index_->through() >= log_.synced();
  const base::Status status =
      head_->see({index_->tiles(), index_->tree_size(), whole}, wall_now_millis(), now);
  if (!status && !std::exchange(head_failed_, true))
    tell_(false, "the head of the log's tree is not written: " + status.error().message);
  else if (status && std::exchange(head_failed_, false))
    tell_(true, "the head of the log's tree is written again");
}

// Until it has everything, or stop().
base::Status Indexer::work() {
  if (index_ == nullptr) {
    auto opened = index::Index::open(folder_, log_, log_.secret(), log_.synced());
    if (!opened) return base::fail(opened.error());
    index_ = std::move(*opened);
    if (!index_->replaced_because().empty())
      tell_(true, "the index of the log is built again: " + index_->replaced_because());
    note(index_->through());
  }
  do {
    const model::Position synced = log_.synced();
    note(index_->through());
    if (index_->through() >= synced) return {};
    KARST_TRY(index_->advance(log_, synced));
  } while (wait(0));
  return {};
}

bool Indexer::wait(std::int64_t millis) {
  std::unique_lock lock(mutex_);
  if (millis > 0)
    wake_.wait_for(lock, std::chrono::milliseconds(millis), [this] { return stopping_; });
  return !stopping_;
}

void Indexer::note(model::Position through) {
  const bool behind = through < log_.synced();
  const std::lock_guard lock(mutex_);
  through_ = through;
  if (!behind)
    behind_since_millis_ = 0;
  else if (behind_since_millis_ == 0)
    behind_since_millis_ = wall_now_millis();
}

}  // namespace karst::daemon
