#include "events/rocks_db.h"

#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <map>
#include <thread>

#include "base/check.h"
#include "events/frames.h"
#include "events/log_folder.h"
#include "events/rocks_options.h"
#include "events/table_ends.h"

namespace karst::events {
namespace {

rocksdb::Slice slice(std::string_view text) {
  return {text.data(), text.size()};
}
std::string_view view(const rocksdb::Slice& text) {
  return {text.data(), text.size()};
}

// RocksDB says many things with one code and a text.
base::Error to_error(const rocksdb::Status& status) {
  const std::string text = status.ToString();
  if (status.IsNoSpace()) return {base::Kind::kFull, text};
  const auto says = [&](int code) { return text.find(std::strerror(code)) != std::string::npos; };
  if (says(EDQUOT)) return {base::Kind::kFull, text};
  if (says(EACCES)) return {base::Kind::kDenied, text};
  if (says(EMFILE) || says(ENFILE) || says(ENOMEM))
    return {base::Kind::kDenied, text + std::string(kLimitAdvice)};
  if (says(EIO))
    return {base::Kind::kDenied, text +
                                     ". The disk could not do it, see the kernel's log; the log "
                                     "itself may be sound: try again on a sound disk"};
  if (text.find("While lock file") != std::string::npos) return {base::Kind::kTaken, text};
  return {base::Kind::kCorrupt, text};
}
base::Status to_status(const rocksdb::Status& status) {
  if (status.ok()) return {};
  return base::fail(to_error(status));
}

base::Status check_both(Frames& frames) {
  KARST_TRY(frames.check_manifests());
  return frames.check_logs();
}

// A writer beside a reader replaces tables: what does not fit is looked at again.
constexpr int kLooksMax = 5;
constexpr std::chrono::milliseconds kBetweenLooks{20};

using Tables = std::map<std::string, std::uint64_t>;  // name, bytes
Tables tables_of(rocksdb::DB& db) {
  std::vector<rocksdb::LiveFileMetaData> files;
  db.GetLiveFilesMetaData(&files);
  Tables tables;
  for (const rocksdb::LiveFileMetaData& file : files)
    tables.emplace(file.relative_filename, file.size);
  return tables;
}

// Those that the manifest names. Errors: kCorrupt for one that is missing or of another size.
// `empty`: a folder with no write-ahead logs, which are not asked for; made when there is none.
base::Result<Tables> tables_in(const std::string& path, const std::string& empty,
                               Contents contents) {
  rocksdb::DBOptions options = database_options(Recovery::kWholeOnly, contents);
  std::error_code ignored;  // what cannot be made cannot be opened
  std::filesystem::create_directories(empty, ignored);
  options.wal_dir = empty;
  rocksdb::DB* opened = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  const rocksdb::Status status = rocksdb::DB::OpenForReadOnly(
      options, path, families(Compactions::kOff, contents), &handles, &opened);
  if (!status.ok()) return base::fail(to_error(status));
  const std::unique_ptr<rocksdb::DB> db(opened);
  Tables tables = tables_of(*db);
  for (rocksdb::ColumnFamilyHandle* handle : handles) db->DestroyColumnFamilyHandle(handle);
  return tables;
}

class Iterator final : public RocksIterator {
 public:
  explicit Iterator(rocksdb::Iterator* it) : it_(it) {}
  void seek(std::string_view key) override { it_->Seek(slice(key)); }
  void seek_for_prev(std::string_view key) override { it_->SeekForPrev(slice(key)); }
  void seek_to_last() override { it_->SeekToLast(); }
  void next() override { it_->Next(); }
  void prev() override { it_->Prev(); }
  bool valid() const override { return it_->Valid(); }
  std::string_view key() const override { return view(it_->key()); }
  std::string_view value() const override { return view(it_->value()); }
  base::Status status() const override { return to_status(it_->status()); }

 private:
  std::unique_ptr<rocksdb::Iterator> it_;
};

class Database final : public RocksDb {
 public:
  using Handles = std::vector<rocksdb::ColumnFamilyHandle*>;
  Database(rocksdb::DB* db, Handles handles, Contents contents)
      : db_(db), handles_(std::move(handles)), contents_(contents) {
    std::size_t next = 1;  // behind the default family
    for (const Family family : families_of(contents))
      by_family_[static_cast<std::size_t>(family)] = handles_[next++];
  }
  void watch(std::string path, std::string scratch, Frames frames) {
    path_ = std::move(path);
    scratch_ = std::move(scratch);
    frames_ = std::move(frames);
  }
  ~Database() override {
    for (rocksdb::ColumnFamilyHandle* handle : handles_) db_->DestroyColumnFamilyHandle(handle);
    // A failure to close cleanly loses nothing that was synced; opening again says what is wrong.
    db_->Close().PermitUncheckedError();
  }

  base::Result<std::optional<std::string>> get(Family family, std::string_view key) const override {
    std::string value;
    const rocksdb::Status status =
        db_->Get(read_options(family), handle(family), slice(key), &value);
    if (status.IsNotFound()) return std::optional<std::string>();
    if (!status.ok()) return base::fail(to_error(status));
    return std::optional<std::string>(std::move(value));
  }

  std::unique_ptr<RocksIterator> iterate(Family family) const override {
    return std::make_unique<Iterator>(db_->NewIterator(read_options(family), handle(family)));
  }

  void put(Family family, std::string_view key, std::string_view front,
           std::string_view back) override {
    const rocksdb::Slice key_part = slice(key);
    const rocksdb::Slice value_parts[] = {slice(front), slice(back)};
    const rocksdb::Status status = batch_.Put(handle(family), rocksdb::SliceParts(&key_part, 1),
                                              rocksdb::SliceParts(value_parts, 2));
    KARST_CHECK(status.ok(), "a batch takes any key and value below 4 GiB");
  }
  void remove(Family family, std::string_view key) override {
    const rocksdb::Status status = batch_.Delete(handle(family), slice(key));
    KARST_CHECK(status.ok(), "a batch takes any key");
  }
  void discard() override { batch_.Clear(); }

  base::Status write(Sync sync) override {
    rocksdb::WriteOptions options;
    options.sync = sync == Sync::kYes;
    options.disableWAL = sync == Sync::kUnlogged;
    const rocksdb::Status status = db_->Write(options, &batch_);
    batch_.Clear();
    return to_status(status);
  }

  base::Status apply(std::span<const RocksChange> changes, Sync sync) override {
    rocksdb::WriteBatch batch;
    for (const RocksChange& change : changes)
      KARST_CHECK(add(batch, change).ok(), "a batch takes any key and value below 4 GiB");
    rocksdb::WriteOptions options;
    options.sync = sync == Sync::kYes;
    options.disableWAL = sync == Sync::kUnlogged;
    return to_status(db_->Write(options, &batch));
  }

  base::Status compact(Family family, std::string_view begin, std::string_view end) override {
    const rocksdb::Slice from = slice(begin), to = slice(end);
    KARST_TRY(to_status(rocksdb::DeleteFilesInRange(db_.get(), handle(family), &from, &to,
                                                    /*include_end=*/false)));
    rocksdb::CompactRangeOptions options;
    options.exclusive_manual_compaction = false;  // the others go on
    return to_status(db_->CompactRange(options, handle(family), &from, &to));
  }

  base::Status flush(Family family) override {
    return to_status(db_->Flush(rocksdb::FlushOptions(), handle(family)));
  }
  base::Status flush_all() override {
    return to_status(db_->Flush(rocksdb::FlushOptions(), handles_));
  }
  std::uint64_t unflushed_bytes() const override {
    std::uint64_t bytes = 0;
    const bool known =
        db_->GetAggregatedIntProperty(rocksdb::DB::Properties::kCurSizeAllMemTables, &bytes);
    KARST_CHECK(known, "each family knows the size of what it has in memory");
    return bytes;
  }
  base::Status catch_up() override {
    if (frames_) KARST_TRY(check_both(*frames_));
    return to_status(db_->TryCatchUpWithPrimary());
  }
  base::Status check_seen() override {
    KARST_CHECK(frames_, "only a secondary passes over tables");
    base::Status status;
    for (int look = 0; look < kLooksMax; ++look) {
      if (look > 0) std::this_thread::sleep_for(kBetweenLooks);
      KARST_TRY(catch_up());
      const auto tables = tables_in(path_, scratch_, contents_);
      if (!tables)
        status = base::fail(tables.error());
      else if (*tables == tables_of(*db_))
        return {};
      else
        status = base::fail(base::Kind::kCorrupt, path_ + ": not all of its tables can be read");
    }
    return status;
  }
  base::Status check_tables() const override {
    return to_status(db_->VerifyChecksum(rocksdb::ReadOptions()));
  }

 private:
  static rocksdb::ReadOptions read_options(Family family) {
    rocksdb::ReadOptions options;
    options.verify_checksums = true;
    if (family == Family::kStreams || family == Family::kTiles) return options;  // here and there
    options.fill_cache = false;  // the log is read in order: what was read is not read again soon
    options.readahead_size = 256 << 10;
    return options;
  }
  rocksdb::Status add(rocksdb::WriteBatch& batch, const RocksChange& change) const {
    switch (change.kind) {
      case RocksChange::Kind::kPut:
        return batch.Put(handle(change.family), slice(change.key), slice(change.value));
      case RocksChange::Kind::kRemove:
        return batch.Delete(handle(change.family), slice(change.key));
      case RocksChange::Kind::kRemoveRange:
        return batch.DeleteRange(handle(change.family), slice(change.key), slice(change.value));
    }
    return rocksdb::Status::NotSupported();
  }
  rocksdb::ColumnFamilyHandle* handle(Family family) const {
    rocksdb::ColumnFamilyHandle* found = by_family_[static_cast<std::size_t>(family)];
    KARST_CHECK(found != nullptr, "the family is one of this database");
    return found;
  }

  std::unique_ptr<rocksdb::DB> db_;
  Handles handles_;
  std::array<rocksdb::ColumnFamilyHandle*, kFamilies> by_family_{};
  rocksdb::WriteBatch batch_;
  const Contents contents_;
  // Of a secondary, which reads them while they are written.
  std::string path_, scratch_;
  std::optional<Frames> frames_;
};

base::Result<std::unique_ptr<RocksDb>> opened(const rocksdb::Status& status, rocksdb::DB* db,
                                              std::vector<rocksdb::ColumnFamilyHandle*> handles,
                                              Contents contents = Contents::kLog) {
  if (!status.ok()) return base::fail(to_error(status));
  return std::unique_ptr<RocksDb>(std::make_unique<Database>(db, std::move(handles), contents));
}

}  // namespace

std::optional<model::Position> parse_position_key(std::string_view key) {
  if (key.size() != 8) return std::nullopt;
  std::uint64_t value = 0;
  for (const char byte : key) value = value << 8 | static_cast<unsigned char>(byte);
  return model::Position(value);
}

base::Result<std::unique_ptr<RocksDb>> RocksDb::open(const std::string& path, Recovery recovery,
                                                     Compactions compactions, Contents contents) {
  KARST_TRY(check_table_ends(path));
  rocksdb::DB* db = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  const rocksdb::Status status = rocksdb::DB::Open(database_options(recovery, contents), path,
                                                   families(compactions, contents), &handles, &db);
  return opened(status, db, std::move(handles), contents);
}

base::Result<std::unique_ptr<RocksDb>> RocksDb::create(const std::string& path, Contents contents) {
  rocksdb::DBOptions options = database_options(Recovery::kTornTail, contents);
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  rocksdb::DB* db = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  const rocksdb::Status status =
      rocksdb::DB::Open(options, path, families(Compactions::kOn, contents), &handles, &db);
  return opened(status, db, std::move(handles), contents);
}

base::Result<std::unique_ptr<RocksDb>> RocksDb::open_read_only(const std::string& path,
                                                               Recovery recovery) {
  KARST_TRY(check_table_ends(path));
  rocksdb::DB* db = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  const rocksdb::Status status = rocksdb::DB::OpenForReadOnly(
      database_options(recovery, Contents::kLog), path, families(Compactions::kOn), &handles, &db);
  return opened(status, db, std::move(handles));
}

base::Result<std::unique_ptr<RocksDb>> RocksDb::open_secondary(const std::string& path,
                                                               const std::string& scratch,
                                                               Contents contents) {
  rocksdb::DBOptions options = database_options(Recovery::kTornTail, contents);
  options.max_open_files = -1;  // files that the writer deletes stay readable
  Frames frames(path);
  KARST_TRY(check_both(frames));
  KARST_TRY(check_table_ends(path));
  rocksdb::DB* db = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  const rocksdb::Status status = rocksdb::DB::OpenAsSecondary(
      options, path, scratch, families(Compactions::kOn, contents), &handles, &db);
  if (!status.ok()) return base::fail(to_error(status));
  auto secondary = std::make_unique<Database>(db, std::move(handles), contents);
  secondary->watch(path, scratch, std::move(frames));
  return std::unique_ptr<RocksDb>(std::move(secondary));
}

}  // namespace karst::events
