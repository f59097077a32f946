// `audit export`: the tables of src/exports here; the trail that carries its proof in audit.cc.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <optional>

#include "daemon/version.h"
#include "exports/byte_sink.h"
#include "exports/cloud_events.h"
#include "exports/csv.h"
#include "exports/origin.h"
#include "exports/parquet.h"
#include "exports/sqlite.h"
#include "exports/walk.h"
#include "tools/audit_tree.h"
#include "tools/export_filter.h"
#include "tools/talk.h"

namespace karst::tools {
namespace {

// What every format needs.
struct Task {
  const AuditExportOptions& options;
  const ReadLog& read;
  const events::EventLog& log;
  exports::Filter filter;
  exports::Withheld withheld;
  exports::Origin origin;
  std::string checkpoint;  // the head of the tree, where the format has a place for it
};

base::Result<exports::Walked> fill(Task& task, const std::vector<exports::Output>& outputs) {
  Progress progress("exporting", task.log.end().value(),
                    task.options.out.empty() ? Meanwhile::kData : Meanwhile::kSilence);
  // Not through SoundLog: a walk that ends early gives a Parquet file its footer, and a batch its
  // bracket.
  auto walked = exports::walk(*task.read.log, task.filter, outputs,
                              [&](model::Position position) { progress.at(position.value()); });
  if (walked && walked->events == 0 && !task.filter.takes_all())
    say_nothing_fits(task.filter.text(), task.read);
  return walked;
}

void tell_rows(const std::vector<exports::Output>& outputs) {
  for (const exports::Output& output : outputs)
    fmt::print(stderr, "{}: {} rows\n", output.view->table().name, output.view->rows());
}

// What the file says about itself, where its format has a place for that.
exports::MetaData about(const Task& task) {
  const bool whole = task.filter.takes_all() && task.withheld.redaction.none() &&
                     task.log.first() == model::Position(1);
  return {{"log", task.origin.log},
          {"log_begins_at", std::to_string(task.log.first().value())},
          {"checkpoint", task.checkpoint},
          {"cluster_uid", task.origin.cluster_uid},
          {"exported_by", "karst " + daemon::build_version()},
          {"filter", task.filter.text()},
          {"withheld", task.withheld.redaction.text()},
          {"whole", whole ? "yes" : "no"}};
}

std::unique_ptr<exports::TableWriter> make_writer(const Task& task, const exports::Table& table,
                                                  exports::ByteSink& sink) {
  const std::string& format = task.options.format;
  if (format == "parquet")
    return std::make_unique<exports::ParquetWriter>(table, about(task), sink);
  if (format.starts_with("cloudevents"))
    return std::make_unique<exports::CloudEventsWriter>(task.origin, format == "cloudevents-batch",
                                                        sink);
  return std::make_unique<exports::CsvWriter>(table, sink);
}

// One view into one file, or to stdout.
base::Status export_table(Task& task) {
  const AuditExportOptions& o = task.options;
  if (o.format.starts_with("cloudevents") && !o.view.empty() && o.view != "events")
    return base::fail(
        base::Kind::kInvalid,
        "--view " + o.view + ": " + o.format + " holds events; csv, parquet and sqlite have views");
  std::optional<exports::OutputFile> file;
  if (!o.out.empty()) {
    auto made = exports::OutputFile::make(o.out);
    if (!made) return base::fail(made.error());
    file.emplace(std::move(*made));
  }
  exports::ByteSink sink(file ? file->descriptor() : STDOUT_FILENO, file ? o.out : "stdout");
  std::vector<exports::Output> outputs(1);
  outputs[0].view = exports::make_view(o.view.empty() ? "events" : o.view, task.withheld);
  outputs[0].writer = make_writer(task, outputs[0].view->table(), sink);
  auto walked = fill(task, outputs);
  if (!walked && !file && walked.error().kind == base::Kind::kCorrupt)
    KARST_TRY(sink.flush());  // what is sound is shown
  if (!walked) return base::fail(walked.error());
  if (!file) return {};
  KARST_TRY(refuse_damaged(task.read, o.out));
  KARST_TRY(file->finish());
  tell_rows(outputs);
  return {};
}

base::Status write_meta(exports::SqliteFile& file, const Task& task, const exports::Walked& walked,
                        const std::vector<exports::Output>& outputs) {
  exports::MetaData meta = about(task);
  meta.emplace_back("first_position", std::to_string(walked.first.value()));
  meta.emplace_back("last_position", std::to_string(walked.last.value()));
  meta.emplace_back("events", std::to_string(walked.events));
  meta.emplace_back("event_bytes", std::to_string(walked.event_bytes));
  for (const exports::Output& output : outputs)
    meta.emplace_back("rows_" + std::string(output.view->table().name),
                      std::to_string(output.view->rows()));
  for (const auto& [key, value] : meta) KARST_TRY(file.set_meta(key, value));
  return {};
}

// Every view is a table, unless one is asked for.
base::Status export_sqlite(Task& task) {
  const AuditExportOptions& o = task.options;
  auto file = exports::OutputFile::make(o.out);
  if (!file) return base::fail(file.error());
  auto database = exports::SqliteFile::open(file->part_path());
  if (!database) return base::fail(database.error());
  std::vector<exports::Output> outputs;
  for (const std::string_view name : exports::kViews) {
    if (!o.view.empty() && o.view != name) continue;
    if (!exports::can_withhold(name, task.withheld.redaction)) continue;
    auto view = exports::make_view(name, task.withheld);
    auto writer = database->add(view->table());
    if (!writer) return base::fail(writer.error());
    outputs.push_back({std::move(view), std::move(*writer)});
  }
  auto walked = fill(task, outputs);
  if (!walked) return base::fail(walked.error());
  KARST_TRY(write_meta(*database, task, *walked, outputs));
  tell_rows(outputs);
  outputs.clear();
  KARST_TRY(database->finish());
  return file->finish();
}

// What can be told without the log.
base::Status check(const AuditExportOptions& o) {
  if (o.format.starts_with("cloudevents") && !o.view.empty() && o.view != "events")
    return base::fail(
        base::Kind::kInvalid,
        "--view " + o.view + ": " + o.format + " holds events; csv, parquet and sqlite have views");
  if (o.format == "sqlite" && o.out.empty())
    return base::fail(base::Kind::kInvalid,
                      "--format sqlite: a database is written in place; expected --out FILE");
  auto redaction = exports::Redaction::make(o.redact);
  if (!redaction) return base::fail(redaction.error());
  if (!o.view.empty() && !exports::can_withhold(o.view, *redaction))
    return base::fail(base::Kind::kInvalid,
                      "--view " + o.view + ": is made from payloads that --redact " +
                          redaction->text() +
                          " withholds; events and decisions can leave them out");
  return {};
}

// Which log, of what size, these rows were made from: to be held against a trail, or heads kept
// elsewhere. Empty where no format has a place for it.
base::Result<std::string> checkpoint_of(const AuditExportOptions& options, const ReadLog& log) {
  if (options.format != "parquet" && options.format != "sqlite") return std::string();
  auto key = signer_of(options.signing_key, options.data, log->id());
  if (!key) return base::fail(key.error());
  auto tree = tree_of(log, options.data);
  if (!tree) return base::fail(tree.error());
  KARST_TRY(refuse_damaged(log, "a file with its checkpoint"));
  return checkpoint_bytes({proof::origin_of(log->id()), (*tree)->size, (*tree)->root},
                          *key ? &**key : nullptr);
}

base::Status export_as_asked(const AuditExportOptions& options, const ReadLog& log) {
  auto filter = filter_of(options.filter, log);
  if (!filter) return base::fail(filter.error());
  auto redaction = exports::Redaction::make(options.redact);
  if (!redaction) return base::fail(redaction.error());
  auto origin = exports::origin_of(*log);
  if (!origin) return base::fail(origin.error());
  auto checkpoint = checkpoint_of(options, log);
  if (!checkpoint) return base::fail(checkpoint.error());
  Task task{options,
            log,
            *log,
            std::move(*filter),
            {std::move(*redaction), log.log->secret()},
            std::move(*origin),
            std::move(*checkpoint)};
  return options.format == "sqlite" ? export_sqlite(task) : export_table(task);
}

}  // namespace

std::string access_text(const AuditExportOptions& o) {
  if (!o.recorded_as.empty()) return o.recorded_as;
  std::string text = "audit export --format " + o.format;
  const auto add = [&](const char* flag, const std::string& value) {
    if (!value.empty()) text += std::string(" ") + flag + " " + value;
  };
  add("--view", o.view);
  add("--from", o.filter.from);
  add("--to", o.filter.to);
  for (const std::string& subject : o.filter.subjects) add("--subject", subject);
  add("--kind", fmt::format("{}", fmt::join(o.filter.kinds, ",")));
  add("--redact", fmt::format("{}", fmt::join(o.redact, ",")));
  return text;
}

int audit_export(const AuditExportOptions& options) {
  if (options.format == "jsonl") return audit_export_jsonl(options);
  if (options.format == "tiles") return audit_export_tiles(options);
  if (const auto good = check(options); !good) return report(good.error());
  auto log = open_for_reading(options.data);
  if (!log) return report(log.error());
  record_access(options.data, access_text(options));
  say_trimmed(*log);
  const auto status = export_as_asked(options, *log);
  if (status) return finish(*log, kExitDone);
  // A reader that went away is told by the exit code alone.
  const bool gone = status.error().kind == base::Kind::kGone;
  return finish(*log, gone ? kExitOutOfReach : report(status.error()));
}

}  // namespace karst::tools
