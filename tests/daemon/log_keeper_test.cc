// The keeper of the log's folder: what is complete is sealed, the log is told, sizes are published.
#include "daemon/log_keeper.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "daemon/metrics.h"
#include "daemon/system_clock.h"
#include "projections/cluster_state.h"
#include "tests/events/log_fixture.h"

namespace karst::daemon {
namespace {

using events::testing::TempFolder;

// Hands the first fact to whoever waits for it.
class FirstFact final : public ports::FactSink {
 public:
  bool offer(ports::Fact fact) override {
    const std::lock_guard lock(mutex_);
    facts_.push_back(std::move(fact));
    came_.notify_all();
    return true;
  }
  std::vector<ports::Fact> await() {
    std::unique_lock lock(mutex_);
    came_.wait_for(lock, std::chrono::minutes(1), [this] { return !facts_.empty(); });
    return facts_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<ports::Fact> facts_;
};

struct Silent final : Notices {
  void round(const std::vector<Happening>&, const Watcher&, std::int64_t) override {}
  void alarm(base::WallTime, std::string_view) override {}
  void relief(base::WallTime, std::string_view) override {}
};

TEST(LogKeeper, SealsWhatIsCompleteAndTellsTheLog) {
  TempFolder folder;
  auto log = events::RocksLog::open(events::testing::options_for(folder / "log"));
  ASSERT_TRUE(log);
  ASSERT_TRUE(events::testing::append_numbered(**log, events::kSegmentEventsMax + 10,
                                               events::Durability::kSynced));
  const SystemClock clock;
  FirstFact sink;
  ViewBoard board;
  Silent notices;
  {
    LogKeeper keeper(
        {log->get(), folder / "log", folder / "archive", &clock, &sink, &board, &notices});
    ASSERT_TRUE(keeper.start());
    ASSERT_EQ(sink.await().size(), 1U);
  }
  const std::vector<ports::Fact> facts = sink.await();
  ASSERT_EQ(facts.size(), 1U) << "the open rest is not sealed";
  const auto& told = std::get<events::LogArchived>(facts[0].body);
  EXPECT_EQ(told.from, model::Position(1));
  EXPECT_EQ(told.to, model::Position(events::kSegmentEventsMax));
  const std::string bytes = events::testing::read_file(folder / ("archive/" + told.segment));
  EXPECT_EQ(base::hex_lower(base::sha256(bytes)), told.digest);

  ASSERT_TRUE(board.sizes());
  EXPECT_GT(board.sizes()->sizes.log_bytes, 100'000U);
  EXPECT_GT(board.sizes()->sizes.disk_bytes, board.sizes()->sizes.free_bytes);
}

// Does what the engine does with such facts, and nothing else.
class Appends final : public ports::FactSink {
 public:
  explicit Appends(events::RocksLog& log) : log_(log) {}
  bool offer(ports::Fact fact) override {
    events::Record record = events::make_record(fact.body);
    record.log_time = base::LogTime(static_cast<std::int64_t>(log_.end().value()) * 10);
    EXPECT_TRUE(log_.append({&record, 1}, events::Durability::kSynced));
    const std::lock_guard lock(mutex_);
    trimmings_ += std::holds_alternative<events::LogTrimmed>(fact.body) ? 1 : 0;
    return true;
  }
  int trimmings() const {
    const std::lock_guard lock(mutex_);
    return trimmings_;
  }

 private:
  events::RocksLog& log_;
  mutable std::mutex mutex_;
  int trimmings_ = 0;
};

// A hundred seconds are asked for: 10,000 events. Three segments are sealed, and the rest is open.
TEST(LogKeeper, TrimsWhatIsOldAndArchived) {
  TempFolder folder;
  auto log = events::RocksLog::open(events::testing::options_for(folder / "log"));
  ASSERT_TRUE(log);
  constexpr std::uint64_t kSealed = 3 * events::kSegmentEventsMax;
  ASSERT_TRUE(
      events::testing::append_numbered(**log, kSealed + 5'000, events::Durability::kSynced));
  const SystemClock clock;
  Appends sink(**log);
  ViewBoard board;
  Silent notices;
  const auto ended = [began = std::chrono::steady_clock::now()] {
    return std::chrono::steady_clock::now() - began > std::chrono::minutes(1);
  };
  {
    LogKeeper keeper({log->get(), folder / "log", folder / "archive", &clock, &sink, &board,
                      &notices, Retention{100'000, 0}, /*keep_every_millis=*/1});
    ASSERT_TRUE(keeper.start());
    while ((*log)->first().value() == 1 && !ended()) std::this_thread::yield();
  }
  const std::uint64_t first = (*log)->first().value();
  EXPECT_EQ(sink.trimmings(), 1);
  EXPECT_EQ(first % events::kTrimTile, 1U);
  EXPECT_LE(first, kSealed + 1) << "what is not archived stays";
  EXPECT_GT(first, kSealed - 10'000);
  ASSERT_TRUE((*log)->trimmed());
  EXPECT_EQ((*log)->trimmed()->archive, folder / "archive");
  projections::ClusterState state;
  const auto baseline = (*log)->baseline();
  ASSERT_TRUE(baseline && *baseline);
  ASSERT_TRUE(state.load((*baseline)->bytes));
  EXPECT_EQ(state.last_position().value(), first - 1);
}

// Waits for a word.
class Hears final : public Notices {
 public:
  void round(const std::vector<Happening>&, const Watcher&, std::int64_t) override {}
  void alarm(base::WallTime, std::string_view text) override { add(text); }
  void relief(base::WallTime, std::string_view text) override { add(text); }
  bool heard(const std::string& part) const {
    const std::lock_guard lock(mutex_);
    return all_.find(part) != std::string::npos;
  }
  std::string all() const {
    const std::lock_guard lock(mutex_);
    return all_;
  }

 private:
  void add(std::string_view text) {
    const std::lock_guard lock(mutex_);
    all_.append(text).append("\n");
  }
  mutable std::mutex mutex_;
  std::string all_;
};

// Six segments are sealed; at hand are the last 10,000 events, in the archive the last 50,000: the
// first three segments are older than that.
TEST(LogKeeper, WhatIsTooOldInTheArchiveGoesToo) {
  TempFolder folder;
  auto log = events::RocksLog::open(events::testing::options_for(folder / "log"));
  ASSERT_TRUE(log);
  constexpr std::uint64_t kSealed = 6 * events::kSegmentEventsMax;
  ASSERT_TRUE(
      events::testing::append_numbered(**log, kSealed + 5'000, events::Durability::kSynced));
  const SystemClock clock;
  Appends sink(**log);
  ViewBoard board;
  Hears notices;
  const auto keep_until = [&](std::int64_t archived_millis, const std::function<bool()>& done) {
    const auto began = std::chrono::steady_clock::now();
    LogKeeper keeper({log->get(), folder / "log", folder / "archive", &clock, &sink, &board,
                      &notices, Retention{100'000, archived_millis}, /*keep_every_millis=*/1});
    ASSERT_TRUE(keeper.start());
    while (!done() && std::chrono::steady_clock::now() - began < std::chrono::minutes(1))
      std::this_thread::yield();
    EXPECT_TRUE(done()) << notices.all();
  };
  const auto keep = [&](std::int64_t archived_millis, const std::string& until) {
    keep_until(archived_millis, [&] { return notices.heard(until); });
  };
  keep(0, "the log was trimmed");
  auto archive = events::Archive::open_existing(folder / "archive");
  ASSERT_TRUE(archive) << archive.error().message;
  EXPECT_EQ(archive->first().value(), 1U) << "for ever";
  EXPECT_EQ(board.sizes()->archived_from, 1U);
  keep(500'000, "what was too old in the archive was deleted");
  archive = events::Archive::open_existing(folder / "archive");
  ASSERT_TRUE(archive) << archive.error().message;
  EXPECT_EQ(archive->first().value(), 3 * events::kSegmentEventsMax + 1);
  keep_until(500'000, [&] { return board.sizes()->archived_from == archive->first().value(); });
  EXPECT_EQ(archive->segments().front().first, archive->first());
  EXPECT_EQ(events::testing::files_with(folder / "archive", ".seg").size(),
            archive->segments().size());
  EXPECT_LT((*log)->trimmed()->event, archive->expired()->event);
  EXPECT_LT(archive->expired()->event, archive->end()) << "what says so is sealed";
  EXPECT_EQ((*log)->trimmed()->expired, archive->first());
  projections::ClusterState state;
  const auto baseline = archive->baseline();
  ASSERT_TRUE(baseline && *baseline);
  ASSERT_TRUE(state.load((*baseline)->bytes));
  EXPECT_EQ(state.last_position().value(), archive->first().value() - 1);
}

TEST(LogKeeper, MetricsSayWhatTheLogHasAtHandAndInItsArchive) {
  LogSizesView view;
  view.archived_from = 257, view.archived_to = 9'000, view.first = 769;
  const std::string text = log_sizes_text(view);
  for (const std::string line :
       {"karst_log_archive_first_position 257\n", "karst_log_archived_position 9000\n",
        "karst_log_first_position 769\n"})
    EXPECT_NE(text.find("\n" + line), std::string::npos) << line << text;
  EXPECT_EQ(text.find("growth"), std::string::npos) << "not known yet";
}

// By whoever asks for the sizes: an hour goes by each time, in which the log grows, or does not.
std::atomic<std::int64_t> hours_watched = 0;
std::atomic<bool> grows = true;
std::atomic<std::uint64_t> log_bytes = 0;
events::LogSizes made_up_sizes(const std::string&) {
  ++hours_watched;
  if (grows) log_bytes += 1'000'000'000;
  return {.log_bytes = log_bytes, .free_bytes = 100'000'000'000, .disk_bytes = 200'000'000'000};
}
struct HourlyClock final : base::Clock {
  std::int64_t monotonic_millis() const override { return hours_watched * kSizeSampleMillis; }
  base::WallTime wall() const override { return {}; }
};

// 24 GB a day, and 100 are left.
TEST(LogKeeper, SaysThatTheDiskWillBeFullAndThatItWillNot) {
  TempFolder folder;
  auto log = events::RocksLog::open(events::testing::options_for(folder / "log"));
  ASSERT_TRUE(log);
  const HourlyClock clock;
  FirstFact sink;
  ViewBoard board;
  Hears notices;
  LogKeeperParts parts{log->get(), folder / "log", "", &clock, &sink, &board, &notices};
  parts.keep_every_millis = 1;
  parts.sizes_of = made_up_sizes;
  LogKeeper keeper(std::move(parts));
  ASSERT_TRUE(keeper.start());
  const auto awaits = [&](const std::string& words) {
    const auto began = std::chrono::steady_clock::now();
    while (!notices.heard(words) &&
           std::chrono::steady_clock::now() - began < std::chrono::minutes(1))
      std::this_thread::yield();
    EXPECT_TRUE(notices.heard(words)) << notices.all();
  };
  awaits("it grows by 22.3 GiB a day: 4 days are left");
  ASSERT_TRUE(board.sizes());
  EXPECT_NE(log_sizes_text(*board.sizes()).find("\nkarst_log_growth_bytes_per_day 23999932800\n"),
            std::string::npos)
      << log_sizes_text(*board.sizes());
  EXPECT_FALSE(notices.heard("enough again"));
  grows = false;
  awaits("enough again");
}

// Nothing is sealed, and nothing is trimmed, behind what another history left.
TEST(LogKeeper, AnArchiveOfAnotherHistoryIsLeftAloneAndSaidSo) {
  TempFolder folder;
  const auto opened = [&] {
    auto log = events::RocksLog::open(events::testing::options_for(folder / "log"));
    EXPECT_TRUE(log) << log.error().message;
    return std::move(*log);
  };
  auto log = opened();
  log.reset();
  events::testing::copy_folder(folder / "log", folder / "copy");
  log = opened();
  ASSERT_TRUE(events::testing::append_numbered(*log, 100, events::Durability::kSynced));
  auto archive = events::Archive::open(folder / "archive", {log->id(), log->secret()});
  ASSERT_TRUE(archive && archive->seal_next(*log, log->synced()));
  log.reset();
  events::testing::copy_folder(folder / "copy", folder / "log");
  log = opened();
  ASSERT_TRUE(events::testing::append_numbered(*log, 2 * events::kSegmentEventsMax,
                                               events::Durability::kSynced, /*padding=*/20));
  const SystemClock clock;
  Appends sink(*log);
  ViewBoard board;
  Hears notices;
  const auto began = std::chrono::steady_clock::now();
  {
    LogKeeper keeper({log.get(), folder / "log", folder / "archive", &clock, &sink, &board,
                      &notices, Retention{1, 1}, /*keep_every_millis=*/1});
    ASSERT_TRUE(keeper.start());
    while (!notices.heard("archive") &&
           std::chrono::steady_clock::now() - began < std::chrono::minutes(1))
      std::this_thread::yield();
  }
  EXPECT_TRUE(notices.heard("the log is not archived: " + (folder / "archive"))) << notices.all();
  EXPECT_TRUE(notices.heard("at position 2 ")) << notices.all();
  EXPECT_EQ(log->first().value(), 1U);
  EXPECT_EQ(events::testing::files_with(folder / "archive", ".seg").size(), 1U);
}

TEST(LogKeeper, AnArchiveOfAnotherLogIsRefusedAtTheStart) {
  TempFolder folder;
  auto log = events::RocksLog::open(events::testing::options_for(folder / "log"));
  ASSERT_TRUE(log);
  ASSERT_TRUE(
      events::Archive::open(folder / "archive", {model::LogId("another"), std::string(32, 's')}));
  const SystemClock clock;
  FirstFact sink;
  ViewBoard board;
  Silent notices;
  LogKeeper keeper(
      {log->get(), folder / "log", folder / "archive", &clock, &sink, &board, &notices});
  const base::Status status = keeper.start();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message.substr(0, 10), "--archive:");
}

}  // namespace
}  // namespace karst::daemon
