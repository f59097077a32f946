#include "events/rocks_options.h"

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/listener.h>
#include <rocksdb/table.h>

namespace karst::events {
namespace {

constexpr std::size_t kMebibyte = 1 << 20;

// RocksDB's diary (the file LOG) is not kept: a write of it that hits a full disk makes the next
// one abort the process.
class NoLogger final : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char*, va_list) override {}
};

// After a full disk RocksDB would go on by itself, on its own thread, at a moment that nobody
// knows. The log opens it again instead, when the engine appends.
class NoRecovery final : public rocksdb::EventListener {
 public:
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason, rocksdb::Status error,
                            bool* auto_recovery) override {
    error.PermitUncheckedError();
    *auto_recovery = false;
  }
};

rocksdb::WALRecoveryMode mode_of(Recovery recovery) {
  switch (recovery) {
    case Recovery::kWholeOnly:
      return rocksdb::WALRecoveryMode::kAbsoluteConsistency;
    case Recovery::kTornTail:
      return rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
    case Recovery::kUpToDamage:
    case Recovery::kSalvage:
      return rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  }
  return rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
}

rocksdb::ColumnFamilyOptions family_options(const std::shared_ptr<rocksdb::Cache>& cache,
                                            std::size_t write_buffer) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  table.cache_index_and_filter_blocks =
      true;                     // counted against the cache, or they grow with the log
  table.block_size = 16 << 10;  // read in order, so larger blocks compress better
  table.format_version = 5;
  rocksdb::ColumnFamilyOptions options;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.write_buffer_size = write_buffer;
  options.max_write_buffer_number = 2;
  options.compression = rocksdb::kLZ4Compression;
  options.bottommost_compression = rocksdb::kZSTD;
  options.paranoid_file_checks = false;  // would read every file twice; blocks have checksums
  return options;
}

// The index has its memory written to tables by RocksDb::flush_all alone (Index::write), far below
// this; memory is taken in blocks of kArenaBlock, which by default are an eighth of it.
constexpr std::size_t kNeverByItself = 64 * kMebibyte;
constexpr std::size_t kArenaBlock = kMebibyte / 8;

struct FamilyTraits {
  const char* name;
  std::size_t write_buffer;  // of a log; see kNeverByItself
};
const FamilyTraits& traits_of(Family family) {
  static constexpr FamilyTraits kTraits[kFamilies] = {{"events", 8 * kMebibyte},
                                                      {"snapshots", 4 * kMebibyte},
                                                      {"meta", kMebibyte},
                                                      {"streams", kMebibyte},
                                                      {"tiles", kMebibyte}};
  return kTraits[static_cast<std::size_t>(family)];
}

}  // namespace

rocksdb::DBOptions database_options(Recovery recovery, Contents contents) {
  rocksdb::DBOptions options;
  // The tables of an index are all of the same moment, which its writer chooses (kNeverByItself).
  // Else there are several write-ahead logs that one family or another still needs, and of an index
  // that lost one of these whoever opens it reads that it reaches the end, without what that file
  // held. So it reaches less far, and is right.
  options.atomic_flush = contents == Contents::kIndex;
  options.create_if_missing = false;  // a lost file must not pass for a new log
  options.paranoid_checks = recovery != Recovery::kSalvage;
  options.wal_recovery_mode = mode_of(recovery);
  options.recycle_log_file_num = 0;  // with recycling a flipped bit passes for the end of the log
  options.wal_compression =
      rocksdb::kNoCompression;  // its recovery has faults before RocksDB 7.10.2
  options.max_total_wal_size = 16 * kMebibyte;
  options.max_open_files = 64;           // each open file holds memory
  options.max_file_opening_threads = 1;  // by default an opening makes and ends 15 for each family
  options.max_background_jobs = 2;
  options.max_manifest_file_size = 4 * kMebibyte;
  options.bytes_per_sync = kMebibyte;
  options.stats_dump_period_sec = 0;
  options.avoid_flush_during_shutdown = true;  // closing must work on a full disk
  options.listeners = {std::make_shared<NoRecovery>()};
  options.info_log = std::make_shared<NoLogger>();
  return options;
}

std::vector<Family> families_of(Contents contents) {
  if (contents == Contents::kIndex) return {Family::kMeta, Family::kStreams, Family::kTiles};
  return {Family::kEvents, Family::kSnapshots, Family::kMeta};
}

std::vector<rocksdb::ColumnFamilyDescriptor> families(Compactions compactions, Contents contents) {
  // The index is written in the background and read by others: it gets by with less.
  const bool log = contents == Contents::kLog;
  const std::shared_ptr<rocksdb::Cache> cache = rocksdb::NewLRUCache((log ? 8 : 2) * kMebibyte);
  std::vector<rocksdb::ColumnFamilyDescriptor> all = {
      {rocksdb::kDefaultColumnFamilyName, family_options(cache, kMebibyte)}};
  for (const Family family : families_of(contents)) {
    const FamilyTraits& traits = traits_of(family);
    all.emplace_back(traits.name, family_options(cache, traits.write_buffer));
  }
  for (rocksdb::ColumnFamilyDescriptor& family : all) {
    family.options.disable_auto_compactions = compactions == Compactions::kOff;
    if (log) continue;
    family.options.write_buffer_size = kNeverByItself;
    family.options.arena_block_size = kArenaBlock;
  }
  return all;
}

}  // namespace karst::events
