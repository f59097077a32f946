#include <fmt/format.h>

#include <string>

#include "base/base64.h"
#include "events/json_text.h"
#include "tools/open_log.h"
#include "tools/talk.h"

namespace karst::tools {
namespace {

base::Status export_lines(const events::EventLog& log) {
  auto cursor = log.read(model::Position(1));
  if (!cursor) return base::fail(cursor.error());
  Progress progress("exporting", log.end().value(), Meanwhile::kData);
  for (;;) {
    auto event = (*cursor)->next();
    if (!event) return base::fail(event.error());
    if (!*event) return {};
    auto json = events::event_json(**event);
    if (!json) return base::fail(json.error());
    const std::uint64_t position = (*event)->envelope.position.value();
    if (!print_line(fmt::format(R"({{"log":"{}","position":{},"bytes":"{}","event":{}}})",
                                log.id().str(), position, base::encode_base64((*event)->raw),
                                *json)))
      return {};
    progress.at(position);
  }
}

}  // namespace

int audit_export(const AuditExportOptions& options) {
  auto log = open_for_reading(options.data);
  if (!log) return report(log.error());
  record_access(options.data, "audit export --format " + options.format);
  auto status = export_lines(**log);
  return finish(*log, status ? kExitDone : report(status.error()));
}

}  // namespace karst::tools
