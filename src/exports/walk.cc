#include "exports/walk.h"

#include <algorithm>

namespace karst::exports {
namespace {

void count(const events::Event& event, Walked& walked) {
  const events::Envelope& e = event.envelope;
  ++walked.events;
  walked.event_bytes += events::kHeaderSize + e.stream.size() + event.payload.size();
  if (walked.first.value() == 0) walked.first = e.position;
  walked.last = e.position;
}

}  // namespace

base::Result<Walked> walk(const events::EventLog& log, Filter& filter,
                          const std::vector<Output>& outputs,
                          const std::function<void(model::Position)>& at) {
  const bool history = std::any_of(outputs.begin(), outputs.end(),
                                   [](const Output& o) { return o.view->needs_history(); });
  auto cursor = log.read(history ? log.first() : filter.first_in(log));
  if (!cursor) return base::fail(cursor.error());
  Walked walked;
  for (;;) {
    auto event = (*cursor)->next();
    if (!event) return base::fail(event.error());
    if (!*event || filter.ends_before((*event)->envelope)) break;
    const bool taken = filter.takes(**event);
    if (taken) count(**event, walked);
    for (const Output& output : outputs)
      KARST_TRY(output.view->see(**event, taken, *output.writer));
    at((*event)->envelope.position);
  }
  for (const Output& output : outputs) {
    KARST_TRY(output.view->end(*output.writer));
    KARST_TRY(output.writer->finish());
  }
  return walked;
}

}  // namespace karst::exports
