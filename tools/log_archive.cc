// `karst log archive` and `karst log restore`: the log into a folder of sealed segments, and a log
// again out of them.
#include <fmt/format.h>

#include <filesystem>
#include <thread>

#include "events/archive.h"
#include "events/archive_files.h"
#include "events/high_water.h"
#include "tools/open_log.h"
#include "tools/talk.h"

namespace karst::tools {
namespace {

constexpr std::size_t kRestoreBatchMax = 4096;

// Up to here, or to what is on stable storage: what a crash may still take back is not sealed.
base::Result<model::Position> last_to_seal(const LogArchiveOptions& options, const ReadLog& log) {
  const auto mark = events::HighWaterFile::read(options.data + "/high-water");
  if (!mark) return base::fail(mark.error());
  const model::Position stable =
      *mark ? std::min((*mark)->position, model::Position(log->end().value() - 1))
            : model::Position(0);
  if (options.until.empty()) return stable;
  auto until = parse_place(*log, options.until, "--until");
  if (!until) return until;
  return std::min(*until, stable);
}

base::Status archive_log(const LogArchiveOptions& options, const ReadLog& log) {
  // Before its folder is made.
  KARST_TRY(refuse_damaged(log, "a segment of its archive"));
  auto archive = events::Archive::open(options.archive, {log.log->id(), log.log->secret()});
  if (!archive) return base::fail(archive.error());
  // A daemon beside may have sealed more than the log had when it was opened.
  if (!log.log->damage()) KARST_TRY(log.log->refresh());
  const auto last = last_to_seal(options, log);
  if (!last) return base::fail(last.error());
  Progress progress("archiving", last->value(), Meanwhile::kSilence);
  std::uint64_t sealed = 0, bytes = 0;
  for (;;) {
    // Not through SoundLog, which would end where the damage begins: what is before it is no
    // reason to seal a short segment.
    const auto segment = archive->seal_next(*log.log, *last);
    if (!segment) return base::fail(segment.error());
    if (!*segment) break;
    ++sealed;
    bytes += (*segment)->bytes;
    progress.at((*segment)->last.value());
    std::this_thread::sleep_for(events::kArchiveLockPause);
  }
  Json summary;
  summary["log"] = log.log->id().str();
  summary["archive"] = options.archive;
  summary["sealed_segments"] = sealed;
  summary["sealed_bytes"] = bytes;
  summary["segments"] = archive->segments().size();
  summary["archived_to"] = archive->end().value() - 1;
  print_value(summary, options.format);
  return {};
}

// What has expired in the archive is to the restored log what was trimmed.
base::Status begin_behind(events::RocksLog& log, const events::Archive& archive) {
  KARST_TRY(archive.each_expired_tile(
      [&](std::uint64_t tile, std::string_view hashes) { return log.keep_leaves(tile, hashes); }));
  const auto baseline = archive.baseline();
  if (!baseline) return base::fail(baseline.error());
  if (!*baseline) return {};
  const auto note = log.begin_behind(**baseline);
  return note ? base::Status() : base::fail(note.error());
}

base::Status mark_trimmed(events::RocksLog& log, const events::Archive& archive,
                          const std::string& folder) {
  if (!archive.expired()) return {};
  events::TrimMark mark = *archive.expired();
  mark.archive = std::filesystem::absolute(folder).lexically_normal().string();
  KARST_TRY(log.trim(mark));
  return log.archive_begins(archive.first());
}

base::Status fill(events::RocksLog& log, const events::Archive& archive,
                  const std::string& folder) {
  Progress progress("restoring", archive.end().value(), Meanwhile::kSilence);
  KARST_TRY(begin_behind(log, archive));
  std::vector<std::string> batch;
  const auto write = [&]() -> base::Status {
    KARST_TRY(log.append_stored(batch));
    batch.clear();
    progress.at(log.end().value());
    return {};
  };
  KARST_TRY(events::each_archived(archive, [&](const events::Event& event) -> base::Status {
    batch.emplace_back(event.raw);
    return batch.size() < kRestoreBatchMax ? base::Status() : write();
  }));
  KARST_TRY(write());
  KARST_TRY(mark_trimmed(log, archive, folder));
  return log.end_restored();
}

base::Status restore_log(const LogArchiveOptions& options) {
  auto archive = events::Archive::open_existing(options.archive);
  if (!archive) return base::fail(archive.error());
  if (archive->segments().empty())
    return base::fail(base::Kind::kInvalid, options.archive + " holds no segment yet");
  auto log = events::RocksLog::begin_restored(options.data, archive->identity());
  if (!log) return base::fail(log.error());
  if (const auto filled = fill(**log, *archive, options.archive); !filled)
    return base::fail(filled.error().with_context("restoring into " + options.data));
  Json summary;
  summary["log"] = archive->identity().id.str();
  summary["data"] = options.data;
  summary["segments"] = archive->segments().size();
  summary["events"] = (*log)->end().value() - (*log)->first().value();
  if (archive->expired()) summary["first_position"] = (*log)->first().value();
  print_value(summary, options.format);
  return {};
}

}  // namespace

int log_archive(const LogArchiveOptions& options) {
  auto log = open_for_reading(options.data);
  if (!log) return report(log.error());
  record_access(options.data, "log archive --archive " + options.archive);
  const auto status = archive_log(options, *log);
  return finish(*log, status ? kExitDone : report(status.error()));
}

int log_restore(const LogArchiveOptions& options) {
  const auto status = restore_log(options);
  return status ? kExitDone : report(status.error());
}

}  // namespace karst::tools
