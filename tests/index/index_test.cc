#include "index/index.h"

#include <gtest/gtest.h>

#include "events/memory_log.h"
#include "index/meta.h"
#include "tests/events/trim_fixture.h"
#include "tests/index/index_fixture.h"

namespace karst::index {
namespace {

using events::testing::TempFolder;

TEST_F(IndexTest, FindsTheEventsOfOneStream) {
  append(events::ListStarted{"Node"});  // 2
  append(10'000);                       // SourceBeat of "Pod", 3 to 10002
  append(events::ListEnded{"Node", "7"});
  fill(*open_index());
  EXPECT_EQ(found("source/Node"), (std::vector<std::uint64_t>{2, 10'003}));
  EXPECT_EQ(found("source/Node", 3), (std::vector<std::uint64_t>{10'003}));
  EXPECT_EQ(found("source/Node", 10'004), std::vector<std::uint64_t>());
  EXPECT_EQ(found("source/None"), std::vector<std::uint64_t>());
  const auto beats = found("source/Pod");
  ASSERT_EQ(beats.size(), 10'000U);
  EXPECT_EQ(beats.front(), 3U);
  EXPECT_EQ(beats.back(), 10'002U);
}

TEST_F(IndexTest, HoldsTheSameWhateverTheBatchesAndRestarts) {
  append(9'000);
  fill(*open_index());
  const auto at_once = contents();
  EXPECT_GT(at_once.size(), 3U);
  std::filesystem::remove_all(folder_ / "index");
  {
    const auto index = open_index();
    ASSERT_TRUE(index->advance(*log_, model::Position(5)));
    ASSERT_TRUE(index->advance(*log_, model::Position(4'095)));
    ASSERT_TRUE(index->advance(*log_, model::Position(4'096)));
    ASSERT_TRUE(index->advance(*log_, model::Position(4'100)));
    EXPECT_EQ(index->through().value(), 4'100U);
  }
  {
    const auto index = open_index();
    EXPECT_EQ(index->replaced_because(), "");
    EXPECT_EQ(index->through().value(), 4'100U);
    fill(*index, 700);
  }
  EXPECT_EQ(contents(), at_once);
}

// The tree over the whole log, from its definition.
proof::Hash root_of(const events::RocksLog& log, std::uint64_t size) {
  proof::Frontier frontier;
  auto cursor = log.read(model::Position(1));
  while (frontier.size() < size) {
    const auto event = (*cursor)->next();
    frontier.append(proof::event_leaf_hash((**event).raw, log.secret()));
  }
  return frontier.root();
}

TEST_F(IndexTest, ItsTilesAreThoseOfTheLog) {
  append(1'000);
  fill(*open_index(), 300);
  append(1'500);
  {
    const auto index = open_index();  // goes on with the tree that is there
    fill(*index, 700);
  }
  const TempFolder scratch;
  const auto reader = Reader::open(folder_ / "index", *log_, log_->secret(), scratch / "s");
  ASSERT_TRUE(reader) << reader.error().message;
  ASSERT_EQ((*reader)->tree_size(), 2'501U);
  for (const std::uint64_t size : {1, 255, 256, 1'000, 2'500, 2'501}) {
    const auto root = proof::tree_root((*reader)->tiles(), size);
    ASSERT_TRUE(root) << root.error().message;
    EXPECT_EQ(*root, root_of(*log_, size)) << size;
  }
  EXPECT_FALSE(proof::tree_root((*reader)->tiles(), 2'502));
}

// Built anew, taken up in the middle of what is gone, or there already: the tree is the same.
TEST_F(IndexTest, OfATrimmedLogTheTreeIsThatOfTheWholeOne) {
  append(5'999);
  append(events::ListStarted{"Node"});  // 6001
  fill(*open_index());
  events::testing::trim_log(*log_, 5'121);
  ASSERT_EQ(log_->end().value(), 6'003U);
  fill(*open_index());
  proof::Hash root{};
  const auto tree_is_whole = [&](const char* how) {
    const TempFolder scratch;
    const auto reader = Reader::open(folder_ / "index", *log_, log_->secret(), scratch / "s");
    ASSERT_TRUE(reader) << reader.error().message;
    ASSERT_EQ((*reader)->tree_size(), 6'002U) << how;
    const auto now = proof::tree_root((*reader)->tiles(), 6'002);
    ASSERT_TRUE(now) << now.error().message;
    if (root == proof::Hash{}) root = *now;
    EXPECT_EQ(*now, root) << how;
    for (const std::uint64_t leaf : {0, 255, 256, 5'119, 5'120, 6'001}) {
      const auto path = proof::inclusion_path((*reader)->tiles(), leaf, 6'002);
      ASSERT_TRUE(path) << how << ", " << leaf;
      const auto hashes = (*reader)->tiles().read({0, leaf / 256}, leaf % 256 + 1);
      ASSERT_TRUE(hashes);
      const proof::Hash hash = proof::as_hash(std::string_view(*hashes).substr(leaf % 256 * 32));
      EXPECT_TRUE(proof::inclusion_holds(hash, leaf, 6'002, *path, root)) << how << ", " << leaf;
    }
    for (const std::uint64_t old : {1, 300, 5'120, 5'500})
      EXPECT_TRUE(proof::consistency_proof((*reader)->tiles(), old, 6'002)) << how << ", " << old;
  };
  tree_is_whole("it went on");
  const auto streams = found("source/Node");
  EXPECT_EQ(streams, std::vector<std::uint64_t>{6'001});

  std::filesystem::remove_all(folder_ / "index");
  fill(*open_index());
  tree_is_whole("built anew");
  EXPECT_EQ(found("source/Node"), streams);

  std::filesystem::remove_all(folder_ / "index");
  for (const std::uint64_t through : {100, 300, 5'000, 5'120, 5'130}) {
    const auto index = open_index();
    ASSERT_EQ(index->replaced_because(), "");
    while (index->through().value() < through)
      ASSERT_TRUE(index->advance(*log_, model::Position(through)));
    EXPECT_EQ(index->through().value(), through);
  }
  fill(*open_index(), 700);
  tree_is_whole("in pieces");
  EXPECT_EQ(found("source/Node"), streams);
}

TEST_F(IndexTest, OneBatchIsBounded) {
  append(2 * kEventsPerBatchMax);
  const auto index = open_index();
  ASSERT_TRUE(index->advance(*log_, log_->synced()));
  EXPECT_EQ(index->through().value(), kEventsPerBatchMax);
}

TEST_F(IndexTest, WhatIsNotSyncedIsNotCountedAsSynced) {
  append(10);
  append(5, events::Durability::kBuffered);
  EXPECT_EQ(log_->synced().value(), 11U);
  EXPECT_EQ(log_->end().value(), 17U);
  open_log();
  EXPECT_EQ(log_->synced().value(), 11U);
  append(1);
  EXPECT_EQ(log_->synced().value(), 17U);
}

TEST_F(IndexTest, AReaderSeesWhatWasWrittenSince) {
  append(events::ListStarted{"Node"});
  const auto index = open_index();
  fill(*index);
  const TempFolder scratch;
  auto reader = Reader::open(folder_ / "index", *log_, log_->secret(), scratch / "s");
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ((*reader)->through().value(), 2U);
  append(events::ListStarted{"Node"});
  fill(*index);
  ASSERT_TRUE((*reader)->refresh());
  EXPECT_EQ((*reader)->through().value(), 3U);
  const auto both = (*reader)->positions(term_of("source/Node"), model::Position(1));
  ASSERT_TRUE(both);
  EXPECT_EQ(both->size(), 2U);
}

TEST_F(IndexTest, AReaderOfNoneOfAnotherAndOfADamagedOneIsRefused) {
  const TempFolder scratch;
  const auto refused = [&](const events::EventLog& log) {
    const auto reader = Reader::open(folder_ / "index", log, log_->secret(), scratch / "s");
    return reader ? std::string("opened") : std::string(kind_name(reader.error().kind));
  };
  EXPECT_EQ(refused(*log_), kind_name(base::Kind::kGone));
  fill(*open_index());
  EXPECT_EQ(refused(*log_), "opened");
  EXPECT_EQ(refused(events::MemoryLog(model::LogId("other"))), kind_name(base::Kind::kInvalid));
  std::filesystem::remove(events::testing::files_with(folder_ / "index", ".log").at(0));
  std::filesystem::remove(folder_ / "index/CURRENT");
  EXPECT_EQ(refused(*log_), kind_name(base::Kind::kGone));
}

struct Mishap {
  const char* name;
  std::function<void(const std::string& folder)> strike;
  const char* why;  // in the reason; empty: there was no index to speak of
};

class IndexMishapTest : public IndexTest, public ::testing::WithParamInterface<Mishap> {};

TEST_P(IndexMishapTest, EndsInTheSameIndexBuiltAgain) {
  append(9'000);
  fill(*open_index());
  const auto before = contents();
  GetParam().strike(folder_ / "index");
  {
    const auto index = open_index();
    ASSERT_NE(index, nullptr);
    EXPECT_EQ(index->through().value(), 0U);
    EXPECT_NE(index->replaced_because().find(GetParam().why), std::string::npos)
        << index->replaced_because();
    EXPECT_EQ(index->replaced_because().empty(), *GetParam().why == '\0');
    fill(*index);
  }
  EXPECT_EQ(contents(), before);
}

void change_meta(const std::string& folder, std::string_view key, std::string_view value) {
  auto db = events::RocksDb::open(folder, events::Recovery::kUpToDamage, events::Compactions::kOn,
                                  events::Contents::kIndex);
  ASSERT_TRUE(db);
  (*db)->put(events::Family::kMeta, key, value, {});
  ASSERT_TRUE((*db)->write(events::RocksDb::Sync::kYes));
}

void flip_in_table(const std::string& folder) {
  {
    auto db = events::RocksDb::open(folder, events::Recovery::kUpToDamage, events::Compactions::kOn,
                                    events::Contents::kIndex);
    ASSERT_TRUE(db);
    ASSERT_TRUE((*db)->flush(events::Family::kStreams));
  }
  std::string largest;
  for (const std::string& file : events::testing::files_with(folder, ".sst"))
    if (largest.empty() || std::filesystem::file_size(file) > std::filesystem::file_size(largest))
      largest = file;
  ASSERT_FALSE(largest.empty());
  std::string bytes = events::testing::read_file(largest);
  bytes[20] = static_cast<char>(bytes[20] ^ 4);
  events::testing::write_file(largest, bytes);
}

INSTANTIATE_TEST_SUITE_P(
    All, IndexMishapTest,
    ::testing::Values(
        Mishap{"Deleted", [](const std::string& f) { std::filesystem::remove_all(f); }, ""},
        Mishap{"AnotherLog", [](const std::string& f) { change_meta(f, "log", "other"); },
               "another log"},
        Mishap{"AnotherFormat", [](const std::string& f) { change_meta(f, "format", "0"); },
               "format"},
        Mishap{"Ahead",
               [](const std::string& f) {
                 change_meta(f, "through", events::PositionKey(model::Position(9'002)).view());
               },
               "up to 9001 only"},
        Mishap{"NoMark", [](const std::string& f) { change_meta(f, "through", ""); }, "through"},
        Mishap{"FlippedBit", flip_in_table, "orruption"},
        Mishap{"NoManifest",
               [](const std::string& f) {
                 for (const auto& entry : std::filesystem::directory_iterator(f))
                   if (entry.path().filename().string().starts_with("MANIFEST"))
                     std::filesystem::remove(entry.path());
               },
               "MANIFEST"}),
    [](const auto& tested) { return tested.param.name; });

// Written in small steps, its tiles need a new write-ahead log now and then. Whichever of them is
// lost: up to where an opening says that it reaches, everything is found.
TEST_F(IndexTest, WithoutAWriteAheadLogItReachesLessFar) {
  fill(*open_index());  // it is an index by then, whatever is lost
  std::vector<events::Record> records;
  for (int i = 0; i < 700; ++i)
    records.push_back(events::make_record(events::ListStarted{"kind-" + std::to_string(i)}));
  ASSERT_TRUE(log_->append(records, events::Durability::kSynced));
  const std::uint64_t last = log_->synced().value();
  fill(*open_index(), 1);
  const auto logs = events::testing::files_with(folder_ / "index", ".log");
  ASSERT_FALSE(logs.empty());
  for (const std::string& lost : logs) {
    const std::string bytes = events::testing::read_file(lost);
    std::filesystem::remove(lost);
    const TempFolder scratch;
    const auto reader = Reader::open(folder_ / "index", *log_, log_->secret(), scratch / "s");
    ASSERT_TRUE(reader) << reader.error().message;
    // One that is new when tables were just made holds nothing yet.
    EXPECT_LT((*reader)->through().value(), last + (bytes.empty() ? 1 : 0)) << lost;
    for (std::uint64_t at = 2; at <= (*reader)->through().value(); ++at) {
      const auto found = (*reader)->positions(term_of("source/kind-" + std::to_string(at - 2)),
                                              model::Position(1));
      ASSERT_TRUE(found) << found.error().message;
      ASSERT_EQ(*found, std::vector<model::Position>{model::Position(at)}) << lost;
    }
    events::testing::write_file(lost, bytes);
  }
}

// A bit of its write-ahead log: what is before it stays, the rest is written again.
TEST_F(IndexTest, ADamagedTailIsWrittenAgain) {
  append(9'000);
  fill(*open_index(), 1'000);
  const auto before = contents();
  std::filesystem::remove_all(folder_ / "index");
  fill(*open_index(), 1'000);
  const std::string wal = events::testing::files_with(folder_ / "index", ".log").at(0);
  std::string bytes = events::testing::read_file(wal);
  ASSERT_GT(bytes.size(), 1'000U);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  events::testing::write_file(wal, bytes);
  {
    const auto index = open_index();
    EXPECT_LT(index->through(), log_->synced());
    fill(*index);
  }
  EXPECT_EQ(contents(), before);
}

}  // namespace
}  // namespace karst::index
