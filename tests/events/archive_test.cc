// Archives: what is sealed comes back bit for bit, and what is not as it was sealed is refused.
#include "events/archive.h"

#include "tests/events/fill.h"
#include "tests/events/trim_fixture.h"

namespace karst::events::testing {
namespace {

std::unique_ptr<RocksLog> log_of(const std::string& folder, std::size_t events) {
  auto log = RocksLog::open(options_for(folder));
  EXPECT_TRUE(log) << log.error().message;
  std::vector<Record> records;
  const std::vector<Body> bodies = full_bodies();
  for (std::size_t i = 1; i < events; ++i) {
    records.push_back(make_record(bodies[i % bodies.size()]));
    records.back().log_time = base::LogTime(static_cast<std::int64_t>(i));
  }
  EXPECT_TRUE((*log)->append(records, Durability::kSynced));
  return std::move(*log);
}

std::vector<std::string> stored(const EventLog& log) {
  std::vector<std::string> values;
  auto cursor = log.read(model::Position(1));
  for (auto event = (*cursor)->next(); event && *event; event = (*cursor)->next())
    values.emplace_back((*event)->raw);
  return values;
}

std::size_t seal_all(Archive& archive, const EventLog& log) {
  std::size_t count = 0;
  for (;; ++count) {
    auto sealed = archive.seal_next(log, model::Position(log.end().value() - 1));
    EXPECT_TRUE(sealed) << sealed.error().message;
    if (!sealed || !*sealed) return count;
  }
}

TEST(Archive, WhatWasStoredComesBackBitForBit) {
  TempFolder folder;
  const auto log = log_of(folder / "log", kSegmentEventsMax + 500);
  auto archive = Archive::open(folder / "archive", {log->id(), log->secret()});
  ASSERT_TRUE(archive) << archive.error().message;
  EXPECT_EQ(seal_all(*archive, *log), 2U);
  EXPECT_EQ(archive->end(), log->end());

  auto again = Archive::open_existing(folder / "archive");
  ASSERT_TRUE(again) << again.error().message;
  auto restored = RocksLog::begin_restored(folder / "restored", again->identity());
  ASSERT_TRUE(restored) << restored.error().message;
  std::vector<std::string> values;
  ASSERT_TRUE(each_archived(*again, [&](const Event& event) {
    values.emplace_back(event.raw);
    return base::Status();
  }));
  ASSERT_TRUE((*restored)->append_stored(values));
  ASSERT_TRUE((*restored)->end_restored());
  restored->reset();
  auto reopened = RocksLog::open(options_for(folder / "restored"));
  ASSERT_TRUE(reopened) << reopened.error().message;
  EXPECT_EQ((*reopened)->id(), log->id());
  EXPECT_EQ((*reopened)->secret(), log->secret());
  EXPECT_EQ(stored(**reopened), stored(*log));
}

TEST(Archive, GoesOnWhereItEnded) {
  TempFolder folder;
  const auto log = log_of(folder / "log", 50);
  {
    auto archive = Archive::open(folder / "archive", {log->id(), log->secret()});
    ASSERT_TRUE(archive);
    auto first = archive->seal_next(*log, model::Position(20));
    ASSERT_TRUE(first && *first);
    EXPECT_EQ((*first)->file, "00000000000000000001-00000000000000000020.seg");
    auto nothing = archive->seal_next(*log, model::Position(20));
    ASSERT_TRUE(nothing);
    EXPECT_FALSE(*nothing);
  }
  write_file(folder / "archive/00000000000000000021-00000000000000000050.seg.new", "cut short");
  auto archive = Archive::open(folder / "archive", {log->id(), log->secret()});
  ASSERT_TRUE(archive);
  EXPECT_EQ(archive->end(), model::Position(21));
  EXPECT_EQ(seal_all(*archive, *log), 1U);
  std::uint64_t count = 0;
  EXPECT_TRUE(each_archived(*archive, [&](const Event&) {
    ++count;
    return base::Status();
  }));
  EXPECT_EQ(count, 50U);
}

// The daemon seals what is full, `log archive` all there is, both into one folder.
TEST(Archive, TakesOverWhatAnotherProcessSealed) {
  TempFolder folder;
  const auto log = log_of(folder / "log", 900);
  auto daemon = Archive::open(folder / "archive", {log->id(), log->secret()});
  auto command = Archive::open(folder / "archive", {log->id(), log->secret()});
  ASSERT_TRUE(daemon && command);
  ASSERT_TRUE(command->seal_next(*log, model::Position(300)));
  auto sealed = daemon->seal_next(*log, model::Position(800));
  ASSERT_TRUE(sealed) << sealed.error().message;
  ASSERT_TRUE(*sealed);
  EXPECT_EQ((*sealed)->first.value(), 301U);
  EXPECT_EQ(daemon->segments().size(), 2U);
  sealed = command->seal_next(*log, model::Position(700));
  ASSERT_TRUE(sealed) << sealed.error().message;
  EXPECT_FALSE(*sealed);  // it is there already
  EXPECT_EQ(seal_all(*command, *log), 1U);
  const auto again = Archive::open_existing(folder / "archive");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->end(), log->end());
}

// What two processes left that did not know of each other: everything is there, some of it twice.
TEST(Archive, ASegmentThatAnotherCoversIsPassedOver) {
  TempFolder folder;
  const auto log = log_of(folder / "log", 900);
  std::filesystem::path whole;
  {
    auto archive = Archive::open(folder / "archive", {log->id(), log->secret()});
    const auto sealed = archive->seal_next(*log, model::Position(800));
    ASSERT_TRUE(sealed && *sealed);
    whole = std::filesystem::path(folder / "archive") / (*sealed)->file;
    std::filesystem::rename(whole, folder / "aside");
  }
  {
    auto archive = Archive::open(folder / "archive", {log->id(), log->secret()});
    ASSERT_TRUE(archive->seal_next(*log, model::Position(300)));
    ASSERT_TRUE(archive->seal_next(*log, model::Position(500)));
  }
  std::filesystem::rename(folder / "aside", whole);
  auto archive = Archive::open_existing(folder / "archive");
  ASSERT_TRUE(archive) << archive.error().message;
  EXPECT_EQ(archive->segments().size(), 1U);
  EXPECT_EQ(seal_all(*archive, *log), 1U);
  std::vector<std::string> values;
  ASSERT_TRUE(each_archived(*archive, [&](const Event& event) {
    values.emplace_back(event.raw);
    return base::Status();
  }));
  EXPECT_EQ(values, stored(*log));
}

TEST(Archive, RefusesWhatIsNotItsOwn) {
  TempFolder folder;
  const auto log = log_of(folder / "log", 60), other = log_of(folder / "other", 5);
  auto archive = Archive::open(folder / "archive", {log->id(), log->secret()});
  ASSERT_TRUE(archive);
  ASSERT_TRUE(archive->seal_next(*log, model::Position(20)));
  ASSERT_TRUE(archive->seal_next(*log, model::Position(40)));
  ASSERT_TRUE(archive->seal_next(*log, model::Position(60)));

  const auto foreign = Archive::open(folder / "archive", {other->id(), other->secret()});
  ASSERT_FALSE(foreign);
  EXPECT_NE(foreign.error().message.find(log->id().str()), std::string::npos);
  const auto full = Archive::open(folder / "log", {log->id(), log->secret()});
  ASSERT_FALSE(full) << "a folder with other things in it";
  EXPECT_EQ(full.error().kind, base::Kind::kInvalid);
  EXPECT_FALSE(Archive::open_existing(folder / "nothing"));
  EXPECT_FALSE(RocksLog::begin_restored(folder / "log", archive->identity()));

  std::filesystem::remove(folder / ("archive/" + archive->segments()[1].file));
  const auto gap = Archive::open_existing(folder / "archive");
  ASSERT_FALSE(gap);
  EXPECT_EQ(gap.error().kind, base::Kind::kCorrupt);
  EXPECT_NE(gap.error().message.find("position 21"), std::string::npos) << gap.error().message;
}

// Two logs that went on from one copy have one id and two histories: an archive is that of one.
TEST(Archive, AFolderThatCannotBeIsAnError) {
  TempFolder folder;
  std::filesystem::create_symlink("loop", folder / "loop");
  write_file(folder / "file", "text");
  for (const std::string& path :
       {folder / "loop/x", folder / std::string(300, 'x'), folder / "file"}) {
    const auto archive = Archive::open(path, {model::LogId("log"), std::string(32, 's')});
    ASSERT_FALSE(archive) << path;
    EXPECT_NE(archive.error().message.find("expected a folder"), std::string::npos);
    EXPECT_NE(archive.error().message.find(path), std::string::npos) << archive.error().message;
  }
}

TEST(Archive, GoesOnWithItsOwnHistoryAlone) {
  TempFolder folder;
  const auto opened = [&](const std::string& name) {
    auto log = RocksLog::open(options_for(folder / name));
    EXPECT_TRUE(log) << log.error().message;
    return std::move(*log);
  };
  log_of(folder / "a", 1'000).reset();
  copy_folder(folder / "a", folder / "b");
  const auto a = opened("a"), b = opened("b");
  ASSERT_TRUE(append_numbered(*a, 600, Durability::kSynced));
  ASSERT_TRUE(append_numbered(*b, 500, Durability::kSynced, /*padding=*/20));
  const auto archive = [&] { return Archive::open(folder / "archive", {a->id(), a->secret()}); };
  ASSERT_TRUE(archive()->seal_next(*a, model::Position(900)));
  ASSERT_TRUE(archive()->seal_next(*b, model::Position(950))) << "both have that";
  ASSERT_TRUE(archive()->seal_next(*a, model::Position(1'200)));
  const auto refused = [&](const std::string& where) {
    auto again = archive();
    const auto sealed = again->seal_next(*b, model::Position(b->end().value() - 1));
    ASSERT_FALSE(sealed) << where;
    EXPECT_EQ(sealed.error().kind, base::Kind::kInvalid);
    EXPECT_NE(sealed.error().message.find(where), std::string::npos) << sealed.error().message;
    EXPECT_NE(sealed.error().message.find(folder / "archive"), std::string::npos);
    EXPECT_EQ(again->segments().size(), archive()->segments().size());
  };
  refused("at position 1001 ");
  trim_log(*b, 1'025);
  refused("at position 1025 ");
  trim_log(*b, 1'281);
  refused("at position 1200 ");
  ASSERT_TRUE(archive()->seal_next(*a, model::Position(1'600)));
  refused("holds the positions 1 to 1600 and the log ends at 1502");
  trim_log(*a, 1'537);
  auto own = archive();
  EXPECT_EQ(seal_all(*own, *a), 1U) << "and its log trimmed";
  EXPECT_EQ(own->end(), a->end());
}

// Of a segment that holds every event type: each bit flipped once, and each possible end.
TEST(Archive, EveryFlippedBitAndEveryTruncationIsFound) {
  TempFolder folder;
  const auto log = log_of(folder / "log", 12);
  auto archive = Archive::open(folder / "archive", {log->id(), log->secret()});
  ASSERT_TRUE(archive);
  ASSERT_EQ(seal_all(*archive, *log), 1U);
  const std::string path = folder / ("archive/" + archive->segments()[0].file);
  const std::string whole = read_file(path);
  const auto sound = [&](const std::string& bytes) {
    auto segment = Segment::open(bytes);
    if (!segment || segment->log() != log->id() || segment->first() != model::Position(1) ||
        segment->last() != model::Position(12))
      return false;
    const auto cursor = segment->read();
    for (;;) {
      auto event = cursor->next();
      if (!event) return false;
      if (!*event) return true;
    }
  };
  ASSERT_TRUE(sound(whole));
  std::size_t found = 0;
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
    EXPECT_FALSE(sound(flipped)) << "bit " << bit % 8 << " of byte " << bit / 8;
    ++found;
  }
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(sound(whole.substr(0, size))) << size << " bytes";
  RecordProperty("flips", static_cast<int>(found));
  EXPECT_GT(found, 8000U);

  std::string flipped = whole;
  flipped[whole.size() / 2] ^= 1;
  write_file(path, flipped);
  const auto status = each_archived(*archive, [](const Event&) { return base::Status(); });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, base::Kind::kCorrupt);
  EXPECT_NE(status.error().message.find(archive->segments()[0].file), std::string::npos);
}

}  // namespace
}  // namespace karst::events::testing
