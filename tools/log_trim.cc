// `karst log trim`: what an archive holds goes from the log, behind a baseline. `karst log expire`:
// what is too old goes from the archive, too.
#include <fmt/format.h>

#include <chrono>

#include "base/time.h"
#include "daemon/expirer.h"
#include "daemon/retention.h"
#include "daemon/system_clock.h"
#include "daemon/trimmer.h"
#include "events/codec.h"
#include "events/high_water.h"
#include "tools/open_log.h"
#include "tools/talk.h"

namespace karst::tools {
namespace {

base::Result<base::LogTime> last_time(const events::EventLog& log) {
  auto last = event_at(log, model::Position(log.end().value() - 1));
  if (!last) return base::fail(last.error());
  return *last ? (*last)->event.envelope.log_time : base::LogTime();
}

// The first event that stays, as asked for.
base::Result<model::Position> wanted(const LogTrimOptions& options, const events::EventLog& log) {
  if (!options.before.empty()) {
    if (const auto time = base::parse_rfc3339(options.before))
      return daemon::first_since(log, base::LogTime(*time));
    return parse_place(log, options.before, "--before");
  }
  const auto keep = daemon::parse_span_millis(options.keep);
  if (!keep) return base::fail(keep.error().with_context("--keep"));
  const auto end = last_time(log);
  if (!end) return base::fail(end.error());
  return daemon::first_since(log, base::LogTime(end->value() - *keep));
}

// Tells the log, and what its opening cut off, as the daemon would.
base::Status tell(events::RocksLog& log, const events::Body& body, base::WallTime now) {
  const auto last = last_time(log);
  if (!last) return base::fail(last.error());
  std::vector<events::Record> records;
  if (const auto& cut = log.open_report().cut) records.push_back(events::make_record(*cut));
  records.push_back(events::make_record(body));
  for (events::Record& record : records) {
    record.log_time = *last;
    record.wall_time = now;
  }
  auto first = log.append(records, events::Durability::kSynced);
  return first ? base::Status() : base::fail(first.error());
}

// A dry run is beside a daemon, which may have sealed more than the log had when it was opened.
base::Result<events::Archive> open_archive(const LogTrimOptions& options, events::RocksLog& log) {
  auto archive = events::Archive::open_existing(options.archive);
  if (archive && options.dry_run && !log.damage()) KARST_TRY(log.refresh());
  return archive;
}

Json summary_of(const LogTrimOptions& options, const events::RocksLog& log,
                const daemon::TrimLook& look) {
  Json summary;
  summary["log"] = log.id().str();
  summary["data"] = options.data;
  summary["archive"] = options.archive;
  summary["dry_run"] = options.dry_run;
  summary["events_that_go"] = look.events;
  summary["bytes_that_go"] = look.bytes;
  summary["first_position"] = std::max(look.first, log.first()).value();
  summary["events_that_stay"] = log.end().value() - std::max(look.first, log.first()).value();
  return summary;
}

base::Status trim(const LogTrimOptions& options, events::RocksLog& log) {
  auto place = wanted(options, log);
  if (!place) return base::fail(place.error());
  auto archive = open_archive(options, log);
  if (!archive) return base::fail(archive.error());
  Progress progress("comparing with the archive", place->value(), Meanwhile::kSilence);
  const auto kill_points = daemon::KillPoints::from_environment();
  if (!kill_points) return base::fail(kill_points.error());
  daemon::Trimmer trimmer(
      log, *archive, options.archive,
      [&](model::Position position) {
        progress.at(position.value());
        return true;
      },
      *kill_points);
  const model::Position first = daemon::trim_place(*place);
  if (first <= log.first()) {
    print_value(summary_of(options, log, {first, 0, 0}), options.format);
    return {};
  }
  if (options.dry_run) {
    auto look = trimmer.check(first);
    if (!look) return base::fail(look.error());
    print_value(summary_of(options, log, *look), options.format);
    return {};
  }
  auto note = trimmer.prepare(first);
  if (!note) return base::fail(note.error());
  const base::WallTime now = daemon::SystemClock().wall();
  const model::Position from = log.end();
  KARST_TRY(tell(log, events::told_of(*note), now));
  auto told = trimmer.told(*note, from);
  if (!told) return base::fail(told.error());
  const std::uint64_t before = events::sizes_of(options.data).log_bytes;
  KARST_TRY(trimmer.finish(*note, **told, now));
  const std::uint64_t after = events::sizes_of(options.data).log_bytes;
  Json summary = summary_of(options, log, trimmer.look());
  summary["baseline_bytes"] = note->size;
  summary["folder_bytes_before"] = before;
  summary["folder_bytes_after"] = after;
  print_value(summary, options.format);
  return {};
}

// Log times before this are too old.
base::Result<base::LogTime> too_old(const LogTrimOptions& options, const events::EventLog& log) {
  if (!options.before.empty()) {
    if (const auto time = base::parse_rfc3339(options.before)) return base::LogTime(*time);
    return base::fail(
        base::Kind::kInvalid,
        fmt::format("--before '{}': expected a time such as 2026-11-21T10:17:51Z", options.before));
  }
  const auto keep = daemon::parse_span_millis(options.keep);
  if (!keep) return base::fail(keep.error().with_context("--keep"));
  const auto end = last_time(log);
  if (!end) return base::fail(end.error());
  return base::LogTime(end->value() - *keep);
}

void print_expiry(const LogTrimOptions& options, const events::RocksLog& log,
                  const events::Archive& archive, const daemon::ExpiryLook& look) {
  Json summary;
  summary["log"] = log.id().str();
  summary["data"] = options.data;
  summary["archive"] = options.archive;
  summary["dry_run"] = options.dry_run;
  summary["segments_that_go"] = look.segments;
  summary["events_that_go"] = look.events;
  summary["bytes_that_go"] = look.bytes;
  summary["first_position"] = look.first.value();
  summary["archived_to"] = archive.end().value() - 1;
  print_value(summary, options.format);
}

base::Status expire(const LogTrimOptions& options, events::RocksLog& log) {
  const auto before = too_old(options, log);
  if (!before) return base::fail(before.error());
  auto archive = open_archive(options, log);
  if (!archive) return base::fail(archive.error());
  Progress progress("reading the archive", archive->end().value(), Meanwhile::kSilence);
  const auto kill_points = daemon::KillPoints::from_environment();
  if (!kill_points) return base::fail(kill_points.error());
  daemon::Expirer expirer(
      log, *archive, options.archive,
      [&](model::Position position) {
        progress.at(position.value());
        return true;
      },
      *kill_points);
  if (options.dry_run) {
    auto look = expirer.check(*before);
    if (!look) return base::fail(look.error());
    print_expiry(options, log, *archive, *look);
    return {};
  }
  auto note = expirer.prepare(*before);
  if (!note) return base::fail(note.error());
  if (*note) {
    const base::WallTime now = daemon::SystemClock().wall();
    const model::Position from = log.end();
    KARST_TRY(tell(log, events::expired_of(**note, expirer.look().segments), now));
    auto told = daemon::told_since(log, events::EventType::kArchiveExpired, **note, from);
    if (!told) return base::fail(told.error());
    while (archive->end() <= **told)
      if (auto sealed = archive->seal_next(log, **told); !sealed) return base::fail(sealed.error());
    KARST_TRY(expirer.finish(**note, **told, now));
  }
  print_expiry(options, log, *archive, expirer.look());
  return {};
}

using Work = base::Status (*)(const LogTrimOptions&, events::RocksLog&);

// Beside a daemon when nothing changes; otherwise without one.
int with_log(const LogTrimOptions& options, Work work) {
  if (options.dry_run) {
    auto log = open_for_reading(options.data);
    if (!log) return report(log.error());
    const auto status = work(options, *log->log);
    return finish(*log, status ? kExitDone : report(status.error()));
  }
  const auto mark = events::HighWaterFile::read(options.data + "/high-water");
  if (!mark) return report(mark.error());
  if (!*mark)
    return report({base::Kind::kInvalid, options.data +
                                             " holds no log: expected a folder that 'karst run "
                                             "--data' made"});
  auto log = events::RocksLog::open({options.data, daemon::SystemClock().wall(), 0});
  if (!log) return report(log.error());
  const auto status = work(options, **log);
  return status ? kExitDone : report(status.error());
}

}  // namespace

int log_trim(const LogTrimOptions& options) {
  if (options.before.empty() == options.keep.empty())
    return report({base::Kind::kInvalid,
                   "log trim: expected either --before (the first event that stays) or --keep (how "
                   "long events stay)"});
  return with_log(options, trim);
}

int log_expire(const LogTrimOptions& options) {
  if (options.before.empty() == options.keep.empty())
    return report({base::Kind::kInvalid,
                   "log expire: expected either --before (the time since which events stay) or "
                   "--keep (how long events stay)"});
  return with_log(options, expire);
}

}  // namespace karst::tools
