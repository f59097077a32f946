// What the log does when its files are not what it wrote.
#include "tests/events/damage_fixture.h"

namespace karst::events::testing {
namespace {

TEST_F(Damage, ATailTornAtAnyByteAboveTheMarkIsCut) {
  make(false);
  for (std::size_t size = synced_size_; size <= wal_bytes_.size(); ++size) {
    write_file(fresh() + "/" + wal_, wal_bytes_.substr(0, size));
    const bool whole = size == wal_bytes_.size();
    expect_goes_on(whole ? kSynced + 2 : kSynced, !whole && size > synced_size_,
                   "cut to " + std::to_string(size));
    if (HasFatalFailure()) return;
  }
}

TEST_F(Damage, ATailTornAtAnyByteBelowTheMarkIsRefusedAndLeftAsItIs) {
  make(false);
  const std::string log = fresh();
  // The last synced batch, byte by byte, then the rest in steps.
  const std::size_t batch = (synced_size_ - 100) / 5;
  for (std::size_t size = synced_size_ - 1; size > 0;
       size -= size > synced_size_ - batch ? 1 : std::min<std::size_t>(size, 61)) {
    write_file(log + "/" + wal_, wal_bytes_.substr(0, size));
    expect_corrupt(batch_at(size), "cut to " + std::to_string(size));
    ASSERT_EQ(read_file(log + "/" + wal_).size(), size) << "the evidence is gone";
  }
  write_file(log + "/" + wal_, wal_bytes_);
  expect_goes_on(kSynced + 2, false, "put back");
}

TEST_F(Damage, ABitFlippedBelowTheMarkIsRefused) {
  make(false);
  const std::string log = fresh();
  for (std::size_t at = 0; at < synced_size_; at += 23) {
    std::string bytes = wal_bytes_;
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << (at % 8)));
    write_file(log + "/" + wal_, bytes);
    expect_corrupt(batch_at(at), "bit flipped at " + std::to_string(at));
    ASSERT_EQ(read_file(log + "/" + wal_), bytes) << "the evidence is gone";
  }
}

TEST_F(Damage, ABitFlippedAboveTheMarkIsCut) {
  make(false);
  for (std::size_t at = synced_size_; at < wal_bytes_.size(); at += 3) {
    std::string bytes = wal_bytes_;
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << (at % 8)));
    write_file(fresh() + "/" + wal_, bytes);
    expect_read_up_to(kSynced + 1, "bit flipped at " + std::to_string(at));
    expect_goes_on(kSynced, true, "bit flipped at " + std::to_string(at));
    if (HasFatalFailure()) return;
  }
}

TEST_F(Damage, ABitFlippedAboveTheMarkWithMoreBehindItIsCutFromThere) {
  make(false);
  std::string bytes;
  {
    // Three more batches above the mark.
    auto log = RocksLog::open(options_for(folder_ / "live"));
    ASSERT_TRUE(log);
    const std::string wal = files_with(folder_ / "live", ".log").back();
    ASSERT_TRUE(append_numbered(**log, 1, Durability::kSynced));
    const std::size_t synced = std::filesystem::file_size(wal);
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(append_numbered(**log, 1, Durability::kBuffered));
    bytes = read_file(wal);
    bytes[synced + 20] = static_cast<char>(bytes[synced + 20] ^ 4);
    copy_folder(folder_ / "live", folder_ / "log");
    write_file((folder_ / "log") + "/" + std::string(std::filesystem::path(wal).filename()), bytes);
  }
  expect_goes_on(kSynced + 3, true, "first of three batches");
}

// The type of a frame with its third bit set is that of a recycled log: RocksDB's reader beside a
// writer would not come back from it, and its writer would take it for the end.
TEST_F(Damage, AFrameThatPassesForOneOfARecycledLogIsFound) {
  make(false);
  for (const std::size_t frame : batch_ends_) {
    std::string bytes = wal_bytes_;
    bytes[frame + 6] = static_cast<char>(bytes[frame + 6] ^ 4);
    write_file(fresh() + "/" + wal_, bytes);
    const std::string what = "type flipped at " + std::to_string(frame + 6);
    if (frame < synced_size_) {
      expect_corrupt(batch_at(frame), what);
      ASSERT_EQ(read_file((folder_ / "log") + "/" + wal_), bytes) << "the evidence is gone";
    } else {
      expect_read_up_to(kSynced + 1, what);
      expect_goes_on(kSynced, true, what);
    }
    if (HasFatalFailure()) return;
  }
}

TEST_F(Damage, ABitFlippedInATableIsNeverSilent) {
  make(true);
  const std::string log = fresh();
  const auto tables = files_with(log, ".sst");
  ASSERT_FALSE(tables.empty());
  int refused = 0;
  int samples = 0;
  const std::string events_table = log + "/" + this->events_table();
  for (const std::string& table : tables) {
    const std::string whole = read_file(table);
    for (std::size_t at = 0; at < whole.size(); at += 41) {
      fresh();
      std::string bytes = whole;
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << (at % 8)));
      write_file(table, bytes);
      const auto opened = RocksLog::open(options_for(log));
      // read_all checks every event that it does return.
      const auto read =
          opened ? read_all(**opened) : base::Result<std::uint64_t>(base::fail(opened.error()));
      ++samples;
      if (read) {
        EXPECT_EQ(*read, kSynced + 2) << "bit flipped at " << at;
        continue;
      }
      ++refused;
      EXPECT_EQ(read.error().kind, base::Kind::kCorrupt) << read.error().message;
      const std::uint64_t first = named(read.error().message);
      EXPECT_EQ(first, table == events_table ? 1U : 0U) << read.error().message;
      expect_read_up_to(first, "bit flipped at " + std::to_string(at) + " of " + table);
    }
  }
  // What is not refused lies in statistics that nothing reads.
  EXPECT_GT(refused * 3, samples) << refused << " of " << samples;
}

// One bit of each table makes RocksDB abort: the highest one of the number of restarts in the block
// of its properties, the last byte of that block.
TEST_F(Damage, APropertiesBlockThatClaimsAHashIndexEndsNoProcess) {
  make(true);
  const std::string log = fresh();
  int found = 0;
  for (const std::string& table : files_with(log, ".sst")) {
    const std::string whole = read_file(table);
    const std::size_t block = whole.find("rocksdb.block.based.table.index.type");
    ASSERT_NE(block, std::string::npos);
    for (std::size_t at = block; at < whole.size(); ++at) {
      // One restart at 0, and one restart: so ends a block that has few keys.
      if (whole.compare(at, 8, std::string("\0\0\0\0\1\0\0\0", 8)) != 0) continue;
      std::string bytes = whole;
      bytes[at + 7] = static_cast<char>(0x80);
      write_file(table, bytes);
      for (const bool writer : {true, false}) {
        const auto opened = writer ? RocksLog::open(options_for(log))
                                   : RocksLog::open_reader(log, folder_ / "scratch");
        const auto read =
            opened ? read_all(**opened) : base::Result<std::uint64_t>(base::fail(opened.error()));
        ASSERT_FALSE(read) << table << " at " << at;
        EXPECT_EQ(read.error().kind, base::Kind::kCorrupt);
        if (read.error().message.find("hash index") != std::string::npos) ++found;
      }
      write_file(table, whole);
    }
  }
  EXPECT_EQ(found, 2 * static_cast<int>(files_with(log, ".sst").size()));
}

TEST_F(Damage, AnOlderTableWithAFlippedBitIsFoundByReading) {
  make(true);
  const std::string log = fresh();
  const std::string table = files_with(log, ".sst").front();
  std::string bytes = read_file(table);
  bytes[30] = static_cast<char>(bytes[30] ^ 1);
  write_file(table, bytes);
  expect_corrupt(1, "first block");
}

TEST_F(Damage, EveryMissingFileIsRefusedOrNotNeeded) {
  make(true);
  int refused = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "made")) {
    const std::string name = entry.path().filename();
    std::filesystem::remove(fresh() + "/" + name);
    const bool needed = name == "CURRENT" || name == "high-water" ||
                        name.starts_with("MANIFEST-") || name.ends_with(".sst");
    if (needed) {
      const bool events_lost =
          name != "high-water" && (name == events_table() || !name.ends_with(".sst"));
      expect_corrupt(events_lost ? 1 : 0, "without " + name);
      ++refused;
    } else if (name == wal_) {
      expect_goes_on(kSynced, false, "without " + name);  // it held nothing below the mark
    } else {
      expect_goes_on(kSynced + 2, false, "without " + name);
    }
    if (HasFatalFailure()) return;
  }
  EXPECT_GE(refused, 4);
}

TEST_F(Damage, AMissingWriteAheadLogWithSyncedEventsIsRefused) {
  make(false);
  std::filesystem::remove(fresh() + "/" + wal_);
  expect_corrupt(1, "without " + wal_);
}

TEST_F(Damage, AnEmptyOrGarbledCurrentIsRefused) {
  make(true);
  for (const char* bytes : {"", "MANIFEST-999999\n", "garbage"}) {
    write_file(fresh() + "/CURRENT", bytes);
    expect_corrupt(1, std::string("CURRENT is ") + bytes);
  }
}

TEST_F(Damage, AFlippedBitInTheManifestIsNeverSilent) {
  make(true);
  std::string name;
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "made"))
    if (entry.path().filename().string().starts_with("MANIFEST-")) name = entry.path().filename();
  const std::string whole = read_file((folder_ / "made") + "/" + name);
  for (std::size_t at = 0; at < whole.size(); at += 13) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 16);
    write_file(fresh() + "/" + name, bytes);
    expect_corrupt(1, "manifest flipped at " + std::to_string(at));
  }
  // And the third bit of each frame's type, with which it passes for one of a recycled log.
  for (std::size_t at = 0; at + 7 <= whole.size();) {
    std::string bytes = whole;
    bytes[at + 6] = static_cast<char>(bytes[at + 6] ^ 4);
    write_file(fresh() + "/" + name, bytes);
    for (const bool writer : {true, false}) {
      const auto log = writer ? RocksLog::open(options_for(folder_ / "log"))
                              : RocksLog::open_reader(folder_ / "log", folder_ / "scratch");
      const auto read =
          log ? read_all(**log) : base::Result<std::uint64_t>(base::fail(log.error()));
      ASSERT_FALSE(read) << "nobody noticed the manifest's frame at " << at;
      EXPECT_EQ(read.error().kind, base::Kind::kCorrupt) << read.error().message;
    }
    EXPECT_EQ(read_file((folder_ / "log") + "/" + name), bytes) << "the evidence is gone";
    at += 7 + static_cast<unsigned char>(bytes[at + 4]) +
          256U * static_cast<unsigned char>(bytes[at + 5]);
  }
}

TEST_F(Damage, ADamagedMarkIsRefusedAndOneTornSlotIsNot) {
  make(true);
  const std::string whole = read_file((folder_ / "made") + "/high-water");
  for (const std::size_t at : {std::size_t{10}, std::size_t{4096 + 10}}) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    write_file(fresh() + "/high-water", bytes);
    expect_goes_on(kSynced + 2, false, "slot at " + std::to_string(at));
  }
  std::string bytes = whole;
  bytes[10] = static_cast<char>(bytes[10] ^ 1);
  bytes[4096 + 10] = static_cast<char>(bytes[4096 + 10] ^ 1);
  write_file(fresh() + "/high-water", bytes);
  const auto log = RocksLog::open(options_for(folder_ / "log"));
  ASSERT_FALSE(log);
  EXPECT_EQ(log.error().kind, base::Kind::kCorrupt);
  EXPECT_NE(log.error().message.find("high-water"), std::string::npos);
}

TEST_F(Damage, ALogThatWasPutBackToAnOlderCopyIsRefused) {
  make(true);
  // The database of an hour ago under the mark of now.
  auto log = RocksLog::open(options_for(folder_ / "live"));
  ASSERT_TRUE(log);
  ASSERT_TRUE(append_numbered(**log, 30, Durability::kSynced));
  log->reset();
  write_file(fresh() + "/high-water", read_file((folder_ / "live") + "/high-water"));
  expect_corrupt(kSynced + 3, "older database");
}

TEST_F(Damage, AReaderRefusesTheSame) {
  make(false);
  write_file(fresh() + "/" + wal_, wal_bytes_.substr(0, synced_size_ - 10));
  expect_read_up_to(batch_at(synced_size_ - 11), "torn below the mark");
}

// Many blocks in a table: the first position of the damaged block is named, whoever comes from
// where, and what lies before it is read.
TEST_F(Damage, ADamagedBlockOfATableIsNamedByItsFirstPosition) {
  constexpr std::uint64_t kEvents = 200, kHit = 120;
  constexpr std::size_t kEventBytes = 1'000, kEventsOfABlock = 17;
  for (int opening = 0; opening < 2; ++opening) {
    auto log = RocksLog::open(options_for(folder_ / "log"));
    ASSERT_TRUE(log) << log.error().message;
    if (opening > 0) continue;
    ASSERT_TRUE(append_numbered(**log, kEvents, Durability::kSynced, kEventBytes));
  }
  const std::string noise = padded_version(kHit, kEventBytes);
  std::size_t hits = 0;
  for (const std::string& table : files_with(folder_ / "log", ".sst")) {
    std::string bytes = read_file(table);
    const std::size_t at = bytes.find(noise.substr(kEventBytes / 2, 30));
    if (at == std::string::npos) continue;
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    write_file(table, bytes);
    ++hits;
  }
  ASSERT_EQ(hits, 1U);
  const auto reader = RocksLog::open_reader(folder_ / "log", folder_ / "scratch");
  ASSERT_TRUE(reader) << reader.error().message;
  std::uint64_t sound = 0;
  const auto read = read_all(**reader, 1, &sound);
  ASSERT_FALSE(read);
  EXPECT_LT(sound, kHit);
  EXPECT_GT(sound + kEventsOfABlock, kHit);
  EXPECT_EQ(named(read.error().message), sound + 1) << read.error().message;
  const auto inside = read_all(**reader, kHit);
  ASSERT_FALSE(inside);
  EXPECT_EQ(named(inside.error().message), sound + 1) << inside.error().message;
  const auto log = RocksLog::open(options_for(folder_ / "log"));
  ASSERT_FALSE(log) << "the walk over the tail comes by";
  EXPECT_EQ(named(log.error().message), sound + 1) << log.error().message;
}

}  // namespace
}  // namespace karst::events::testing
