#include "daemon/indexer.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

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

// Trees over one history or another.
proof::MemoryTiles tiles_of(std::uint64_t size, char history = 'a') {
  proof::TileBuilder builder;
  for (std::uint64_t i = 0; i < size; ++i)
    builder.append(proof::leaf_hash(std::string(1, history) + std::to_string(i)));
  proof::MemoryTiles tiles;
  tiles.put(builder.take());
  return tiles;
}

class HeadFileTest : public ::testing::Test {
 protected:
  std::uint64_t size() const {
    const auto head = kept_head(folder_ / "", log_);
    return head && *head ? (*head)->checkpoint.size : 0;
  }
  HeadFile open() const { return HeadFile(folder_ / "", log_, key_); }
  std::string bytes() const { return events::testing::read_file(folder_ / "checkpoint"); }

  events::testing::TempFolder folder_;
  model::LogId log_{"log"};
  proof::SignerKey key_{"k", base::new_ed25519_seed()};
  proof::MemoryTiles tiles_ = tiles_of(100);
};

TEST_F(HeadFileTest, IsWrittenOnceAMinuteAndNeverSmaller) {
  HeadFile file = open();
  ASSERT_TRUE(file.see({tiles_, 10}, 5, false));
  EXPECT_EQ(size(), 10U);
  ASSERT_TRUE(file.see({tiles_, 20}, 5 + kHeadEveryMillis - 1, false));
  EXPECT_EQ(size(), 10U);
  ASSERT_TRUE(file.see({tiles_, 20}, 5 + kHeadEveryMillis, false));
  EXPECT_EQ(size(), 20U);
  ASSERT_TRUE(file.see({tiles_, 21}, 6 + kHeadEveryMillis, true));
  EXPECT_EQ(size(), 21U);
  ASSERT_TRUE(open().see({tiles_, 20, /*whole=*/false}, 0, true)) << "an index built again";
  EXPECT_EQ(size(), 21U);
  const auto others = HeadFile(folder_ / "", model::LogId("other"), key_).see({tiles_, 1}, 0, true);
  ASSERT_FALSE(others);
  EXPECT_NE(others.error().message.find("is the head of karst.dev/log, and this log is"),
            std::string::npos)
      << others.error().message;
  EXPECT_EQ(size(), 21U) << "not written over";
  const auto failed = HeadFile(folder_ / "none", log_, key_).see({tiles_, 1}, 0, true);
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message.find("none/checkpoint"), std::string::npos);
}

TEST_F(HeadFileTest, NothingIsSignedThatDoesNotContinueIt) {
  ASSERT_TRUE(open().see({tiles_, 20}, 0, true));
  const std::string before = bytes();
  const auto refused = [&](const proof::TileReader& tiles, std::uint64_t size,
                           const std::string& why) {
    HeadFile file = open();
    for (const std::int64_t at : {std::int64_t{0}, std::int64_t{200}, 2 * kHeadEveryMillis}) {
      const auto status = file.see({tiles, size}, at, false);
      ASSERT_FALSE(status) << size << " at " << at;
      EXPECT_EQ(status.error().kind, base::Kind::kInvalid);
      for (const std::string& part : {std::string("/checkpoint: "), std::string("at size 20"), why})
        EXPECT_NE(status.error().message.find(part), std::string::npos) << status.error().message;
    }
    EXPECT_FALSE(file.see({tiles, size}, 3 * kHeadEveryMillis, true));
    EXPECT_EQ(bytes(), before);
  };
  const proof::MemoryTiles other = tiles_of(100, 'b');
  refused(other, 100, "first 20 events are other ones");
  refused(other, 20, "first 20 events are other ones");
  refused(tiles_, 19, "ends at position 19");
  ASSERT_TRUE(open().see({tiles_, 100}, 0, true));
  EXPECT_EQ(size(), 100U);
  std::filesystem::remove(folder_ / "checkpoint");
  ASSERT_TRUE(open().see({other, 30}, 0, true));
  EXPECT_EQ(size(), 30U) << "moved away: it goes on";
}

// Whichever bit of it is another one: nothing is signed that the head speaks against, and where
// the log does continue it, it is said that the file is damaged.
TEST_F(HeadFileTest, ADamagedOneIsCalledSoAndStays) {
  ASSERT_TRUE(open().see({tiles_, 20}, 0, true));
  const std::string good = bytes();
  std::size_t called_damaged = 0;
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string flipped = good;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    events::testing::write_file(folder_ / "checkpoint", flipped);
    EXPECT_FALSE(open().see({tiles_, 10}, 0, false)) << bit << ": it was rolled back";
    EXPECT_EQ(bytes(), flipped) << bit;
    HeadFile file = open();
    const auto grown = file.see({tiles_, 30}, 0, false);
    if (grown) continue;  // of a key that is not ours, for all that it says
    ++called_damaged;
    EXPECT_NE(grown.error().message.find("checkpoint is damaged, or was put there: "),
              std::string::npos)
        << grown.error().message;
    EXPECT_NE(grown.error().message.find("move the file away"), std::string::npos);
    EXPECT_EQ(bytes(), flipped) << bit;
    EXPECT_FALSE(file.see({tiles_, 30}, 1, false)) << "between two tries";
    events::testing::write_file(folder_ / "checkpoint", good);
    EXPECT_TRUE(file.see({tiles_, 30}, 2 * kHeadEveryMillis, false)) << bit << ": put back";
  }
  std::filesystem::remove(folder_ / "checkpoint");
  ASSERT_EQ(mkfifo((folder_ / "checkpoint").c_str(), 0600), 0);
  EXPECT_FALSE(open().see({tiles_, 30}, 0, false)) << "and nobody waits at a pipe";
  // All but the name and the number of the key.
  EXPECT_GT(called_damaged, good.size() * 8 - 8 * (key_.name.size() + 7));
}

// A log that was put back from an old copy, and its head was not.
TEST_F(IndexerTest, SignsNoHeadOfAnotherHistory) {
  const proof::SignerKey key{"example.com/key", base::new_ed25519_seed()};
  std::vector<std::string> told;
  const auto run = [&] {
    const auto tell = [&](bool good, const std::string& line) {
      told.push_back((good ? "good: " : "bad: ") + line);
    };
    Indexer indexer(*log_, folder_ / "log", tell, key);
    await(indexer, log_->synced());
  };
  append(300);
  log_.reset();
  events::testing::copy_folder(folder_ / "log", folder_ / "copy");
  SetUp();
  append(400);
  run();
  const std::string head = events::testing::read_file(head_file(folder_ / "log"));
  log_.reset();
  events::testing::copy_folder(folder_ / "copy", folder_ / "log");
  events::testing::write_file(head_file(folder_ / "log"), head);
  SetUp();
  const events::Record other = events::make_record(events::ListStarted{"Node"});
  ASSERT_TRUE(log_->append({&other, 1}, events::Durability::kSynced));
  append(500);
  EXPECT_TRUE(told.empty());
  run();
  EXPECT_EQ(events::testing::read_file(head_file(folder_ / "log")), head);
  ASSERT_EQ(told.size(), 1U) << told.back();
  EXPECT_TRUE(told[0].starts_with("bad: the head of the log's tree is not written: ")) << told[0];
  EXPECT_NE(told[0].find("first 701 events are other ones"), std::string::npos) << told[0];
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
