// The way of an event into the state: what it changes (apply.h), how far the state is, and what
// goes with time alone.
#include "events/codec.h"
#include "projections/apply.h"

namespace karst::projections {

void ClusterState::apply(const events::Envelope& envelope, const events::Body& body) {
  settle_echoes(envelope.stream, body);
  Apply fold{*this, envelope, envelope.log_time};
  std::visit(fold, body);
  advance(envelope);
}

void ClusterState::advance(const events::Envelope& envelope) {
  last_position_ = envelope.position;
  if (envelope.log_time <= last_log_time_) return;
  const std::int64_t swept = last_log_time_.value() / kBackOffKeptMillis;
  last_log_time_ = envelope.log_time;
  if (last_log_time_.value() / kBackOffKeptMillis != swept) forget_old_back_offs();
}

// Answers that come after their subject has gone leave rows that nobody asks for any more.
void ClusterState::forget_old_back_offs() {
  std::vector<SubjectKind> old;
  for (const auto& [key, slot] : back_offs_.slots())
    if (last_log_time_ - slot.row.not_before >= kBackOffKeptMillis) old.push_back(key);
  for (const SubjectKind& key : old) back_offs_.erase(key);
}

void ClusterState::apply(const events::Event& event) {
  if (event.envelope.type != events::EventType::kPodObserved)
    return apply(event.envelope, events::decode_body(event));
  // Nearly every event of a large log: read in place.
  const events::PodView pod = events::view_pod(event.payload, pod_labels_);
  if (echoes_.size() != 0 && (pod.deletion_millis != 0 || pod.terminal()))
    settle_echoes(event.envelope.stream, events::decode_body(event));
  Apply{*this, event.envelope, event.envelope.log_time}.observe_pod(pod);
  advance(event.envelope);
}

}  // namespace karst::projections
