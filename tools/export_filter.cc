#include "tools/export_filter.h"

#include <fmt/format.h>

#include "base/time.h"
#include "tools/talk.h"

namespace karst::tools {
namespace {

constexpr std::string_view kCommand = "command/";

// Of a trimmed log: what became of a command may still be at hand when the command is not.
bool is_trimmed(const events::EventLog& log, std::string_view id) {
  const std::string prefix = log.id().str() + "-";
  if (id.starts_with(prefix)) id.remove_prefix(prefix.size());
  const auto number = whole_number(id);
  return number && *number < log.first().value();
}

// When the event at `position` was; empty where it cannot be read.
std::string time_at(const events::EventLog& log, model::Position position) {
  const auto found = event_at(log, position);
  if (!found || !*found) return {};
  return base::format_rfc3339((*found)->event.envelope.log_time.value());
}

}  // namespace

base::Result<exports::Filter> filter_of(const exports::FilterOptions& options, const ReadLog& log) {
  auto filter = exports::Filter::make(options, log->id());
  if (!filter) return filter;
  for (const std::string& subject : options.subjects) {
    if (!subject.starts_with(kCommand)) continue;
    const std::string id = subject.substr(kCommand.size());
    if (is_trimmed(*log, id)) continue;
    const auto place = command_place(*log, id);
    if (!place) return base::fail(place.error().with_context("--subject"));
  }
  return filter;
}

void say_nothing_fits(const std::string& asked, const ReadLog& log) {
  const std::uint64_t first = log->first().value(), last = log->end().value() - 1;
  fmt::print(stderr,
             "karst: no event fits what was asked for: {}; the log has the positions {} to {}, of "
             "{} to {}\n",
             printable(asked), first, last, time_at(*log, model::Position(first)),
             time_at(*log, model::Position(last)));
}

}  // namespace karst::tools
