#include "engine/decide.h"

#include "base/bytes.h"
#include "base/check.h"
#include "events/codec.h"
#include "reconcilers/reconciler.h"

namespace karst::engine {

model::Position apply_record(projections::ClusterState& state, const events::Record& record,
                             const events::Body& body) {
  events::Envelope envelope;
  envelope.position = state.next_position();
  envelope.log_time = record.log_time;
  envelope.wall_time = record.wall_time;
  envelope.causation = record.causation;
  envelope.correlation = record.correlation;
  envelope.type = record.type;
  envelope.stream = record.stream;
  state.apply(envelope, body);
  return envelope.position;
}

namespace {

// What hands must be told: the command itself, or the next attempt of one that is open. In a
// shadow only questions, which have one attempt.
void issue(const projections::ClusterState& state, const events::Body& body,
           model::Position position, Answer& answer) {
  if (const auto* command = std::get_if<model::Command>(&body)) {
    if (state.config().shadow && !reconcilers::asks_only(command->spec)) return;
    answer.commands.push_back({{state.log_id(), position}, 1, command->spec});
  } else if (const auto* attempt = std::get_if<model::AttemptStarted>(&body)) {
    KARST_CHECK(!state.config().shadow, "a question has one attempt");
    const auto* row = state.commands().find(attempt->command);
    KARST_CHECK(row != nullptr, "only an open command gets another attempt");
    answer.commands.push_back(
        {{state.log_id(), attempt->command}, attempt->attempt, row->command.spec});
  }
}

}  // namespace

Answer decide(projections::ClusterState& state, const providers::Provider& provider,
              reconcilers::ClassTypes& class_types, base::LogTime now, base::WallTime wall) {
  Answer answer;
  if (state.leadership_lost()) return answer;  // a standby admits facts and decides nothing
  for (const reconcilers::Reconciler& reconciler : reconcilers::reconcilers()) {
    if (state.config().shadow && !reconciler.in_shadow) continue;
    reconcilers::Plan plan(state, reconciler.name);
    reconciler.reconcile(state, reconcilers::Context{now, provider, class_types}, plan);
    if (const auto wake = plan.earliest_wake();
        wake && (!answer.wake_at || *wake < *answer.wake_at))
      answer.wake_at = wake;
    if (plan.full()) answer.wake_at = now;
    for (reconcilers::Decision& decision : plan.take_decisions()) {
      events::Record record = events::make_record(decision.body);
      record.log_time = now;
      record.wall_time = wall;
      record.causation = decision.causation;
      record.correlation =
          decision.correlation == model::Position() ? decision.causation : decision.correlation;
      const model::Position position = apply_record(state, record, decision.body);
      issue(state, decision.body, position, answer);
      answer.records.push_back(std::move(record));
    }
  }
  return answer;
}

base::Sha256Digest decision_digest(const std::vector<events::Record>& records) {
  base::Sha256 hash;
  base::ByteWriter writer;
  for (const events::Record& record : records) {
    writer.clear();
    writer(record.type, record.stream, record.causation, record.correlation, record.payload);
    hash.update(writer.view());
  }
  return hash.finish();
}

}  // namespace karst::engine
