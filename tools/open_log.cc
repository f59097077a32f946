#include "tools/open_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/time.h"
#include "daemon/access.h"
#include "daemon/system_clock.h"
#include "engine/replay.h"
#include "events/codec.h"
#include "index/index.h"
#include "tools/talk.h"

namespace karst::tools {
namespace {

// The last position whose log time is at or before `time`; the one before first() when there is
// none. Log times never
// step back. What is damaged counts as later.
base::Result<model::Position> last_at(const events::EventLog& log, std::int64_t time) {
  std::uint64_t low = log.first().value() - 1, high = log.end().value() - 1;
  while (low < high) {
    const std::uint64_t middle = low + (high - low + 1) / 2;
    auto found = event_at(log, model::Position(middle));
    if (!found) return base::fail(found.error());
    if (*found && (*found)->event.envelope.log_time.value() <= time)
      low = middle;
    else
      high = middle - 1;
  }
  return model::Position(low);
}

std::string& scratch_parent() {
  static std::string parent;
  return parent;
}

std::string place_for_scratch() {
  if (!scratch_parent().empty()) return scratch_parent();
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  return error ? "/tmp" : parent.string();
}

constexpr std::string_view kScratchPrefix = "karst-read-";
constexpr std::string_view kUnlockedPrefix = "karst-make-";
constexpr std::size_t kSuffixSize = 6;
constexpr int kLeftBehindMax = 64;  // removed by one reader: the rest is for the next one

// Held by this process until it is closed; -1 when another one has it, or there is no locking.
int lock_folder(const std::string& path) {
  const int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder >= 0 && flock(folder, LOCK_EX | LOCK_NB) == 0) return folder;
  if (folder >= 0) close(folder);
  return -1;
}

// What readers left that were killed: nobody holds their locks. Ids of processes would not tell,
// where two containers share a volume.
void remove_left_behind(const std::string& parent) {
  std::error_code error;
  int removed = 0;
  for (std::filesystem::directory_iterator it(parent, error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!name.starts_with(kScratchPrefix)) continue;
    const int lock = lock_folder(it->path().string());
    if (lock < 0) continue;
    struct stat status{};
    std::error_code ignored;
    if (fstat(lock, &status) == 0 && status.st_uid == geteuid())
      std::filesystem::remove_all(it->path(), ignored);
    close(lock);
    if (++removed == kLeftBehindMax) break;
  }
}

}  // namespace

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

void use_scratch(const std::string& parent) {
  scratch_parent() = parent;
}

base::Result<ScratchFolder> ScratchFolder::make() {
  const std::string parent = place_for_scratch();
  remove_left_behind(parent);
  // Under a name that nobody sweeps until it is locked.
  std::string made = parent + "/" + std::string(kUnlockedPrefix) + "XXXXXX";
  if (mkdtemp(made.data()) != nullptr) {
    const int lock = lock_folder(made);
    const std::string suffix = made.substr(made.size() - kSuffixSize);
    std::string path = parent + "/" + std::string(kScratchPrefix) + suffix;
    if (std::rename(made.c_str(), path.c_str()) != 0) path = made;
    return ScratchFolder(std::move(path), lock);
  }
  return base::fail(base::Kind::kDenied,
                    fmt::format("no folder can be made in {}: a reader needs one for its notes; "
                                "name a folder that can be written with --scratch DIR",
                                parent));
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  if (lock_ >= 0) close(lock_);
}

base::Result<ReadLog> open_for_reading(const std::string& data) {
  auto scratch = ScratchFolder::make();
  if (!scratch) return base::fail(scratch.error());
  auto log = events::RocksLog::open_reader(data, scratch->path());
  if (!log) return base::fail(log.error());
  if (const std::string& odd = (*log)->open_report().mark_oddity; !odd.empty())
    fmt::print(stderr, "karst: {}/high-water {}\n", printable(data), odd);
  auto sound = std::make_unique<SoundLog>(**log);
  return ReadLog{std::move(*scratch), std::move(*log), std::move(sound)};
}

std::unique_ptr<index::Reader> open_index(const ReadLog& log, const std::string& data) {
  auto index = index::Reader::open(index::index_folder(data), *log, log.log->secret(),
                                   log.scratch.path() + "/index");
  if (index) return std::move(*index);
  if (index.error().kind != base::Kind::kGone)
    fmt::print(stderr, "karst: the index cannot be used, the log is read instead: {}\n",
               printable(index.error().message));
  return nullptr;
}

void record_access(const std::string& data, std::string_view command) {
  const auto recorded = daemon::tell_access(data, command, daemon::SystemClock().wall());
  if (!recorded)
    fmt::print(stderr, "karst: that the trail was read ({}) is not recorded: {}\n",
               printable(command), printable(recorded.error().message));
}

class SoundLog::SoundCursor final : public events::Cursor {
 public:
  SoundCursor(std::unique_ptr<events::Cursor> cursor, std::optional<base::Error>& damage)
      : cursor_(std::move(cursor)), damage_(damage) {}

  base::Result<std::optional<events::Event>> next() override {
    auto event = cursor_->next();
    if (event || event.error().kind != base::Kind::kCorrupt) return event;
    damage_ = event.error();
    return std::optional<events::Event>();
  }

 private:
  std::unique_ptr<events::Cursor> cursor_;
  std::optional<base::Error>& damage_;
};

base::Result<model::Position> SoundLog::append(std::span<const events::Record>,
                                               events::Durability) {
  return base::fail(base::Kind::kDenied, "the log was opened for reading");
}

base::Result<std::unique_ptr<events::Cursor>> SoundLog::read(model::Position from) const {
  auto cursor = log_.read(from);
  if (!cursor) return cursor;
  return std::unique_ptr<events::Cursor>(
      std::make_unique<SoundCursor>(std::move(*cursor), damage_));
}

void say_trimmed(const ReadLog& log) {
  if (const auto mark = log.log->trimmed())
    fmt::print(stderr, "karst: this log begins at position {}: {}\n", mark->first().value(),
               printable(events::where_trimmed(*mark)));
}

base::Status refuse_damaged(const ReadLog& log, std::string_view what) {
  const std::optional<base::Error>& damage = log.sound->damage();
  if (!damage) return {};
  return base::fail(damage->kind,
                    fmt::format("{}. So {} is not made: what is sound here is not all of it. "
                                "Restore the log ('karst log restore') and ask again",
                                damage->message, what));
}

base::Result<projections::ClusterState> state_at(const ReadLog& log, model::Position last) {
  projections::ClusterState state;
  const auto folded = engine::rebuild(*log, &log.log->snapshots(), last, state);
  if (!folded) return base::fail(folded.error());
  return state;
}

int finish(const ReadLog& log, int code) {
  if (code == kExitDamaged) return code;
  return log.sound->damage() ? report(*log.sound->damage()) : code;
}

base::Result<std::optional<FoundEvent>> event_at(const events::EventLog& log,
                                                 model::Position position) {
  auto cursor = log.read(position);
  if (!cursor) return base::fail(cursor.error());
  auto event = (*cursor)->next();
  if (!event) return base::fail(event.error());
  if (!*event) return std::optional<FoundEvent>();
  return std::optional<FoundEvent>(FoundEvent{std::move(*cursor), **event});
}

base::Result<model::Position> parse_place(const events::EventLog& log, std::string_view text,
                                          std::string_view option) {
  const std::uint64_t first = log.first().value(), last = log.end().value() - 1;
  const std::string command_prefix = log.id().str() + "-";
  if (text.starts_with(command_prefix)) text.remove_prefix(command_prefix.size());
  const auto end = event_at(log, model::Position(last));
  if (!end) return base::fail(end.error());
  const std::int64_t last_time = *end ? (*end)->event.envelope.log_time.value() : 0;
  const auto outside = [&] {
    return base::fail(base::Kind::kInvalid,
                      fmt::format("{} {}: the log has the positions {} to {}, and ends at {}",
                                  option, text, first, last, base::format_rfc3339(last_time)));
  };
  if (const auto number = whole_number(text)) {
    if (*number >= first && *number <= last) return model::Position(*number);
    // The error of reading there says where it is.
    if (auto gone = event_at(log, model::Position(std::max<std::uint64_t>(*number, 1)));
        !gone && gone.error().kind == base::Kind::kInvalid)
      return base::fail(gone.error().with_context(fmt::format("{} {}", option, text)));
    return outside();
  }
  const auto time = base::parse_rfc3339(text);
  if (!time) {
    return base::fail(base::Kind::kInvalid,
                      fmt::format("{} '{}': expected a position (a number) or a time such as "
                                  "2026-11-21T10:17:51Z",
                                  option, text));
  }
  if (*time > last_time) return outside();
  auto position = last_at(log, *time);
  if (!position) return base::fail(position.error());
  if (*position < log.first())
    return base::fail(base::Kind::kInvalid,
                      fmt::format("{} {}: the log begins later than that, with position {}", option,
                                  text, first));
  return *position;
}

base::Result<model::Position> command_place(const events::EventLog& log, const std::string& id) {
  if (base::parse_rfc3339(id))
    return base::fail(base::Kind::kInvalid,
                      fmt::format("command/{}: expected the id of a command, a number", id));
  auto place = parse_place(log, id, "command");
  if (!place) {
    return base::fail(base::Kind::kInvalid,
                      fmt::format("command/{}: expected the id of a command, which is its position "
                                  "in the log, {} to {}",
                                  id, log.first().value(), log.end().value() - 1));
  }
  auto found = event_at(log, *place);
  if (!found) return base::fail(found.error());
  if (*found && std::holds_alternative<model::Command>(events::decode_body((*found)->event)))
    return place;
  return base::fail(
      base::Kind::kInvalid,
      fmt::format("command/{}: no command, at that position is {}; 'karst state commands' lists "
                  "the open ones",
                  id, *found ? events::event_type_name((*found)->event.envelope.type) : "nothing"));
}

}  // namespace karst::tools
