#include "index/terms.h"

#include <string>

#include "base/set_digest.h"
#include "events/codec.h"
#include "events/pod_view.h"
#include "model/ids.h"

namespace karst::index {
namespace {

using events::EventType;

Term joined(std::string_view kind, std::string_view name) {
  std::string text;
  text.reserve(kind.size() + name.size());
  return term_of(text.append(kind).append(name));
}

void append_machine(const model::ProviderId& id, std::vector<Term>& terms) {
  if (id.empty()) return;
  terms.push_back(joined("instance/", id.str()));
  const model::ProviderId machine = model::machine_of(id);
  if (machine != id) terms.push_back(joined("instance/", machine.str()));
}

void append_claim(const model::ClaimUid& uid, std::vector<Term>& terms) {
  if (!uid.empty()) terms.push_back(claim_uid_term(uid.str()));
}

void append_instance(const model::Instance& instance, std::vector<Term>& terms) {
  append_machine(instance.provider_id, terms);
  append_claim(instance.claim, terms);
}

void append_pod_name(std::string_view namespace_name, std::string_view name,
                     std::vector<Term>& terms) {
  std::string place;
  place.reserve(namespace_name.size() + 1 + name.size());
  place.append(namespace_name).append("/").append(name);
  terms.push_back(pod_name_term(place));
}

void append_named(const events::Body& body, std::vector<Term>& terms) {
  if (const auto* gone = std::get_if<events::PodGone>(&body))
    append_pod_name(gone->namespace_name, gone->name, terms);
  if (const auto* seen = std::get_if<events::NodeObserved>(&body))
    append_machine(seen->node.provider_id, terms);
  if (const auto* seen = std::get_if<events::NodeClaimObserved>(&body)) {
    append_machine(seen->claim.provider_id, terms);
    append_claim(seen->claim.uid, terms);
  }
  if (const auto* seen = std::get_if<events::InstanceObserved>(&body))
    append_instance(seen->instance, terms);
  if (const auto* outcome = std::get_if<model::Outcome>(&body))
    for (const model::Instance& instance : outcome->instances) append_instance(instance, terms);
  if (const auto* nomination = std::get_if<model::Nomination>(&body))
    for (const model::PodUid& uid : nomination->pods) terms.push_back(joined("pod/", uid.str()));
  if (const auto* command = std::get_if<model::Command>(&body))
    if (const auto* launch = std::get_if<model::Launch>(&command->spec))
      for (const model::LaunchItem& item : launch->items) {
        terms.push_back(joined("nodeclaim/", item.name.str()));
        append_claim(item.claim, terms);
      }
}

// Those whose body names more than their stream does.
bool names_more(EventType type) {
  return type == EventType::kPodGone || type == EventType::kNodeObserved ||
         type == EventType::kNodeClaimObserved || type == EventType::kInstanceObserved ||
         type == EventType::kOutcomeReceived || type == EventType::kPodsNominated ||
         type == EventType::kLaunchRequested;
}

}  // namespace

Term term_of(std::string_view text) {
  return base::hash128(text).low;
}
Term pod_name_term(std::string_view namespace_and_name) {
  return joined("pod-name/", namespace_and_name);
}
Term claim_uid_term(std::string_view uid) {
  return joined("claim-uid/", uid);
}

void append_terms(const events::Event& event, std::vector<Term>& terms) {
  terms.push_back(term_of(event.envelope.stream));
  if (event.envelope.type == EventType::kPodObserved) {
    std::string labels;
    const events::PodView pod = events::view_pod(event.payload, labels);
    append_pod_name(pod.namespace_name, pod.name, terms);
  } else if (names_more(event.envelope.type)) {
    append_named(events::decode_body(event), terms);
  }
}

}  // namespace karst::index
