// Logs whose beginning was trimmed: what they answer, that they open whatever a crash left, and
// that damage is told from trimming.
#include <set>

#include "events/archive.h"
#include "events/memory_log.h"
#include "tests/events/trim_fixture.h"

namespace karst::events::testing {
namespace {

constexpr std::uint64_t kEvents = 1'000;
constexpr std::uint64_t kFirstKept = 2 * kTrimTile + 1;

class TrimmedLog : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (GetParam() == std::string("memory")) {
      auto log = std::make_unique<MemoryLog>(model::LogId("abc"));
      ASSERT_TRUE(append_numbered(*log, kEvents - 1, Durability::kSynced));
      log->trim(baseline_before(kFirstKept));
      log_ = std::move(log);
      return;
    }
    auto log = RocksLog::open(options_for(folder_ / "log"));
    ASSERT_TRUE(log) << log.error().message;
    ASSERT_TRUE(append_numbered(**log, kEvents - 2, Durability::kSynced));
    ASSERT_NO_FATAL_FAILURE(trim_log(**log, kFirstKept));
    log_ = std::move(*log);
    if (GetParam() == std::string("reopened")) open_again(folder_ / "log", log_);
  }
  TempFolder folder_;
  std::unique_ptr<EventLog> log_;
};

TEST_P(TrimmedLog, BeginsWhereItWasTrimmed) {
  EXPECT_EQ(log_->first().value(), kFirstKept);
  EXPECT_EQ(log_->end().value(), kEvents + 1);
  for (std::uint64_t from = kFirstKept; from <= kEvents + 1; ++from)
    EXPECT_EQ(*read_all(*log_, from), kEvents);
}

TEST_P(TrimmedLog, WhatIsGoneIsAnErrorThatSaysSo) {
  for (const std::uint64_t from : {std::uint64_t{1}, kTrimTile, kFirstKept - 1}) {
    const auto cursor = log_->read(model::Position(from));
    ASSERT_FALSE(cursor) << from;
    EXPECT_EQ(cursor.error().kind, base::Kind::kInvalid);
    EXPECT_NE(cursor.error().message.find("positions 1 to 512 were trimmed"), std::string::npos)
        << cursor.error().message;
    if (GetParam() == std::string("memory")) continue;
    for (const char* part : {"2027-01-15T08:00:00.000Z", "the archive /archive", "log restore"})
      EXPECT_NE(cursor.error().message.find(part), std::string::npos) << cursor.error().message;
  }
}

TEST_P(TrimmedLog, KeepsTheBaseline) {
  const auto baseline = log_->baseline();
  ASSERT_TRUE(baseline) << baseline.error().message;
  ASSERT_TRUE(*baseline);
  EXPECT_EQ((*baseline)->position.value(), kFirstKept - 1);
  EXPECT_EQ((*baseline)->projection, "1");
  EXPECT_EQ((*baseline)->decision_version, "decisions-1");
  EXPECT_EQ((*baseline)->bytes, std::string(100, 's'));
}

TEST_P(TrimmedLog, GoesOn) {
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(append_numbered(*log_, 10, Durability::kSynced));
  EXPECT_EQ(*read_all(*log_, kFirstKept), kEvents + 30);
  EXPECT_EQ(log_->first().value(), kFirstKept);
}

INSTANTIATE_TEST_SUITE_P(Logs, TrimmedLog, ::testing::Values("memory", "rocks", "reopened"),
                         [](const auto& test) { return std::string(test.param); });

std::unique_ptr<RocksLog> opened(const std::string& folder) {
  auto log = RocksLog::open(options_for(folder));
  EXPECT_TRUE(log) << log.error().message;
  return log ? std::move(*log) : nullptr;
}

std::unique_ptr<RocksLog> filled(const std::string& folder, std::uint64_t events = kEvents) {
  auto log = opened(folder);
  EXPECT_TRUE(append_numbered(*log, events - 1, Durability::kSynced));
  return log;
}

TEST(TrimmedRocksLog, ItsLeavesAreThoseOfTheEventsThatWent) {
  TempFolder folder;
  auto log = filled(folder / "log");
  std::vector<std::string> before;
  auto cursor = log->read(model::Position(1));
  for (std::uint64_t i = 1; i < kFirstKept; ++i)
    before.emplace_back(
        proof::as_text(proof::event_leaf_hash((**(*cursor)->next()).raw, log->secret())));
  EXPECT_FALSE(log->trimmed_leaves(0)) << "it is at hand";
  cursor->reset();
  trim_log(*log, kFirstKept);
  log.reset();
  log = opened(folder / "log");
  for (std::uint64_t tile = 0; tile < 2; ++tile) {
    const auto leaves = log->trimmed_leaves(tile);
    ASSERT_TRUE(leaves) << leaves.error().message;
    for (std::uint64_t i = 0; i < kTrimTile; ++i)
      EXPECT_EQ(leaves->substr(i * 32, 32), before[tile * kTrimTile + i]);
  }
  const auto none = log->trimmed_leaves(2);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, base::Kind::kGone);
}

TEST(TrimmedRocksLog, IsTrimmedAgainAndKeepsOneBaseline) {
  TempFolder folder;
  auto log = filled(folder / "log");
  for (const std::uint64_t first : {257, 513, 769}) {
    ASSERT_NO_FATAL_FAILURE(trim_log(*log, first, {}, 3 << 20));
    ASSERT_TRUE(log->compact_trimmed());
    EXPECT_EQ(log->first().value(), first);
  }
  const std::uint64_t end = log->end().value();
  log.reset();
  std::set<std::string> baselines;
  {
    auto db = RocksDb::open_read_only(folder / "log", Recovery::kWholeOnly);
    ASSERT_TRUE(db) << db.error().message;
    const auto it = (*db)->iterate(Family::kMeta);
    for (it->seek("baseline"); it->valid() && it->key().starts_with("baseline"); it->next())
      baselines.emplace(it->key().substr(0, 16));
  }
  EXPECT_EQ(baselines.size(), 1U);
  log = opened(folder / "log");
  EXPECT_EQ(*read_all(*log, 769), end - 1);
  EXPECT_EQ((*log->baseline())->bytes.size(), std::size_t{3} << 20);
}

// What a kill at each step leaves: the folder as it is then. Every one opens, has every event that
// it should, and can be trimmed (again).
TEST(TrimmedRocksLog, OpensWhateverACrashLeft) {
  TempFolder folder;
  auto log = filled(folder / "log");
  std::vector<std::string> steps;
  trim_log(*log, kFirstKept, [&](const std::string& step) {
    copy_folder(folder / "log", folder / step);
    steps.push_back(step);
  });
  ASSERT_TRUE(log->compact_trimmed());
  copy_folder(folder / "log", folder / "compacted");
  steps.push_back("compacted");
  ASSERT_EQ(steps.size(), 5U);
  for (const std::string& step : steps) {
    auto left = opened(folder / step);
    ASSERT_NE(left, nullptr) << step;
    const bool gone = step == "trimmed" || step == "compacted";
    EXPECT_EQ(left->first().value(), gone ? kFirstKept : 1) << step;
    const std::uint64_t last = left->end().value() - 1;
    EXPECT_EQ(last, kEvents + (gone || step == "told" ? 1 : 0)) << step;
    EXPECT_EQ(*read_all(*left, left->first().value()), last) << step;
    EXPECT_EQ((*left->baseline()).has_value(), gone) << step;
    ASSERT_NO_FATAL_FAILURE(trim_log(*left, gone ? kFirstKept + kTrimTile : kFirstKept)) << step;
    left.reset();
    left = opened(folder / step);
    EXPECT_EQ(left->first().value(), gone ? kFirstKept + kTrimTile : kFirstKept) << step;
    EXPECT_EQ(*read_all(*left, left->first().value()), last + 1) << step;
  }
}

TEST(TrimmedRocksLog, NothingGoesThatTheLogWasNotToldOf) {
  TempFolder folder;
  auto log = filled(folder / "log");
  keep_leaves_before(*log, kFirstKept);
  auto note = log->keep_baseline(baseline_before(kFirstKept));
  ASSERT_TRUE(note);
  LogTrimmed wrong = told_of(*note);
  wrong.digest[0] = wrong.digest[0] == '0' ? '1' : '0';
  Record record = make_record(wrong);
  const auto told = log->append({&record, 1}, Durability::kSynced);
  ASSERT_TRUE(told);
  for (const model::Position event : {*told, model::Position(kFirstKept + 5)}) {
    const auto trimmed = log->trim({*note, event, base::WallTime(1), "/archive"});
    ASSERT_FALSE(trimmed);
    EXPECT_EQ(trimmed.error().kind, base::Kind::kInvalid);
  }
  EXPECT_EQ(log->first().value(), 1U);
  EXPECT_EQ(*read_all(*log), kEvents + 1);
}

TEST(TrimmedRocksLog, OldSnapshotsGoWithTheEvents) {
  TempFolder folder;
  auto log = filled(folder / "log");
  for (const std::uint64_t at : {100, 512, 700})
    ASSERT_TRUE(log->snapshots().put("1", {model::Position(at), "state"}));
  trim_log(*log, kFirstKept);
  for (const auto& [until, found] : {std::pair<int, int>{511, 0}, {512, 512}, {999, 700}}) {
    const auto latest = log->snapshots().latest("1", model::Position(until));
    ASSERT_TRUE(latest);
    EXPECT_EQ(*latest ? (*latest)->position.value() : 0, found);
  }
}

TEST(TrimmedRocksLog, AReaderSeesItGo) {
  TempFolder folder;
  auto log = filled(folder / "log");
  auto reader = RocksLog::open_reader(folder / "log", folder / "scratch");
  ASSERT_TRUE(reader) << reader.error().message;
  auto cursor = (*reader)->read(model::Position(1));
  ASSERT_TRUE(cursor);
  ASSERT_TRUE((*cursor)->next());
  trim_log(*log, kFirstKept);
  ASSERT_TRUE(log->compact_trimmed());
  // What was begun is read to its end.
  std::uint64_t last = 1;
  for (auto event = (*cursor)->next(); event && *event; event = (*cursor)->next())
    last = (*event)->envelope.position.value();
  EXPECT_EQ(last, kEvents);
  ASSERT_TRUE((*reader)->refresh());
  EXPECT_EQ((*reader)->first().value(), kFirstKept);
  EXPECT_EQ(*read_all(**reader, kFirstKept), kEvents + 1);
  ASSERT_TRUE((*reader)->trimmed());
  EXPECT_EQ((*reader)->trimmed()->archive, "/archive");

  const auto fresh = RocksLog::open_reader(folder / "log", folder / "scratch2");
  ASSERT_TRUE(fresh) << fresh.error().message;
  EXPECT_EQ(*read_all(**fresh, kFirstKept), kEvents + 1);
}

TEST(TrimmedRocksLog, ItsSpaceComesBack) {
  TempFolder folder;
  auto log = filled(folder / "log", 1);
  for (int i = 0; i < 40; ++i)
    ASSERT_TRUE(append_numbered(*log, kTrimTile, Durability::kSynced, 2'000));
  const std::uint64_t before = sizes_of(folder / "log").log_bytes;
  trim_log(*log, 39 * kTrimTile + 1);
  ASSERT_TRUE(log->compact_trimmed());
  EXPECT_LT(sizes_of(folder / "log").log_bytes, before / 4) << "of " << before;
}

struct Spoiling {
  const char* name;
  std::function<void(RocksDb& db)> spoil;
  const char* part;  // of the error
};

class SpoiledTrim : public ::testing::TestWithParam<Spoiling> {};

void change(RocksDb& db, const RocksChange& row) {
  ASSERT_TRUE(db.apply({&row, 1}, RocksDb::Sync::kYes));
}

// Trimming is no cover for a loss.
TEST_P(SpoiledTrim, IsRefused) {
  TempFolder folder;
  {
    auto log = filled(folder / "log");
    trim_log(*log, kFirstKept);
  }
  {
    auto db = RocksDb::open(folder / "log", Recovery::kTornTail, Compactions::kOn);
    ASSERT_TRUE(db);
    GetParam().spoil(**db);
  }
  auto log = RocksLog::open(options_for(folder / "log"));
  base::Error error;
  if (log) {
    const auto baseline = (*log)->baseline();
    ASSERT_FALSE(baseline) << "nothing is wrong with it";
    error = baseline.error();
  } else {
    error = log.error();
  }
  EXPECT_EQ(error.kind, base::Kind::kCorrupt) << error.message;
  EXPECT_NE(error.message.find(GetParam().part), std::string::npos) << error.message;
}

using Kind = RocksChange::Kind;
std::string key_of(std::uint64_t position) {
  return std::string(PositionKey(model::Position(position)).view());
}

INSTANTIATE_TEST_SUITE_P(
    All, SpoiledTrim,
    ::testing::Values(
        Spoiling{"MarkIsLost",
                 [](RocksDb& db) { change(db, {Kind::kRemove, Family::kMeta, "trimmed", {}}); },
                 "the first damaged position is 1: it is missing"},
        Spoiling{"MarkIsNoMark",
                 [](RocksDb& db) { change(db, {Kind::kPut, Family::kMeta, "trimmed", "x"}); },
                 "the first damaged position is 1: it is missing"},
        Spoiling{"FirstEventIsLost",
                 [](RocksDb& db) { change(db, {Kind::kRemove, Family::kEvents, key_of(513), {}}); },
                 "the first damaged position is 513: it is missing"},
        Spoiling{"MoreIsLost",
                 [](RocksDb& db) {
                   change(db, {Kind::kRemoveRange, Family::kEvents, key_of(1), key_of(769)});
                 },
                 "the first damaged position is 513: it is missing"},
        Spoiling{"OneBetweenIsLost",
                 [](RocksDb& db) { change(db, {Kind::kRemove, Family::kEvents, key_of(700), {}}); },
                 "the first damaged position is 700: it is missing"},
        Spoiling{"BaselineIsAnother",
                 [](RocksDb& db) {
                   change(db, {Kind::kPut, Family::kMeta,
                               "baseline" + key_of(512) + std::string(4, '\0'), "another"});
                 },
                 "SHA-256"},
        Spoiling{"BaselineIsLost",
                 [](RocksDb& db) {
                   change(db, {Kind::kRemoveRange, Family::kMeta, "baseline", "baselinf"});
                 },
                 "a piece of it is missing"}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST(TrimmedRocksLog, AnArchiveGoesOnWhereItStood) {
  TempFolder folder;
  auto log = filled(folder / "log");
  auto archive = Archive::open(folder / "archive", {log->id(), log->secret()});
  ASSERT_TRUE(archive);
  ASSERT_TRUE(archive->seal_next(*log, model::Position(600)));
  trim_log(*log, kFirstKept);
  const auto sealed = archive->seal_next(*log, model::Position(log->end().value() - 1));
  ASSERT_TRUE(sealed && *sealed) << sealed.error().message;
  EXPECT_EQ((*sealed)->first.value(), 601U);
  EXPECT_EQ(archive->end(), log->end());

  auto other = Archive::open(folder / "other", {log->id(), log->secret()});
  ASSERT_TRUE(other);
  const auto refused = other->seal_next(*log, model::Position(600));
  ASSERT_FALSE(refused) << "it would have no beginning";
  EXPECT_NE(refused.error().message.find("/archive has them"), std::string::npos)
      << refused.error().message;
}

}  // namespace
}  // namespace karst::events::testing
