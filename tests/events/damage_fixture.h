// A log to be damaged, and what is expected of whoever opens it then.
#pragma once

#include "tests/events/log_fixture.h"

namespace karst::events::testing {

inline constexpr std::uint64_t kSynced =
    21;  // the high-water mark of the samples below: LogCreated and 20 events

// The position that a message names as the first damaged one; 0: it says that something else is.
inline std::uint64_t named(const std::string& message) {
  for (const std::string words : {"the first damaged position is ", "event at position "})
    if (const std::size_t at = message.find(words); at != std::string::npos)
      return std::stoull(message.substr(at + words.size()));
  const bool whole = message.find(" events can be read, but ") != std::string::npos ||
                     message.find("the id or the secret is missing") != std::string::npos ||
                     message.find("the file high-water is missing") != std::string::npos;
  EXPECT_TRUE(whole) << "names no position: " << message;
  return 0;
}

// A log of kSynced synced events and one buffered batch of two above them, as a crash leaves it.
// `flushed`: the synced events are in a table, else in the write-ahead log.
class Damage : public ::testing::Test {
 protected:
  void make(bool flushed) {
    auto log = RocksLog::open(options_for(folder_ / "live"));
    ASSERT_TRUE(log) << log.error().message;
    for (int batch = 0; batch < 4; ++batch) {
      batch_ends_.push_back(
          std::filesystem::file_size(files_with(folder_ / "live", ".log").back()));
      ASSERT_TRUE(append_numbered(**log, 5, Durability::kSynced));
    }
    if (flushed) {
      log->reset();
      log = RocksLog::open(options_for(folder_ / "live"));
      ASSERT_TRUE(log) << log.error().message;
    }
    ASSERT_EQ((*log)->end().value(), kSynced + 1);
    const auto files = files_with(folder_ / "live", ".log");
    ASSERT_FALSE(files.empty());
    wal_ = std::filesystem::path(files.back()).filename();
    synced_size_ = std::filesystem::file_size(files.back());
    batch_ends_.push_back(synced_size_);
    ASSERT_TRUE(append_numbered(**log, 2, Durability::kBuffered));
    wal_bytes_ = read_file(files.back());
    ASSERT_GT(wal_bytes_.size(), synced_size_);
    copy_folder(folder_ / "live", folder_ / "made");
  }

  // A fresh copy of the sample, to damage.
  std::string fresh() {
    copy_folder(folder_ / "made", folder_ / "log");
    return folder_ / "log";
  }

  // Everything up to the mark is there, everything above `last` is gone, and the log goes on.
  void expect_goes_on(std::uint64_t last, bool cut, const std::string& what) {
    auto log = RocksLog::open(options_for(folder_ / "log"));
    ASSERT_TRUE(log) << what << ": " << log.error().message;
    EXPECT_EQ((*log)->open_report().cut.has_value(), cut) << what;
    if (cut) {
      EXPECT_EQ((*log)->open_report().cut->from.value(), last + 1) << what;
      EXPECT_FALSE((*log)->open_report().cut->reason.empty()) << what;
    }
    ASSERT_EQ((*log)->end().value(), last + 1) << what;
    ASSERT_TRUE(append_numbered(**log, 1, Durability::kSynced)) << what;
    const auto read = read_all(**log);
    ASSERT_TRUE(read) << what << ": " << read.error().message;
    EXPECT_EQ(*read, last + 1) << what;
  }

  // Refused by the writer, on opening or on reading; a reader gets everything before the damage,
  // and then the same position.
  void expect_corrupt(std::uint64_t first, const std::string& what) {
    {
      const auto log = RocksLog::open(options_for(folder_ / "log"));
      const auto read =
          log ? read_all(**log) : base::Result<std::uint64_t>(base::fail(log.error()));
      ASSERT_FALSE(read) << what << ": nobody noticed";
      EXPECT_EQ(read.error().kind, base::Kind::kCorrupt) << what << ": " << read.error().message;
      EXPECT_EQ(named(read.error().message), first) << what << ": " << read.error().message;
    }
    expect_read_up_to(first, what);
  }
  void expect_read_up_to(std::uint64_t first, const std::string& what) {
    const auto reader = RocksLog::open_reader(folder_ / "log", folder_ / "scratch");
    std::uint64_t sound = 0;
    const auto read = reader ? read_all(**reader, 1, &sound)
                             : base::Result<std::uint64_t>(base::fail(reader.error()));
    ASSERT_FALSE(read) << what << ": the reader did not notice";
    EXPECT_EQ(read.error().kind, base::Kind::kCorrupt) << what << ": " << read.error().message;
    EXPECT_EQ(named(read.error().message), first) << what << ": " << read.error().message;
    if (first > 0) {
      EXPECT_EQ(sound, first - 1) << what << ": " << read.error().message;
    }
  }
  // The name of the table of the made log that holds events.
  std::string events_table() const {
    for (const std::string& table : files_with(folder_ / "made", ".sst"))
      if (read_file(table).find("source/Pod") != std::string::npos)
        return std::filesystem::path(table).filename();
    return "";
  }
  // The first position of the batch that holds this byte of the write-ahead log.
  std::uint64_t batch_at(std::size_t byte) const {
    std::size_t batch = 0;
    while (batch < batch_ends_.size() && batch_ends_[batch] <= byte) ++batch;
    return batch == 0 ? 1 : 2 + (batch - 1) * 5;
  }

  TempFolder folder_;
  std::string wal_;
  std::string wal_bytes_;
  std::size_t synced_size_ = 0;
  std::vector<std::size_t> batch_ends_;  // in the write-ahead log, of those in it
};

}  // namespace karst::events::testing
