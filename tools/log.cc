#include <fmt/format.h>

#include <chrono>
#include <map>
#include <thread>

#include "base/time.h"
#include "daemon/stop_signal.h"
#include "events/json_text.h"
#include "tools/describe.h"
#include "tools/export_filter.h"
#include "tools/open_log.h"
#include "tools/talk.h"

namespace karst::tools {
namespace {

struct TypeStat {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};

// `from` to the end as lines, or as items of one YAML list; returns the next position.
base::Result<model::Position> print_events(const events::EventLog& log, model::Position from,
                                           Format format, Progress* progress) {
  auto cursor = log.read(from);
  if (!cursor) return base::fail(cursor.error());
  model::Position next = from;
  for (;;) {
    auto event = (*cursor)->next();
    if (!event) return base::fail(event.error());
    if (!*event) return next;
    next = model::Position((*event)->envelope.position.value() + 1);
    if (progress != nullptr) progress->at(next.value() - 1);
    if (format == Format::kTable) {
      if (!print_line(event_line(**event))) return next;
      continue;
    }
    const std::string json = events::event_json(**event);
    const bool printed = format == Format::kJson
                             ? print_line(json)
                             : print_text(to_yaml(Json::array({Json::parse(json)})));
    if (!printed) return next;
  }
}

base::Status count_types(const events::EventLog& log, std::map<events::EventType, TypeStat>& types,
                         Json& summary) {
  auto cursor = log.read(log.first());
  if (!cursor) return base::fail(cursor.error());
  Progress progress("reading the log", log.end().value(), Meanwhile::kSilence);
  std::int64_t first = 0, last = 0;
  std::uint64_t events = 0, bytes = 0;
  for (;;) {
    auto event = (*cursor)->next();
    if (!event) return base::fail(event.error());
    if (!*event) break;
    const events::Envelope& envelope = (*event)->envelope;
    ++events;
    if (first == 0) first = envelope.log_time.value();
    last = envelope.log_time.value();
    const std::uint64_t size =
        events::kHeaderSize + envelope.stream.size() + (*event)->payload.size();
    TypeStat& stat = types[envelope.type];
    ++stat.count;
    stat.bytes += size;
    bytes += size;
    progress.at(envelope.position.value());
  }
  summary["log"] = log.id().str();
  summary["events"] = events;
  summary["bytes"] = bytes;
  if (log.first().value() > 1) summary["first_position"] = log.first().value();
  summary["rounds"] = types[events::EventType::kRoundClosed].count;
  summary["first"] = base::format_rfc3339(first);
  summary["last"] = base::format_rfc3339(last);
  return {};
}

}  // namespace

int log_stat(const LogOptions& options) {
  auto log = open_for_reading(options.data);
  if (!log) return report(log.error());
  say_trimmed(*log);
  std::map<events::EventType, TypeStat> types;
  Json summary;
  if (auto status = count_types(**log, types, summary); !status) return report(status.error());
  std::vector<std::vector<Json>> rows;
  Json by_type = Json::object();
  for (const auto& [type, stat] : types) {
    if (stat.count == 0) continue;
    const std::string name(events::event_type_name(type));
    rows.push_back({name, stat.count, stat.bytes});
    by_type[name] = {{"events", stat.count}, {"bytes", stat.bytes}};
  }
  if (options.format == Format::kTable) {
    print_value(summary, options.format);
    fmt::print("\n");
    print_rows({"type", "events", "bytes"}, rows, options.format);
  } else {
    summary["types"] = std::move(by_type);
    print_value(summary, options.format);
  }
  return finish(*log, kExitDone);
}

int log_dump(const LogOptions& options) {
  auto log = open_for_reading(options.data);
  if (!log) return report(log.error());
  record_access(options.data, "log dump --from " + std::to_string(options.from));
  Progress progress("dumping", (*log)->end().value(), Meanwhile::kData);
  if (options.from >= (*log)->end().value())
    say_nothing_fits("from=" + std::to_string(options.from), *log);
  const bool from_first = options.from <= 1;
  if (from_first) say_trimmed(*log);
  auto end = print_events(**log, from_first ? (*log)->first() : model::Position(options.from),
                          Format::kJson, &progress);
  return finish(*log, end ? kExitDone : report(end.error()));
}

int log_tail(const LogOptions& options) {
  // Its only end: the scratch folder goes with it. Before the log makes its threads.
  if (options.follow) daemon::block_stop_signals();
  auto log = open_for_reading(options.data);
  if (!log) return report(log.error());
  record_access(options.data, "log tail -n " + std::to_string(options.count) +
                                  (options.follow ? " --follow" : ""));
  const std::uint64_t end = (*log)->end().value();
  model::Position next =
      std::max((*log)->first(), model::Position(end > options.count ? end - options.count : 1));
  for (;;) {
    auto printed = print_events(**log, next, options.format, nullptr);
    if (!printed) return report(printed.error());
    if (!flush_output() || !options.follow || daemon::stop_signal_came() || log->sound->damage() ||
        std::ferror(stdout) != 0)
      return finish(*log, kExitDone);
    next = *printed;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    if (auto status = log->log->refresh(); !status) return report(status.error());
  }
}

}  // namespace karst::tools
