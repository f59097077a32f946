#include "index/about.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "events/codec.h"
#include "index/search.h"

namespace karst::index {
namespace {

using events::EventType;

class Gathering {
 public:
  Gathering(const events::EventLog& log, const Reader* index, const Subject& subject,
            const std::function<void(model::Position)>& progress)
      : log_(log),
        index_(index),
        subject_(subject),
        progress_(progress),
        search_(log, index, progress) {}

  base::Result<About> run() {
    KARST_TRY(begin());
    KARST_TRY(search_.run(model::Position(1), [&](const events::Event& event) {
      see(event);
      return true;
    }));
    account(search_);
    if (!nominated_.empty()) KARST_TRY(run_commands());
    return std::move(about_);
  }

 private:
  base::Status begin() {
    switch (subject_.kind) {
      case SubjectKind::kPod:
        search_.want(pod_name_term(subject_.name));
        return {};
      case SubjectKind::kCommand:
        about_.story.push_back(subject_.command);
        add_stream("command/" + std::to_string(subject_.command.value()));
        return {};
      case SubjectKind::kNodeClaim:
        add_stream("nodeclaim/" + subject_.name);
        return {};
      case SubjectKind::kNodePool:
        add_stream("nodepool/" + subject_.name);
        return {};
      case SubjectKind::kNode:
        break;
    }
    add_stream("node/" + subject_.name);
    const base::Result<std::string> claim = claim_of_node();
    if (!claim) return base::fail(claim.error());
    if (!claim->empty()) add_stream("nodeclaim/" + *claim);
    return {};
  }

  void account(const Search& search) {
    about_.events_read += search.read();
    if (search.given_up()) about_.index_given_up = search.given_up()->message;
  }
  // A message of EC2 does not say the zone: interruptions have a stream of their own.
  void add_machine(const model::ProviderId& id) {
    add_stream("instance/" + id.str());
    add_stream("instance/" + model::machine_of(id).str());
  }
  void add_stream(const std::string& stream) {
    if (about_.streams.insert(stream).second) search_.want(term_of(stream));
  }
  void add_claim_uid(const std::string& uid) {
    if (claim_uids_.insert(uid).second) search_.want(claim_uid_term(uid));
  }
  void keep(model::Position position) {
    about_.story.push_back(position);
    if (about_.story.size() <= kStoryEventsMax) return;
    about_.story.erase(about_.story.begin());
    ++about_.left_out;
  }

  base::Status run_commands();
  void see_command(const events::Event& event, Search& search);
  void keep_trouble(model::Position position);
  void see(const events::Event& event);
  void see_pod(const events::Event& event, const events::Body& body);
  void see_machine(const events::Body& body);
  static bool orders_for(const events::Body& body, const std::set<std::string>& streams);
  base::Result<std::string> claim_of_node();
  base::Result<std::vector<model::ProviderId>> machines_of_node();
  base::Result<std::string> claim_of_machine(const model::ProviderId& machine);
  base::Result<std::string> claim_with_uid(const model::ClaimUid& uid);
  base::Status look(Term term, const std::function<bool(const events::Event&)>& visit);

  const events::EventLog& log_;
  const Reader* index_;
  const Subject& subject_;
  const std::function<void(model::Position)>& progress_;
  Search search_;
  About about_;
  std::set<std::string> claim_uids_;
  std::set<std::string> nominated_;        // streams of the claims that the pod was expected on
  std::set<std::string> led_to_;           // streams of the commands that make those
  std::vector<model::Position> troubles_;  // of theirs, rising, at most kStoryEventsMax
};

void Gathering::see_pod(const events::Event& event, const events::Body& body) {
  if (const auto* seen = std::get_if<events::PodObserved>(&body)) {
    if (seen->pod.namespace_name + "/" + seen->pod.name != subject_.name) return;
    about_.pod_uids.insert(seen->pod.uid.str());
    add_stream("pod/" + seen->pod.uid.str());
    add_stream("shape/" + to_string(seen->pod.shape));
  }
  if (const auto* nomination = std::get_if<model::Nomination>(&body)) {
    const bool named =
        std::any_of(nomination->pods.begin(), nomination->pods.end(),
                    [&](const model::PodUid& uid) { return about_.pod_uids.contains(uid.str()); });
    if (!named) return;
    keep(event.envelope.position);
    if (!nomination->claim.empty()) nominated_.insert("nodeclaim/" + nomination->claim.str());
  }
}

// A claim's command stands before the nomination, in the same round: hence a walk of its own.
base::Status Gathering::run_commands() {
  Search search(log_, index_, progress_);
  for (const std::string& stream : nominated_) search.want(term_of(stream));
  KARST_TRY(search.run(model::Position(1), [&](const events::Event& event) {
    see_command(event, search);
    return true;
  }));
  account(search);
  std::vector<model::Position> story = std::move(about_.story);
  about_.story.clear();
  const auto middle = story.insert(story.end(), troubles_.begin(), troubles_.end());
  std::inplace_merge(story.begin(), middle, story.end());
  for (const model::Position position : story) keep(position);
  return {};
}

void Gathering::keep_trouble(model::Position position) {
  troubles_.push_back(position);
  if (troubles_.size() <= kStoryEventsMax) return;
  troubles_.erase(troubles_.begin());
  ++about_.left_out;
}

void Gathering::see_command(const events::Event& event, Search& search) {
  const EventType type = event.envelope.type;
  const model::Position position = event.envelope.position;
  if (type == EventType::kNodeClaimCreateRequested || type == EventType::kLaunchRequested) {
    const events::Body body = events::decode_body(event);
    if (!nominated_.contains(std::string(event.envelope.stream)) && !orders_for(body, nominated_))
      return;
    const std::string stream = "command/" + std::to_string(position.value());
    if (led_to_.insert(stream).second) search.want(term_of(stream));
    return;
  }
  if (!led_to_.contains(std::string(event.envelope.stream))) return;
  const events::Body body = events::decode_body(event);
  if (const auto* outcome = std::get_if<model::Outcome>(&body)) {
    const bool done = outcome->kind == model::OutcomeKind::kDone;
    about_.refusal = done ? model::Position() : position;
    if (!done) keep_trouble(position);
  } else if (const auto* given_up = std::get_if<model::CommandAbandoned>(&body)) {
    // Such a command may have had its effect after all.
    if (given_up->reason == "claim_observed" || given_up->reason == "searched") about_.refusal = {};
    keep_trouble(position);
  } else if (type == EventType::kAttemptStarted) {
    keep_trouble(position);
  }
}

void Gathering::see_machine(const events::Body& body) {
  if (const auto* seen = std::get_if<events::NodeClaimObserved>(&body)) {
    const model::NodeClaim& claim = seen->claim;
    if (!about_.streams.contains("nodeclaim/" + claim.name.str())) return;
    if (!claim.uid.empty()) add_claim_uid(claim.uid.str());
    if (!claim.node_name.empty()) add_stream("node/" + claim.node_name.str());
    if (!claim.provider_id.empty()) add_machine(claim.provider_id);
  }
  if (const auto* outcome = std::get_if<model::Outcome>(&body)) {
    if (!outcome->object_uid.empty() &&
        about_.streams.contains("command/" + std::to_string(outcome->command.value())))
      add_claim_uid(outcome->object_uid);
    for (const model::Instance& instance : outcome->instances)
      if (claim_uids_.contains(instance.claim.str())) add_machine(instance.provider_id);
  }
  if (const auto* node = std::get_if<events::NodeObserved>(&body)) {
    if (about_.streams.contains("instance/" + node->node.provider_id.str()))
      add_stream("node/" + node->node.name.str());
  }
}

// One order may launch many claims; its stream names the first.
bool Gathering::orders_for(const events::Body& body, const std::set<std::string>& streams) {
  const auto* command = std::get_if<model::Command>(&body);
  const auto* launch = command == nullptr ? nullptr : std::get_if<model::Launch>(&command->spec);
  return launch != nullptr && std::any_of(launch->items.begin(), launch->items.end(),
                                          [&](const model::LaunchItem& item) {
                                            return streams.contains("nodeclaim/" + item.name.str());
                                          });
}

void Gathering::see(const events::Event& event) {
  const events::Envelope& envelope = event.envelope;
  const bool talk = envelope.type == EventType::kShapeRecorded ||
                    envelope.type == EventType::kRoundClosed ||
                    envelope.type == EventType::kSourceBeat;
  if (talk) return;
  const events::Body body = events::decode_body(event);
  const bool pod = subject_.kind == SubjectKind::kPod;
  if (pod)
    see_pod(event, body);
  else
    see_machine(body);
  if (!about_.streams.contains(std::string(envelope.stream)) && !orders_for(body, about_.streams))
    return;
  if (std::holds_alternative<model::Nomination>(body) && pod) return;
  if (envelope.type == EventType::kClaimMirrorRequested ||
      envelope.type == EventType::kPoolMirrorRequested ||
      envelope.type == EventType::kStatusMirrorRequested)
    return;  // nor its outcome
  if (std::holds_alternative<model::Command>(body))
    add_stream("command/" + std::to_string(envelope.position.value()));
  if (envelope.type == EventType::kNodeClaimCreateRequested && about_.created == model::Position())
    about_.created = envelope.position;
  keep(envelope.position);
}

base::Status Gathering::look(Term term, const std::function<bool(const events::Event&)>& visit) {
  Search search(log_, index_, progress_);
  search.want(term);
  const base::Status status = search.run(model::Position(1), visit);
  account(search);
  return status;
}

base::Result<std::vector<model::ProviderId>> Gathering::machines_of_node() {
  std::vector<model::ProviderId> machines;
  const std::string stream = "node/" + subject_.name;
  KARST_TRY(look(term_of(stream), [&](const events::Event& event) {
    if (event.envelope.type != EventType::kNodeObserved || event.envelope.stream != stream)
      return true;
    const events::Body body = events::decode_body(event);
    const model::ProviderId& id = std::get<events::NodeObserved>(body).node.provider_id;
    const model::ProviderId machine = model::machine_of(id);
    // What becomes of the machine is the node's story, also where no claim leads there: an orphan.
    if (!id.empty()) add_machine(id);
    if (!machine.empty() && std::find(machines.begin(), machines.end(), machine) == machines.end())
      machines.push_back(machine);
    return true;
  }));
  return machines;
}

// The name of the claim that this machine is for; empty: none is known.
base::Result<std::string> Gathering::claim_of_machine(const model::ProviderId& machine) {
  std::string name;
  model::ClaimUid uid;
  const auto is_it = [&](const model::Instance& instance) {
    if (model::machine_of(instance.provider_id) == machine && !instance.claim.empty())
      uid = instance.claim;
  };
  KARST_TRY(look(term_of("instance/" + machine.str()), [&](const events::Event& event) {
    const EventType type = event.envelope.type;
    if (type != EventType::kNodeClaimObserved && type != EventType::kOutcomeReceived &&
        type != EventType::kInstanceObserved)
      return true;
    const events::Body body = events::decode_body(event);
    if (const auto* seen = std::get_if<events::NodeClaimObserved>(&body))
      if (model::machine_of(seen->claim.provider_id) == machine) name = seen->claim.name.str();
    if (const auto* seen = std::get_if<events::InstanceObserved>(&body)) is_it(seen->instance);
    if (const auto* outcome = std::get_if<model::Outcome>(&body))
      for (const model::Instance& instance : outcome->instances) is_it(instance);
    return name.empty() && uid.empty();
  }));
  if (!name.empty() || uid.empty()) return name;
  return claim_with_uid(uid);
}

base::Result<std::string> Gathering::claim_with_uid(const model::ClaimUid& uid) {
  std::string name;
  KARST_TRY(look(claim_uid_term(uid.str()), [&](const events::Event& event) {
    const EventType type = event.envelope.type;
    if (type != EventType::kNodeClaimObserved && type != EventType::kLaunchRequested) return true;
    const events::Body body = events::decode_body(event);
    if (const auto* seen = std::get_if<events::NodeClaimObserved>(&body))
      if (seen->claim.uid == uid) name = seen->claim.name.str();
    const auto* command = std::get_if<model::Command>(&body);
    const auto* launch = command == nullptr ? nullptr : std::get_if<model::Launch>(&command->spec);
    if (launch != nullptr)
      for (const model::LaunchItem& item : launch->items)
        if (item.claim == uid) name = item.name.str();
    return name.empty();
  }));
  return name;
}

// Claims name their nodes late, and a node names none: the machine is what both have.
base::Result<std::string> Gathering::claim_of_node() {
  const auto machines = machines_of_node();
  if (!machines) return base::fail(machines.error());
  for (const model::ProviderId& machine : *machines) {
    auto name = claim_of_machine(machine);
    if (!name || !name->empty()) return name;
  }
  return std::string();
}

}  // namespace

base::Result<About> events_about(const events::EventLog& log, const Reader* index,
                                 const Subject& subject,
                                 const std::function<void(model::Position)>& progress) {
  return Gathering(log, index, subject, progress).run();
}

}  // namespace karst::index
