#include "daemon/indexer.h"

#include <gtest/gtest.h>

#include <fstream>
#include <future>

#include "base/ed25519.h"
#include "index/reader.h"
#include "tests/events/log_fixture.h"

namespace karst::daemon {
namespace {

using events::testing::append_numbered;

class IndexerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto log = events::RocksLog::open(events::testing::options_for(folder_ / "log"));
    ASSERT_TRUE(log) << log.error().message;
    log_ = std::move(*log);
  }
  void append(std::size_t count) {
    ASSERT_TRUE(append_numbered(*log_, count, events::Durability::kSynced));
  }
  std::unique_ptr<Indexer> start() { return start(folder_ / "log"); }
  std::unique_ptr<Indexer> start(const std::string& data) {
    return std::make_unique<Indexer>(*log_, data, [this](bool good, const auto& line) {
      const std::lock_guard lock(mutex_);
      told_.push_back((good ? "good: " : "bad: ") + line);
    });
  }
  // Waits as long as the test program may run.
  static void await(const Indexer& indexer, model::Position through) {
    while (indexer.lag().through < through || indexer.lag().since_millis > 0)
      std::this_thread::yield();
  }
  std::size_t indexed() {
    const events::testing::TempFolder scratch;
    const auto reader = index::Reader::open(index::index_folder(folder_ / "log"), *log_,
                                            log_->secret(), scratch / "s");
    EXPECT_TRUE(reader) << reader.error().message;
    const auto found = (*reader)->positions(index::term_of("source/Pod"), model::Position(1));
    EXPECT_TRUE(found);
    return found->size();
  }
  std::vector<std::string> told() {
    const std::lock_guard lock(mutex_);
    return told_;
  }
  events::testing::TempFolder folder_;
  std::unique_ptr<events::RocksLog> log_;
  std::mutex mutex_;
  std::vector<std::string> told_;
};

TEST_F(IndexerTest, FollowsAWriterAndCatchesUpAfterARestart) {
  append(5'000);
  {
    const auto indexer = start();
    for (int batch = 0; batch < 50; ++batch) append(100);
    await(*indexer, log_->synced());
    EXPECT_EQ(indexer->lag().events, 0U);
    EXPECT_EQ(indexed(), 10'000U);
  }
  append(700);
  const auto indexer = start();
  await(*indexer, log_->synced());
  EXPECT_EQ(indexed(), 10'700U);
  EXPECT_EQ(told(), std::vector<std::string>());
}

TEST_F(IndexerTest, StopsInTheMiddle) {
  append(20'000);
  start().reset();
  const auto indexer = start();
  await(*indexer, log_->synced());
  EXPECT_EQ(indexed(), 20'000U);
  EXPECT_EQ(told(), std::vector<std::string>());
}

TEST_F(IndexerTest, BuildsADamagedOneAgainAndSaysSo) {
  append(100);
  await(*start(), log_->synced());
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "log/index"))
    if (entry.path().filename().string().starts_with("MANIFEST"))
      std::filesystem::remove(entry.path());
  const auto indexer = start();
  await(*indexer, log_->synced());
  EXPECT_EQ(indexed(), 100U);
  ASSERT_EQ(told().size(), 1U);
  EXPECT_TRUE(told()[0].starts_with("good: the index of the log is built again: ")) << told()[0];
}

TEST_F(IndexerTest, IsBehindWhileItCannotBeOpened) {
  append(100);
  std::ofstream(folder_ / "file") << "no folder";
  const auto indexer = start(folder_ / "file");
  while (told().empty()) std::this_thread::yield();
  EXPECT_TRUE(told()[0].starts_with("bad: the index of the log cannot be written")) << told()[0];
  EXPECT_EQ(indexer->lag().events, log_->synced().value());
  EXPECT_GT(indexer->lag().since_millis, 0);
}

// The head of what is indexed, when it has everything and at the end; smaller ones never.
TEST_F(IndexerTest, SignsTheHeadOfTheTree) {
  const proof::SignerKey key{"example.com/key", base::new_ed25519_seed()};
  const auto head = [&] {
    auto parsed =
        proof::parse_checkpoint_bytes(events::testing::read_file(head_file(folder_ / "log")));
    EXPECT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(signed_by(parsed->note, key.verifier()), proof::Signed::kHolds);
    EXPECT_EQ(parsed->checkpoint.origin, proof::origin_of(log_->id()));
    return parsed->checkpoint;
  };
  const auto run = [&] {
    const auto tell = [](bool, const std::string& line) { ADD_FAILURE() << line; };
    Indexer indexer(*log_, folder_ / "log", tell, key);
    await(indexer, log_->synced());
  };
  append(700);
  run();
  EXPECT_EQ(head().size, 701U);
  proof::Frontier frontier;
  auto cursor = log_->read(model::Position(1));
  for (auto event = (*cursor)->next(); *event; event = (*cursor)->next())
    frontier.append(proof::event_leaf_hash((*event)->raw, log_->secret()));
  EXPECT_EQ(head().root, frontier.root());
  append(50);
  run();
  EXPECT_EQ(head().size, 751U);
  std::filesystem::remove_all(folder_ / "log/index");
  const std::string before = events::testing::read_file(head_file(folder_ / "log"));
  run();
  EXPECT_EQ(events::testing::read_file(head_file(folder_ / "log")), before);
  EXPECT_FALSE(std::filesystem::exists(head_file(folder_ / "log") + ".new"));
}

TEST(HeadFile, IsWrittenOnceAMinuteAndNeverSmaller) {
  const events::testing::TempFolder folder;
  const model::LogId log("log");
  const proof::SignerKey key{"k", base::new_ed25519_seed()};
  const auto size = [&] {
    const auto head =
        proof::parse_checkpoint_bytes(events::testing::read_file(folder / "checkpoint"));
    return head ? head->checkpoint.size : 0;
  };
  HeadFile file(folder / "", log, key);
  ASSERT_TRUE(file.see(10, proof::Hash{}, 5, false));
  EXPECT_EQ(size(), 10U);
  ASSERT_TRUE(file.see(20, proof::Hash{}, 5 + kHeadEveryMillis - 1, false));
  EXPECT_EQ(size(), 10U);
  ASSERT_TRUE(file.see(20, proof::Hash{}, 5 + kHeadEveryMillis, false));
  EXPECT_EQ(size(), 20U);
  ASSERT_TRUE(file.see(21, proof::Hash{}, 6 + kHeadEveryMillis, true));
  EXPECT_EQ(size(), 21U);
  ASSERT_TRUE(HeadFile(folder / "", log, key).see(20, proof::Hash{}, 0, true));
  EXPECT_EQ(size(), 21U);
  ASSERT_TRUE(HeadFile(folder / "", model::LogId("other"), key).see(1, proof::Hash{}, 0, true));
  EXPECT_EQ(size(), 1U) << "another log's says nothing";
  const auto failed = HeadFile(folder / "none", log, key).see(1, proof::Hash{}, 0, true);
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message.find("none/checkpoint"), std::string::npos);
}

TEST_F(IndexerTest, SaysOnceThatItCannotWrite) {
  append(100);
  events::testing::write_file(folder_ / "file", "no folder can be made in it");
  std::promise<std::string> said;
  Indexer indexer(*log_, folder_ / "file",
                  [&](bool, const std::string& line) { said.set_value(line); });
  EXPECT_NE(said.get_future().get().find("cannot be written"), std::string::npos);
  EXPECT_EQ(indexer.lag().events, 101U);
}

}  // namespace
}  // namespace karst::daemon
