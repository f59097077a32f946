// RocksDB behind plain types, so that its headers stay in rocks_db.cc and rocks_options.cc. Inner
// part of src/events. Writes belong to one thread; get and iterate may come from any. A failed
// write leaves the database as it was, but the opening takes no more of them: close it and open
// again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/ids.h"

namespace karst::events {

enum class Family { kEvents = 0, kSnapshots = 1, kMeta = 2, kStreams = 3, kTiles = 4 };
inline constexpr std::size_t kFamilies = 5;

// The log has the families events, snapshots and meta; what is derived from it lies in a database
// of its own with the families meta, streams and tiles (docs/decisions/0016).
enum class Contents { kLog, kIndex };

// What opening does with a write-ahead log that is not whole.
enum class Recovery {
  kWholeOnly,   // refuse: kCorrupt
  kTornTail,    // drop an unfinished record at the end, refuse any other damage
  kUpToDamage,  // keep what is before the first damage
  kSalvage,     // the same, and open although a table cannot be: its keys fail when they are read
};

// Compactions rewrite tables and need room for that: on a full disk they would eat what the ballast
// gave back.
enum class Compactions { kOn, kOff };

// 8 bytes, big-endian: the order of keys is the order of positions.
struct PositionKey {
  explicit PositionKey(model::Position position) {
    for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(position.value() >> (56 - 8 * i));
  }
  std::string_view view() const { return {bytes, 8}; }
  char bytes[8];
};
// nullopt when the key is not 8 bytes.
std::optional<model::Position> parse_position_key(std::string_view key);

// One of several changes that are written together, from any thread.
struct RocksChange {
  enum class Kind { kPut, kRemove, kRemoveRange };
  Kind kind = Kind::kPut;
  Family family = Family::kMeta;
  std::string key;
  std::string value;  // of kRemoveRange: the first key that stays
};

// Views stay valid until the next call.
class RocksIterator {
 public:
  virtual ~RocksIterator() = default;
  virtual void seek(std::string_view key) = 0;
  virtual void seek_for_prev(std::string_view key) = 0;
  virtual void seek_to_last() = 0;
  virtual void next() = 0;
  virtual void prev() = 0;
  virtual bool valid() const = 0;
  virtual std::string_view key() const = 0;
  virtual std::string_view value() const = 0;
  // Why it is not valid: fine at an end, kCorrupt on damage.
  virtual base::Status status() const = 0;
};

class RocksDb {
 public:
  // For the writer of a database that exists, or of one that begins here.
  static base::Result<std::unique_ptr<RocksDb>> open(const std::string& path, Recovery recovery,
                                                     Compactions compactions,
                                                     Contents contents = Contents::kLog);
  static base::Result<std::unique_ptr<RocksDb>> create(const std::string& path,
                                                       Contents contents = Contents::kLog);
  // To look without leaving a trace; nobody may write meanwhile.
  static base::Result<std::unique_ptr<RocksDb>> open_read_only(const std::string& path,
                                                               Recovery recovery);
  // Beside a writer of another process. `scratch`: a folder of its own.
  static base::Result<std::unique_ptr<RocksDb>> open_secondary(const std::string& path,
                                                               const std::string& scratch,
                                                               Contents contents = Contents::kLog);

  virtual ~RocksDb() = default;

  virtual base::Result<std::optional<std::string>> get(Family family,
                                                       std::string_view key) const = 0;
  virtual std::unique_ptr<RocksIterator> iterate(Family family) const = 0;

  // Gathers for the next write; `front` and `back` together are the value.
  virtual void put(Family family, std::string_view key, std::string_view front,
                   std::string_view back) = 0;
  virtual void remove(Family family, std::string_view key) = 0;
  virtual void discard() = 0;
  // All that was gathered, or nothing.
  enum class Sync { kNo, kYes, kUnlogged };  // kUnlogged: may be lost as a whole
  virtual base::Status write(Sync sync) = 0;

  // These and nothing that was gathered: all or nothing. Any thread.
  virtual base::Status apply(std::span<const RocksChange> changes, Sync sync) = 0;

  // Gives back the space of what was removed between two keys: whole tables at once, the rest by
  // rewriting what is around it. Any thread; writes go on meanwhile.
  virtual base::Status compact(Family family, std::string_view begin, std::string_view end) = 0;

  // Writes what is in memory to tables. Closing does not.
  virtual base::Status flush(Family family) = 0;
  // The same of all families, as of one moment.
  virtual base::Status flush_all() = 0;
  // What is in memory of all families, in bytes.
  virtual std::uint64_t unflushed_bytes() const = 0;
  // A secondary sees what the writer has done since.
  virtual base::Status catch_up() = 0;
  // Of a secondary, which passes in silence over tables that are missing or cut and shows what was
  // there before them: whether it has seen every table that there should be, each of its size.
  // Catches up. Errors: kCorrupt naming the table.
  virtual base::Status check_seen() = 0;
  // Reads every table and holds it against its checksums.
  virtual base::Status check_tables() const = 0;
};

}  // namespace karst::events
