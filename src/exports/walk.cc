#include "exports/walk.h"

#include <algorithm>

#include "projections/baseline.h"

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

base::Status begin_at_baseline(const events::EventLog& log, Filter& filter,
                               const std::vector<Output>& outputs,
                               projections::ClusterState& state) {
  const auto baseline = projections::load_baseline(log, state);
  if (!baseline) {
    base::Error error = baseline.error();
    // kGone is a reader that went away, which is no error of an export.
    if (error.kind == base::Kind::kGone) error.kind = base::Kind::kInvalid;
    return base::fail(std::move(error));
  }
  if (!*baseline) return {};
  filter.begin(state);
  for (const Output& output : outputs) output.view->begin(**baseline, state, filter);
  return {};
}

base::Result<Walked> walk(const events::EventLog& log, Filter& filter,
                          const std::vector<Output>& outputs,
                          const std::function<void(model::Position)>& at) {
  const bool history = std::any_of(outputs.begin(), outputs.end(),
                                   [](const Output& o) { return o.view->needs_history(); });
  projections::ClusterState state;
  if (history || filter.needs_history()) KARST_TRY(begin_at_baseline(log, filter, outputs, state));
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
      KARST_TRY(output.view->see(**event, taken, state, *output.writer));
    if (history) state.apply(**event);
    at((*event)->envelope.position);
  }
  KARST_TRY(filter.complete());
  for (const Output& output : outputs) {
    KARST_TRY(output.view->end(state, *output.writer));
    KARST_TRY(output.writer->finish());
  }
  return walked;
}

}  // namespace karst::exports
