// The log on disk. FOLDER holds RocksDB's files, `high-water` (high_water.h), `lock` and `ballast`
// (log_folder.h). Column families: events (position, 8 bytes big-endian → encode_event's bytes),
// snapshots, meta (id, secret, and of a trimmed log what trim_store.h says). Owner: the one process
// that holds the lock; others read by open_reader. Thread rules: event_log.h; snapshots() belongs
// to the engine thread as append does. What a failure leaves behind: nothing of a batch that was
// not acknowledged, except that a crash may keep a whole one.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "events/event_log.h"
#include "events/high_water.h"
#include "events/log_folder.h"
#include "events/partial_restore.h"
#include "events/rocks_db.h"
#include "events/snapshot_store.h"
#include "events/trim_store.h"

namespace karst::events {

struct LogIdentity;  // archive.h

struct RocksLogOptions {
  std::string path;                             // made when there is none
  base::WallTime now;                           // the times of LogCreated, when the log begins here
  std::uint64_t ballast_bytes = kBallastBytes;  // 0: none
};

struct OpenReport {
  bool created = false;
  std::optional<LogTailCut> cut;  // bytes above the high-water mark were bad and are gone: log this
  std::string mark_oddity;        // what HighWaterFile::oddity said; of a reader too
  bool ballast = true;  // false: no room for it, or given back so that the log could be opened
};

class RocksLog final : public EventLog {
 public:
  // Takes the lock, checks the tail (tail_check.h), cuts what is torn above the high-water mark. A
  // new log gets an id, a secret, and LogCreated at position 1. Errors: kTaken names the holder;
  // kDenied, kInvalid, kFull for the folder; kCorrupt with the position, and kNewer: nothing was
  // changed in the folder.
  static base::Result<std::unique_ptr<RocksLog>> open(const RocksLogOptions& options);

  // An empty log with another one's identity, to be filled from position 1 by append_stored: what
  // an archive holds becomes a log again. Until end_restored() it is a part of one, which the
  // destructor removes. Errors: as above; kInvalid when the folder has anything else in it than
  // what a restore left that was cut short.
  static base::Result<std::unique_ptr<RocksLog>> begin_restored(const std::string& path,
                                                                const LogIdentity& identity);
  // Stored bytes as they were (event.h), at end() and on, synced. REQUIRES: each passed
  // decode_event for its position.
  base::Status append_stored(std::span<const std::string> values);
  // Before that, for a log that begins later than at 1: its leaves (keep_leaves), then this. When
  // all is there trim() says so, by the event that binds what is kept. REQUIRES: nothing was
  // appended. Errors: as keep_baseline.
  base::Result<BaselineNote> begin_behind(const Baseline& baseline);
  // All of it is there, and stays. REQUIRES: begin_restored made it. Errors: kDenied.
  base::Status end_restored();

  // To read, also beside a process that writes; appends are refused. `scratch`: a folder of this
  // process alone. A damaged log is opened as far as it is sound: see damage(). Errors: as above,
  // kCorrupt when nothing of it can be read; kInvalid when the folder holds no log.
  static base::Result<std::unique_ptr<RocksLog>> open_reader(const std::string& path,
                                                             const std::string& scratch);
  // What a reader found: end() is the first damaged position, and a cursor that gets there fails
  // with this, which names it. Damage in older tables shows only when a cursor comes to it.
  const std::optional<base::Error>& damage() const { return damage_; }
  // A reader sees what was written since it was opened.
  base::Status refresh();

  const model::LogId& id() const override { return id_; }
  base::Result<model::Position> append(std::span<const Record> records,
                                       Durability durability) override;
  base::Result<std::unique_ptr<Cursor>> read(model::Position from) const override;
  model::Position end() const override {
    return model::Position(end_.load(std::memory_order_acquire));
  }

  model::Position first() const override {
    return model::Position(first_.load(std::memory_order_acquire));
  }
  base::Result<std::optional<Baseline>> baseline() const override;
  base::Result<std::string> trimmed_leaves(std::uint64_t tile) const override;
  // What is gone, since when, and where it is; nullopt: nothing. Any thread.
  std::optional<TrimMark> trimmed() const;

  // Trimming, in this order, on one thread at a time, whichever it is; the engine appends
  // meanwhile. A crash between two steps leaves the log as it was, to be trimmed again.
  // 1. The leaf hashes of each tile that goes. REQUIRES: 256 of 32 bytes.
  base::Status keep_leaves(std::uint64_t tile, std::string_view hashes);
  // 2. The state before the first event that stays; it and the leaves are on stable storage then.
  base::Result<BaselineNote> keep_baseline(const Baseline& baseline);
  // 3. LogTrimmed (told_of) is appended, by whoever appends, and is at or below synced(); or, of a
  // log that is restored, ArchiveExpired is there.
  // 4. The events before mark.first() go, at once and for good. REQUIRES: 3. Errors: kInvalid when
  // the event at mark.event is not that one, kFull, kCorrupt; nothing is gone then.
  base::Status trim(const TrimMark& mark);
  // 5. Their space comes back. Takes its time; appends go on.
  base::Status compact_trimmed();
  // For where_trimmed: what is before this has expired in the archive too. Any thread.
  base::Status archive_begins(model::Position first);

  // What was appended is on stable storage when it returns, and the high-water mark is there.
  // Engine thread. Errors: as append.
  base::Status sync();

  // The last position that is known to be on stable storage; 0 for a reader. Any thread.
  model::Position synced() const {
    return model::Position(synced_.load(std::memory_order_acquire));
  }

  const OpenReport& open_report() const { return report_; }
  // 32 bytes, for the salts of leaves (event.h). Never leaves the folder.
  const std::string& secret() const { return secret_; }
  Snapshots& snapshots() { return snapshots_; }
  // To read from another thread than the engine's. Errors: kFull while the disk is full.
  base::Result<SnapshotStore> snapshots_to_read() const;

  // After kFull: gives the reserved bytes back, so that appends work again for a while.
  void release_ballast() { events::release_ballast(path_); }
  // True when the bytes are reserved again, which takes twice as much free space.
  bool restore_ballast() { return events::restore_ballast(path_, ballast_bytes_); }

 private:
  RocksLog(std::string path, std::uint64_t ballast_bytes)
      : path_(std::move(path)), ballast_bytes_(ballast_bytes) {}
  static base::Result<std::unique_ptr<RocksLog>> open_once(const RocksLogOptions& options,
                                                           Compactions compactions);
  base::Status open_existing(const HighWaterMark& mark, Compactions compactions);
  base::Status begin(base::WallTime now);
  void put_identity();
  base::Status written(RocksDb::Sync sync, model::Position next, const base::Sha256Digest& last);
  base::Status read_beside_writer(const std::string& scratch, const HighWaterMark& mark);
  base::Status read_sound_part(const HighWaterMark& mark, const base::Error& error);
  base::Status read_identity(const HighWaterMark& mark);
  base::Status cut(model::Position from, model::Position last);
  base::Status ready_to_write();
  base::Status reopen();
  std::shared_ptr<RocksDb> db() const;
  base::Result<std::shared_ptr<RocksDb>> db_to_use() const;
  base::Status read_mark();
  void adopt_mark(std::optional<TrimMark> mark);
  base::Error write_failed(const base::Error& error);
  void adopt(std::unique_ptr<RocksDb> db);

  std::string path_;
  const std::uint64_t ballast_bytes_;
  FolderLock lock_;
  std::optional<PartialRestore> partial_;  // goes after the database is closed, and before the lock
  mutable std::mutex
      db_mutex_;  // db_ is another one after a full disk, and cursors may be made by other threads
  std::shared_ptr<RocksDb> db_;
  SnapshotStore snapshots_;
  HighWaterFile high_water_;
  model::LogId id_;
  std::string secret_;
  OpenReport report_;
  std::optional<TrimMark> mark_;         // under db_mutex_
  std::atomic<std::uint64_t> first_{1};  // of mark_
  std::atomic<std::uint64_t> end_{1};
  std::atomic<std::uint64_t> synced_{0};
  bool reader_ = false;
  std::optional<base::Error> damage_;  // of a reader: from end_ on
  bool full_ = false;                  // open again before the next write
  std::optional<base::Error> broken_;  // no write will be tried again
  std::string front_;                  // scratch
};

// What the log is told of a baseline that was kept: its own, or its archive's.
LogTrimmed told_of(const BaselineNote& note);
ArchiveExpired expired_of(const BaselineNote& note, std::uint64_t segments);

// The baseline that an event binds into the log; nullopt: none.
struct BoundBaseline {
  model::Position before;
  model::Position baseline;
  std::string digest;
};
std::optional<BoundBaseline> bound_by(const Body& body);

}  // namespace karst::events
