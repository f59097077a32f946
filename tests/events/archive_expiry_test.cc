// What an archive keeps of what has expired in it: in force only with its mark, and damage to any
// of it is found.
#include "events/archive_expiry.h"

#include "events/archive.h"
#include "tests/events/trim_fixture.h"

namespace karst::events::testing {
namespace {

constexpr std::uint64_t kFirst = 2 * kTrimTile + 1;
constexpr std::uint64_t kSegment = kTrimTile;

class ArchiveExpiry : public ::testing::Test {
 protected:
  void SetUp() override {
    auto log = RocksLog::open(options_for(folder_ / "log"));
    ASSERT_TRUE(log) << log.error().message;
    log_ = std::move(*log);
    ASSERT_TRUE(append_numbered(*log_, 4 * kSegment - 1, Durability::kSynced));
    auto archive = Archive::open(at_, {log_->id(), log_->secret()});
    ASSERT_TRUE(archive) << archive.error().message;
    archive_.emplace(std::move(*archive));
    for (std::uint64_t last = kSegment; last <= 4 * kSegment; last += kSegment) seal(last);
  }
  void seal(std::uint64_t last) {
    const auto sealed = archive_->seal_next(*log_, model::Position(last));
    ASSERT_TRUE(sealed && *sealed);
  }
  // Steps 2 and 3: tile `from` to the one before `first`.
  BaselineNote keep(std::uint64_t first, std::uint64_t from = 0) {
    for (std::uint64_t tile = from; tile < (first - 1) / kTrimTile; ++tile)
      EXPECT_TRUE(archive_->keep_leaves(tile, leaves(tile)));
    const auto note = archive_->keep_baseline(baseline_before(first));
    EXPECT_TRUE(note);
    return *note;
  }
  static std::string leaves(std::uint64_t tile) {
    return std::string(kTileBytes, static_cast<char>('a' + tile));
  }
  // Step 4.
  TrimMark told(const BaselineNote& note) {
    Record record = make_record(expired_of(note, 2));
    const auto event = log_->append({&record, 1}, Durability::kSynced);
    EXPECT_TRUE(event);
    seal(event->value());
    return {note, *event, base::WallTime(1'800'000'000'000), {}, {}};
  }
  std::uint64_t first_read() const {
    const auto again = Archive::open_existing(at_);
    EXPECT_TRUE(again) << again.error().message;
    std::uint64_t first = 0, last = 0;
    EXPECT_TRUE(each_archived(*again, [&](const Event& event) {
      const std::uint64_t position = event.envelope.position.value();
      if (first == 0) first = position;
      EXPECT_TRUE(last == 0 || position == last + 1);
      last = position;
      return base::Status();
    }));
    EXPECT_EQ(last, again->end().value() - 1);
    EXPECT_EQ(first, again->first().value());
    return first;
  }

  TempFolder folder_;
  const std::string at_ = folder_ / "archive";
  std::unique_ptr<RocksLog> log_;
  std::optional<Archive> archive_;
};

TEST_F(ArchiveExpiry, BeginsLaterOnceTheMarkIsThere) {
  const BaselineNote note = keep(kFirst);
  EXPECT_EQ(first_read(), 1U) << "only kept";
  const TrimMark mark = told(note);
  EXPECT_EQ(first_read(), 1U) << "only told";
  std::vector<std::size_t> left;
  ASSERT_TRUE(archive_->expire(
      mark, [&] { EXPECT_EQ(first_read(), kFirst); },
      [&] {
        EXPECT_EQ(first_read(), kFirst);
        left.push_back(files_with(at_, ".seg").size());
      }));
  EXPECT_EQ(left, (std::vector<std::size_t>{4, 3}));
  EXPECT_EQ(first_read(), kFirst);
  const auto again = Archive::open_existing(at_);
  ASSERT_TRUE(again);
  ASSERT_TRUE(again->expired());
  EXPECT_EQ(again->expired()->event, mark.event);
  EXPECT_EQ(again->expired()->at, mark.at);
  EXPECT_EQ(again->expired()->baseline.decision_version, "decisions-1");
  EXPECT_EQ((*again->baseline())->bytes, std::string(100, 's'));
  std::uint64_t tiles = 0;
  ASSERT_TRUE(again->each_expired_tile([&](std::uint64_t tile, std::string_view hashes) {
    EXPECT_EQ(tile, tiles++);
    EXPECT_EQ(hashes, leaves(tile));
    return base::Status();
  }));
  EXPECT_EQ(tiles, 2U);
}

TEST_F(ArchiveExpiry, NothingGoesThatIsNotBoundOrNotKept) {
  const BaselineNote note = keep(kFirst);
  const auto early = archive_->expire({note, archive_->end(), base::WallTime(1), {}, {}});
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().kind, base::Kind::kInvalid) << early.error().message;
  const TrimMark mark = told(note);
  for (const char* kept : {".leaves", ".baseline"}) {
    const std::string file = files_with(at_, kept).back();
    const std::string bytes = read_file(file);
    std::filesystem::remove(file);
    const auto lost = archive_->expire(mark);
    ASSERT_FALSE(lost) << kept;
    EXPECT_EQ(lost.error().kind, base::Kind::kCorrupt) << lost.error().message;
    EXPECT_EQ(first_read(), 1U);
    write_file(file, bytes);
  }
  ASSERT_TRUE(archive_->expire(mark));
}

TEST_F(ArchiveExpiry, WhatAKillLeftIsSwept) {
  keep(kSegment + 1);
  ASSERT_TRUE(archive_->settle());
  EXPECT_TRUE(files_with(at_, ".leaves").empty());
  EXPECT_TRUE(files_with(at_, ".baseline").empty());
  EXPECT_EQ(files_with(at_, ".seg").size(), 4U);
  const TrimMark mark = told(keep(kFirst));
  ASSERT_TRUE(write_expired(at_, mark));  // and no more of it
  EXPECT_EQ(first_read(), kFirst);
  auto again = Archive::open_existing(at_);
  ASSERT_TRUE(again);
  EXPECT_EQ(files_with(at_, ".seg").size(), 5U);
  ASSERT_TRUE(again->settle());
  EXPECT_EQ(files_with(at_, ".seg").size(), 3U);
  EXPECT_EQ(files_with(at_, ".leaves").size(), 2U) << "these are in force";
  EXPECT_EQ(first_read(), kFirst);
}

// A copy that was brought up to date by a tool that deletes nothing.
TEST_F(ArchiveExpiry, LeavesMayOverlap) {
  const TrimMark mark = told(keep(kFirst));
  ASSERT_TRUE(archive_->expire(mark));
  ASSERT_TRUE(archive_->keep_leaves(0, leaves(0) + leaves(1) + leaves(2)));
  ASSERT_TRUE(archive_->keep_leaves(1, leaves(1) + leaves(2)));
  std::uint64_t tiles = 0;
  ASSERT_TRUE(archive_->each_expired_tile([&](std::uint64_t tile, std::string_view hashes) {
    EXPECT_EQ(tile, tiles++);
    EXPECT_EQ(hashes, leaves(tile));
    return base::Status();
  }));
  EXPECT_EQ(tiles, 2U);
}

TEST_F(ArchiveExpiry, WhatIsMissingIsNamed) {
  const TrimMark mark = told(keep(kFirst));
  ASSERT_TRUE(archive_->expire(mark));
  for (const std::string& name : files_with(at_, ".seg")) {
    const std::string bytes = read_file(name);
    std::filesystem::remove(name);
    const auto archive = Archive::open_existing(at_);
    ASSERT_FALSE(archive) << name;
    EXPECT_EQ(archive.error().kind, base::Kind::kCorrupt);
    EXPECT_NE(archive.error().message.find("missing"), std::string::npos);
    write_file(name, bytes);
  }
  std::filesystem::remove(at_ + "/expired");
  const auto archive = Archive::open_existing(at_);
  ASSERT_FALSE(archive) << "a lost mark is no whole archive";
  EXPECT_EQ(archive.error().kind, base::Kind::kCorrupt);
}

TEST_F(ArchiveExpiry, EveryFlippedBitOfTheMarkIsFound) {
  const TrimMark mark = told(keep(kFirst));
  ASSERT_TRUE(archive_->expire(mark));
  const std::string whole = read_file(at_ + "/expired");
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
    write_file(at_ + "/expired", flipped);
    EXPECT_FALSE(read_expired(at_)) << "bit " << bit % 8 << " of byte " << bit / 8;
  }
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write_file(at_ + "/expired", whole.substr(0, size));
    EXPECT_FALSE(read_expired(at_)) << size << " bytes";
  }
}

}  // namespace
}  // namespace karst::events::testing
