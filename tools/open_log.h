// How the read-only commands reach a log: beside a running daemon, through a reader of its own with
// a scratch folder that goes when it does. And places in the log as people write them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "events/event_log.h"
#include "events/rocks_log.h"
#include "index/reader.h"
#include "model/ids.h"
#include "projections/cluster_state.h"

namespace karst::tools {

// Where scratch folders are made from now on, as --scratch says; otherwise in $TMPDIR, or /tmp.
void use_scratch(const std::string& parent);

// A folder in that place, removed with all it holds when its owner goes. Its owner holds a lock on
// it: one whose owner was killed is removed by the next reader that makes one there.
class ScratchFolder {
 public:
  static base::Result<ScratchFolder> make();
  ScratchFolder(ScratchFolder&& other) noexcept
      : path_(std::exchange(other.path_, {})), lock_(std::exchange(other.lock_, -1)) {}
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder();
  const std::string& path() const { return path_; }

 private:
  ScratchFolder(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  std::string path_;
  int lock_;  // -1: where folders cannot be locked, and nobody removes others' either
};

// A log as far as it can be read: cursors end where the damage begins, which is remembered. So a
// command shows what is sound, and says at its end what is not: see finish. One thread.
class SoundLog final : public events::EventLog {
 public:
  explicit SoundLog(const events::RocksLog& log) : log_(log), damage_(log.damage()) {}

  const model::LogId& id() const override { return log_.id(); }
  base::Result<model::Position> append(std::span<const events::Record> records,
                                       events::Durability durability) override;
  base::Result<std::unique_ptr<events::Cursor>> read(model::Position from) const override;
  model::Position end() const override { return log_.end(); }
  model::Position first() const override { return log_.first(); }
  base::Result<std::optional<events::Baseline>> baseline() const override {
    return log_.baseline();
  }
  base::Result<std::string> trimmed_leaves(std::uint64_t tile) const override {
    return log_.trimmed_leaves(tile);
  }

  // What was found when the log was opened, or by a cursor since.
  const std::optional<base::Error>& damage() const { return damage_; }

 private:
  class SoundCursor;
  const events::RocksLog& log_;
  mutable std::optional<base::Error> damage_;
};

struct ReadLog {
  ScratchFolder scratch;
  std::unique_ptr<events::RocksLog> log;  // goes before its scratch folder
  std::unique_ptr<SoundLog> sound;

  events::EventLog& operator*() const { return *sound; }
  events::EventLog* operator->() const { return sound.get(); }
};

// Errors: those of RocksLog::open_reader.
base::Result<ReadLog> open_for_reading(const std::string& data);

// The index beside it; nullptr when there is none that can be used, and then stderr says why, but
// not of a folder that never had one.
std::unique_ptr<index::Reader> open_index(const ReadLog& log, const std::string& data);

// Records that the trail is read, before any of it is given out (daemon/access.h); stderr says so
// where that cannot be recorded.
void record_access(const std::string& data, std::string_view command);

// Says on stderr where a trimmed log begins, and what has the rest; nothing of a whole one. For
// commands whose output could be taken for all there was.
void say_trimmed(const ReadLog& log);

// For what stands for the whole log: a head of its tree, a file that appears when it is whole. The
// error, kCorrupt, where the log was found damaged so far, with why `what` is not made of the rest:
// nobody who sees the result alone could tell it from a whole log that is that short.
base::Status refuse_damaged(const ReadLog& log, std::string_view what);

// What the log folds to up to `last`, through its snapshots; or up to where it is damaged, which
// finish() tells. Errors: those of engine::rebuild.
base::Result<projections::ClusterState> state_at(const ReadLog& log, model::Position last);

// How a command that read ends: with `code`, or, where the log was found damaged, with that on
// stderr, unless `code` says it already, and its exit code.
int finish(const ReadLog& log, int code);

// A position ("1234"), a CommandId ("<log id>-1234") or a time (RFC 3339: the last event at or
// before it). `option` names what is being parsed. Errors: kInvalid when it is none of these or
// outside the log, whose end is named then.
base::Result<model::Position> parse_place(const events::EventLog& log, std::string_view text,
                                          std::string_view option);

// Where a command is in the log, from its id: a position, or "<log id>-1234". Errors: kInvalid when
// it is no id, outside the log, or the position of something else, which is named then.
base::Result<model::Position> command_place(const events::EventLog& log, const std::string& id);

// Decimal digits and nothing else.
std::optional<std::uint64_t> whole_number(std::string_view text);

// One event; nullopt past the end. Views stay valid as long as the returned cursor.
struct FoundEvent {
  std::unique_ptr<events::Cursor> cursor;
  events::Event event;
};
base::Result<std::optional<FoundEvent>> event_at(const events::EventLog& log,
                                                 model::Position position);

}  // namespace karst::tools
