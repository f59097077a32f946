// Opening a log on disk: new, existing, damaged, and beside its writer.
#include <sys/random.h>

#include <algorithm>
#include <filesystem>

#include "base/check.h"
#include "base/sha256.h"
#include "events/archive.h"
#include "events/codec.h"
#include "events/frames.h"
#include "events/rocks_log.h"
#include "events/sound_part.h"
#include "events/tail_check.h"

namespace karst::events {
namespace {

constexpr std::string_view kIdKey = "id";
constexpr std::string_view kSecretKey = "secret";
constexpr std::size_t kIdBytes = 16;  // 26 base32 characters
constexpr std::size_t kSecretBytes = 32;
constexpr std::uint64_t kCutBatchMax = 10'000;
constexpr std::uint64_t kReopenBytes =
    24 << 20;  // write buffers become tables, and there is a new write-ahead log

std::string mark_file(const std::string& folder) {
  return folder + "/high-water";
}

std::string random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  KARST_CHECK(getrandom(bytes.data(), count, 0) == static_cast<ssize_t>(count),
              "the kernel has random bytes");
  return bytes;
}

// Files that only a database with events in it has.
bool holds_tables(const std::string& folder) {
  std::error_code code;
  for (const auto& entry : std::filesystem::directory_iterator(folder, code))
    if (entry.path().extension() == ".sst") return true;
  return false;
}
bool holds_database(const std::string& folder) {
  std::error_code code;
  return std::filesystem::exists(folder + "/CURRENT", code);
}

// Why a log cannot be opened, with the first position that is damaged.
base::Error cannot_open(const std::string& folder, const HighWaterMark& mark,
                        const base::Error& error) {
  if (error.kind != base::Kind::kCorrupt) return error.with_context(folder);
  const DamagedDb found = open_damaged(folder);
  if (found.db == nullptr) return first_damage(folder, {{}, error.message});
  SoundPart sound = sound_part(*found.db, mark);
  if (sound.why.empty()) return events_are_whole(folder, sound, error.message);
  sound.why += " (" + error.message + ")";
  return first_damage(folder, sound);
}

// The walk from the end knows that something is damaged; the one from the start knows where first.
base::Error where_exactly(const RocksDb& db, const std::string& folder, const HighWaterMark& mark,
                          const std::string& torn, const base::Error& error) {
  if (error.kind != base::Kind::kCorrupt) return error;
  SoundPart sound = sound_part(db, mark);
  if (sound.why.empty()) return error;
  if (!torn.empty()) sound.why += " (" + torn + ")";
  return first_damage(folder, sound);
}

struct Inspection {
  TailCheck tail;
  std::string torn;  // what RocksDB says of its write-ahead log; empty: whole
};

// Looks without changing anything, so that what is damaged can still be mended by hand.
base::Result<Inspection> inspect(const std::string& folder, const HighWaterMark& mark) {
  Inspection found;
  Frames frames(folder);
  if (auto status = frames.check_manifests(); !status)
    return base::fail(cannot_open(folder, mark, status.error()));
  if (auto status = frames.check_logs(); !status) found.torn = status.error().message;
  auto db = RocksDb::open_read_only(folder, Recovery::kWholeOnly);
  if (!db && db.error().kind == base::Kind::kCorrupt) {
    found.torn = db.error().message;
    db = RocksDb::open_read_only(folder, Recovery::kUpToDamage);
  }
  if (!db) return base::fail(cannot_open(folder, mark, db.error()));
  base::Result<TailCheck> tail = check_tail(**db, folder, mark);
  if (!tail) return base::fail(where_exactly(**db, folder, mark, found.torn, tail.error()));
  found.tail = std::move(*tail);
  if (!found.torn.empty() && !found.tail.cut) {
    found.tail.cut = model::Position(found.tail.last.value() + 1);
    found.tail.reason = found.torn;
  }
  return found;
}

}  // namespace

base::Result<std::unique_ptr<RocksLog>> RocksLog::open(const RocksLogOptions& options) {
  auto log = open_once(options, Compactions::kOn);
  if (log) {
    if (options.ballast_bytes > 0)
      (*log)->report_.ballast = ensure_ballast(options.path, options.ballast_bytes);
    return log;
  }
  if (log.error().kind != base::Kind::kFull) return log;
  // The process before this one may have died on a full disk with the ballast still there.
  events::release_ballast(options.path);
  log = open_once(options, Compactions::kOff);
  if (log) (*log)->report_.ballast = false;
  return log;
}

base::Result<std::unique_ptr<RocksLog>> RocksLog::open_once(const RocksLogOptions& options,
                                                            Compactions compactions) {
  std::unique_ptr<RocksLog> log(new RocksLog(options.path, options.ballast_bytes));
  KARST_TRY(log->lock_.take(options.path));
  KARST_TRY(check_restored(options.path));
  const auto mark = HighWaterFile::read(mark_file(options.path));
  if (!mark) return base::fail(mark.error());
  log->report_.mark_oddity = HighWaterFile::oddity(mark_file(options.path));
  if (*mark) {
    KARST_TRY(log->open_existing(**mark, compactions));
  } else {
    KARST_TRY(log->begin(options.now));
  }
  return log;
}

// A new log, or one whose making was cut short: the high-water file is made last.
base::Status RocksLog::begin(base::WallTime now) {
  const bool exists = holds_database(path_);
  if (!exists && holds_tables(path_))
    return damaged(path_, "the files high-water and CURRENT are missing, but there are tables");
  auto db = exists ? RocksDb::open_read_only(path_, Recovery::kTornTail) : RocksDb::create(path_);
  if (!db) return base::fail(cannot_open(path_, {}, db.error()));
  if (exists) {
    const base::Result<TailCheck> tail = check_tail(**db, path_, {});
    if (!tail) return base::fail(tail.error());
    if (tail->last.value() > 1)
      return damaged(path_, "the file high-water is missing, but there are events up to position " +
                                std::to_string(tail->last.value()));
    db = RocksDb::create(path_);
    if (!db) return base::fail(cannot_open(path_, {}, db.error()));
  }
  adopt(std::move(*db));
  id_ = model::LogId(base::base32_lower(
      {reinterpret_cast<const std::uint8_t*>(random_bytes(kIdBytes).data()), kIdBytes}));
  secret_ = random_bytes(kSecretBytes);
  put_identity();
  KARST_TRY(high_water_.open(mark_file(path_)));
  Record record = make_record(LogCreated{id_});
  record.log_time = base::LogTime(now.value());
  record.wall_time = now;
  report_.created = true;
  const base::Result<model::Position> first = append({&record, 1}, Durability::kSynced);
  if (!first) return base::fail(first.error());
  return {};
}

void RocksLog::put_identity() {
  db_->put(Family::kMeta, kIdKey, id_.str(), {});
  db_->put(Family::kMeta, kSecretKey, secret_, {});
}

base::Result<std::unique_ptr<RocksLog>> RocksLog::begin_restored(const std::string& path,
                                                                 const LogIdentity& identity) {
  std::error_code code;
  const bool made = !std::filesystem::exists(path, code);
  // Before the lock, which makes a file there.
  KARST_TRY(PartialRestore::check_free(path));
  std::unique_ptr<RocksLog> log(new RocksLog(path, 0));
  KARST_TRY(log->lock_.take(path));
  auto partial = PartialRestore::begin(path, made);
  if (!partial) return base::fail(partial.error());
  log->partial_.emplace(std::move(*partial));
  auto db = RocksDb::create(path);
  if (!db) return base::fail(cannot_open(path, {}, db.error()));
  log->adopt(std::move(*db));
  log->id_ = identity.id;
  log->secret_ = identity.secret;
  log->put_identity();
  KARST_TRY(log->high_water_.open(mark_file(path)));
  return log;
}

base::Status RocksLog::end_restored() {
  KARST_CHECK(partial_.has_value(), "it is being restored");
  KARST_TRY(partial_->finish());
  partial_.reset();
  return {};
}

base::Status RocksLog::open_existing(const HighWaterMark& mark, Compactions compactions) {
  const base::Result<Inspection> found = inspect(path_, mark);
  if (!found) return base::fail(found.error());
  auto db = RocksDb::open(path_, Recovery::kTornTail, compactions);
  if (!db && db.error().kind == base::Kind::kCorrupt && !found->torn.empty())
    db = RocksDb::open(path_, Recovery::kUpToDamage, compactions);
  if (!db) return base::fail(cannot_open(path_, mark, db.error()));
  adopt(std::move(*db));
  KARST_TRY(read_identity(mark));
  KARST_TRY(read_mark());
  KARST_TRY(high_water_.open(mark_file(path_)));
  // Once more when something was torn: what this opening kept may differ from what the look saw.
  TailCheck tail = found->tail;
  if (tail.cut) {
    const base::Result<TailCheck> again = check_tail(*db_, path_, mark);
    if (!again) return base::fail(again.error());
    tail.last = again->last;
    if (again->cut) tail.cut = std::min(*tail.cut, *again->cut);
    KARST_TRY(cut(*tail.cut, tail.last));
    report_.cut = LogTailCut{*tail.cut, tail.reason};
    tail.last = std::min(tail.last, model::Position(tail.cut->value() - 1));
  }
  end_.store(tail.last.value() + 1, std::memory_order_release);
  synced_.store(mark.position.value(), std::memory_order_release);
  return {};
}

base::Status RocksLog::cut(model::Position from, model::Position last) {
  if (last < from) return {};
  std::uint64_t gathered = 0;
  // From the end, so that a crash in between leaves no gap.
  for (std::uint64_t position = last.value(); position >= from.value(); --position) {
    db_->remove(Family::kEvents, PositionKey(model::Position(position)).view());
    if (++gathered % kCutBatchMax == 0) KARST_TRY(db_->write(RocksDb::Sync::kYes));
  }
  return db_->write(RocksDb::Sync::kYes);
}

base::Status RocksLog::read_identity(const HighWaterMark& mark) {
  const auto id = db_->get(Family::kMeta, kIdKey);
  if (!id) return base::fail(cannot_open(path_, mark, id.error()));
  const auto secret = db_->get(Family::kMeta, kSecretKey);
  if (!secret) return base::fail(cannot_open(path_, mark, secret.error()));
  if (!*id || !*secret || (*secret)->size() != kSecretBytes)
    return damaged(path_, "the id or the secret is missing from a log of " +
                              std::to_string(mark.position.value()) + " positions");
  id_ = model::LogId(**id);
  secret_ = **secret;
  return {};
}

void RocksLog::adopt(std::unique_ptr<RocksDb> db) {
  const std::lock_guard lock(db_mutex_);
  db_ = std::move(db);
  snapshots_.use(db_);
}

std::shared_ptr<RocksDb> RocksLog::db() const {
  const std::lock_guard lock(db_mutex_);
  return db_;
}

// After a full disk: a fresh opening is the path that every start takes.
base::Status RocksLog::reopen() {
  std::error_code code;
  const std::filesystem::space_info space = std::filesystem::space(path_, code);
  if (!code && space.available < kReopenBytes)
    return base::fail(base::Kind::kFull,
                      std::to_string(kReopenBytes >> 20) + " MiB are needed to go on");
  {
    const std::lock_guard lock(db_mutex_);
    snapshots_.use(nullptr);
    if (db_.use_count() > 1) {
      snapshots_.use(db_);
      return base::fail(base::Kind::kFull, "it is still being read");
    }
    db_.reset();
  }
  auto opened = RocksDb::open(path_, Recovery::kTornTail, Compactions::kOff);
  if (!opened && opened.error().kind == base::Kind::kCorrupt)
    opened = RocksDb::open(path_, Recovery::kUpToDamage, Compactions::kOff);
  if (!opened) return base::fail(opened.error());
  adopt(std::move(*opened));
  const std::unique_ptr<RocksIterator> it = db_->iterate(Family::kEvents);
  it->seek_to_last();
  const std::optional<model::Position> last =
      it->valid() ? parse_position_key(it->key()) : std::nullopt;
  if (!last || last->value() + 1 < end_.load())
    return damaged(
        path_, "position " + std::to_string(end_.load() - 1) + " is lost after the disk was full");
  return cut(end(), *last);  // a batch that was refused may have reached the disk
}

base::Result<std::unique_ptr<RocksLog>> RocksLog::open_reader(const std::string& path,
                                                              const std::string& scratch) {
  KARST_TRY(check_restored(path));
  // The mark first: the writer may go on meanwhile, and then there is more, never less.
  const auto mark = HighWaterFile::read(mark_file(path));
  if (!mark) return base::fail(mark.error());
  if (!*mark && !holds_database(path))
    return base::fail(base::Kind::kInvalid,
                      path + " holds no log: expected a folder that `karst run --data` made");
  if (!*mark) return damaged(path, "the file high-water is missing");
  std::unique_ptr<RocksLog> log(new RocksLog(path, 0));
  log->reader_ = true;
  log->report_.mark_oddity = HighWaterFile::oddity(mark_file(path));
  base::Status whole = log->read_beside_writer(scratch, **mark);
  // Once more: its writer may just have changed files.
  if (!whole && whole.error().kind == base::Kind::kCorrupt)
    whole = log->read_beside_writer(scratch, **mark);
  if (whole) return log;
  if (whole.error().kind != base::Kind::kCorrupt) return base::fail(whole.error());
  KARST_TRY(log->read_sound_part(**mark, whole.error()));
  return log;
}

base::Status RocksLog::read_beside_writer(const std::string& scratch, const HighWaterMark& mark) {
  auto db = RocksDb::open_secondary(path_, scratch);
  if (!db) return base::fail(db.error());
  adopt(std::move(*db));
  KARST_TRY(read_identity(mark));
  KARST_TRY(refresh());
  const auto value = db_->get(Family::kEvents, PositionKey(mark.position).view());
  if (!value) return base::fail(value.error());
  if (!*value || base::sha256(**value) != mark.root)
    return damaged(path_,
                   "the event at position " + std::to_string(mark.position.value()) +
                       (*value ? " is another one than" : " is missing, but it was on disk for") +
                       " the high-water mark");
  return {};
}

base::Status RocksLog::read_sound_part(const HighWaterMark& mark, const base::Error& error) {
  adopt(nullptr);
  DamagedDb opened = open_damaged(path_);
  if (opened.db == nullptr) return base::fail(first_damage(path_, {{}, error.message}));
  adopt(std::move(opened.db));
  SoundPart sound = sound_part(*db_, mark);
  const base::Status identity = read_identity(mark);
  if (sound.why.empty()) {
    if (!identity) return identity;
    if (opened.tables_open) sound.why = "it was never known to be on disk: " + error.message;
  }
  const base::Error found = sound.why.empty() ? events_are_whole(path_, sound, error.message)
                                              : first_damage(path_, sound);
  auto mark_of_trim = read_trim_mark(*db_);
  if (!identity || !mark_of_trim) return base::fail(found);
  adopt_mark(std::move(*mark_of_trim));
  if (sound.last < first()) return base::fail(found);
  damage_ = found;
  end_.store(sound.last.value() + 1, std::memory_order_release);
  return {};
}

}  // namespace karst::events
