#include "tests/simulation/trace.h"

#include <cstdio>

#include "events/codec.h"

namespace karst::simulation {

namespace {

std::string deletion(std::int64_t millis) {
  return millis == 0 ? "" : " deleting";
}

struct Detail {
  std::string operator()(const events::PodObserved& e) const {
    return e.pod.name + (e.pod.node.empty() ? "" : " on " + e.pod.node.str()) + " phase " +
           std::to_string(static_cast<int>(e.pod.phase)) +
           (e.pod.unschedulable ? " unschedulable" : "") + deletion(e.pod.deletion_millis);
  }
  std::string operator()(const events::NodeObserved& e) const {
    std::string text = e.node.provider_id.str() + (e.node.ready ? " ready" : " not ready");
    for (const model::Taint& taint : e.node.taints) text += " " + taint.key;
    return text + (e.node.has_finalizer ? " finalizer" : "") + deletion(e.node.deletion_millis);
  }
  std::string operator()(const events::NodeClaimObserved& e) const {
    return e.claim.uid.str() + " " + e.claim.provider_id.str() +
           (e.claim.has_finalizer ? " finalizer" : "") + deletion(e.claim.deletion_millis);
  }
  std::string operator()(const events::InstanceObserved& e) const {
    return e.instance.claim.str() + " state " + std::to_string(static_cast<int>(e.instance.state));
  }
  std::string operator()(const events::InterruptionReceived& e) const {
    return e.interruption.provider_id.str();
  }
  std::string operator()(const events::InputRefused& e) const {
    return e.source + " " + e.id + ": " + e.reason;
  }
  std::string operator()(const events::ListStarted& e) const { return e.kind; }
  std::string operator()(const events::ListEnded& e) const { return e.kind; }
  std::string operator()(const model::Command& e) const {
    std::string text = e.rule + ": " + e.reason + " " + model::subject_of(e.spec);
    if (const auto* launch = std::get_if<model::Launch>(&e.spec))
      for (const model::LaunchItem& item : launch->items)
        text += " " + item.name.str() + "=" + item.claim.str() + "#" + std::to_string(item.attempt);
    if (const auto* taint = std::get_if<model::TaintNode>(&e.spec))
      text += (taint->add ? " +" : " -") + taint->taint.key;
    if (const auto* finalizer = std::get_if<model::SetFinalizer>(&e.spec))
      text += (finalizer->add ? " +" : " -") + finalizer->object.name;
    return text;
  }
  std::string operator()(const model::AttemptStarted& e) const {
    return "attempt " + std::to_string(e.attempt);
  }
  std::string operator()(const model::CommandAbandoned& e) const { return e.reason; }
  std::string operator()(const model::Outcome& e) const {
    std::string text = std::string(model::outcome_kind_name(e.kind)) + " " +
                       std::string(model::refusal_code_name(e.code)) + " " + e.object_uid;
    for (const model::Instance& instance : e.instances)
      text +=
          " " + instance.provider_id.str() + "/" + std::to_string(static_cast<int>(instance.state));
    if (e.read_back) text += " pods " + std::to_string(e.read_back->pods.size());
    return text;
  }
  std::string operator()(const model::Verdict& e) const {
    std::string text = e.rule + ": " + e.code;
    for (const std::string& arg : e.args) text += " " + arg;
    return text;
  }
  std::string operator()(const model::Nomination& e) const {
    return e.claim.str() + e.node.str() + " " + std::to_string(e.pods.size()) + " pods";
  }
  std::string operator()(const events::RoundClosed& e) const {
    return std::to_string(e.facts) + " facts, " + std::to_string(e.decisions) + " decisions";
  }
  template <class Other>
  std::string operator()(const Other&) const {
    return "";
  }
};

}  // namespace

std::string trace_time(std::int64_t millis, std::int64_t start_millis) {
  char text[32];
  std::snprintf(text, sizeof text, "%9.3f", static_cast<double>(millis - start_millis) / 1000.0);
  return text;
}

std::string trace_line(const events::Event& event, std::int64_t start_millis) {
  const events::EventType type = event.envelope.type;
  if (type == events::EventType::kShapeRecorded || type == events::EventType::kSourceBeat ||
      type == events::EventType::kCatalogueObserved)
    return "";
  return trace_time(event.envelope.log_time.value(), start_millis) + " #" +
         std::to_string(event.envelope.position.value()) + " " +
         std::string(events::event_type_name(type)) + " " + std::string(event.envelope.stream) +
         " " + std::visit(Detail{}, events::decode_body(event));
}

}  // namespace karst::simulation
