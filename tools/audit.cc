#include <fmt/format.h>

#include <string>

#include "events/json_text.h"
#include "tools/open_log.h"
#include "tools/talk.h"

namespace karst::tools {
namespace {

std::string base64(std::string_view bytes) {
  static constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      const bool there = i + j < bytes.size();
      group = group << 8 | (there ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      const bool padding = i + j > bytes.size();
      out += padding ? '=' : kAlphabet[group >> (18 - 6 * j) & 63];
    }
  }
  return out;
}

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
                                log.id().str(), position, base64((*event)->raw), *json)))
      return {};
    progress.at(position);
  }
}

}  // namespace

int audit_export(const AuditExportOptions& options) {
  auto log = open_for_reading(options.data);
  if (!log) return report(log.error());
  auto status = export_lines(**log);
  return finish(*log, status ? kExitDone : report(status.error()));
}

}  // namespace karst::tools
