#include "tools/describe.h"

#include <fmt/format.h>

#include <string_view>
#include <variant>

#include "base/one_line.h"
#include "base/time.h"
#include "daemon/words.h"
#include "events/codec.h"

namespace karst::tools {
namespace {

using daemon::counted;
using daemon::names_list;
using daemon::phase_name;
using daemon::size_text;

std::string offer_text(const model::Offer& offer) {
  return fmt::format("{} {} in {} at {}/h", offer.instance_type, offer.capacity_type, offer.zone,
                     daemon::dollars(offer.price_nanos_per_hour));
}

std::string_view state_name(model::InstanceState state) {
  switch (state) {
    case model::InstanceState::kPending:
      return "pending";
    case model::InstanceState::kRunning:
      return "running";
    case model::InstanceState::kShuttingDown:
      return "shutting down";
    case model::InstanceState::kTerminated:
      return "terminated";
  }
  return "?";
}

std::string object_name(const model::ObjectRef& object) {
  return object.namespace_name.empty() ? object.name : object.namespace_name + "/" + object.name;
}

struct CommandText {
  std::string operator()(const model::CreateNodeClaim& c) const {
    return fmt::format("create nodeclaim {} in pool {} for {}", c.claim.name.str(),
                       c.claim.pool.str(), size_text(c.claim.requests));
  }
  std::string operator()(const model::DeleteObject& c) const {
    return "delete " + object_name(c.object);
  }
  std::string operator()(const model::Launch& c) const {
    std::vector<std::string> names;
    for (const model::LaunchItem& item : c.items)
      names.push_back(fmt::format("{} (attempt {})", item.name.str(), item.attempt));
    return fmt::format("launch {}: {}{}", names_list(names), counted(c.offers.size(), "offer"),
                       c.offers.empty() ? "" : ", cheapest " + offer_text(c.offers.front()));
  }
  std::string operator()(const model::Terminate& c) const {
    return "terminate instance " + c.provider_id.str();
  }
  std::string operator()(const model::TaintNode& c) const {
    return fmt::format("{} taint {} {} node {}", c.add ? "add" : "remove", c.taint.key,
                       c.add ? "to" : "from", c.node.str());
  }
  std::string operator()(const model::EvictPod& c) const {
    return fmt::format("{} pod {}/{} from {}", c.force ? "delete" : "evict", c.namespace_name,
                       c.name, c.node.str());
  }
  std::string operator()(const model::SetFinalizer& c) const {
    return fmt::format("{} our finalizer {} {}", c.add ? "add" : "remove", c.add ? "to" : "from",
                       object_name(c.object));
  }
  std::string operator()(const model::ReadBackNode& c) const {
    return "read node " + c.node.str() + " and its pods back";
  }
  std::string operator()(const model::FindInstances& c) const {
    return "find the instance of " +
           (c.provider_id.empty() ? "claim " + c.claim.str() : c.provider_id.str());
  }
  std::string operator()(const model::SyncNode& c) const {
    return fmt::format("set labels, taints and owner of node {}", c.node.str());
  }
  std::string operator()(const model::MirrorClaim& c) const {
    return "write the status of nodeclaim " + c.name.str();
  }
  std::string operator()(const model::MirrorPool& c) const {
    return "write the status of nodepool " + c.name.str();
  }
  std::string operator()(const model::MirrorStatus& c) const {
    return fmt::format("write the status of {} {}", c.kind, c.name);
  }
  std::string operator()(const model::ResolveNodeClass& c) const {
    return fmt::format("ask what the selectors of {} {} find", c.ref.kind, c.ref.name);
  }
  std::string operator()(const model::SyncNodeClass& c) const {
    if (!c.hash.empty()) return fmt::format("write the hash of {} {}", c.ref.kind, c.ref.name);
    return fmt::format("{} our finalizer {} {} {}", c.remove_finalizer ? "remove" : "add",
                       c.remove_finalizer ? "from" : "to", c.ref.kind, c.ref.name);
  }
  std::string operator()(const model::ReleaseNodeClass& c) const {
    return fmt::format("delete what was made in the account for {} {}", c.ref.kind, c.ref.name);
  }
};

std::string node_text(const model::Node& node) {
  std::string text =
      fmt::format("node {} is {}", node.name.str(), node.ready ? "ready" : "not ready");
  if (node.cordoned) text += ", cordoned";
  for (const model::Taint& taint : node.taints) text += ", tainted " + taint.key;
  if (node.deletion_millis != 0) text += ", being deleted";
  return text;
}

std::string claim_text(const model::NodeClaim& claim) {
  std::vector<std::string> conditions;
  for (const model::Condition& condition : claim.conditions)
    if (condition.status == model::ConditionStatus::kTrue) conditions.push_back(condition.type);
  return fmt::format("nodeclaim {} {}{}", claim.name.str(),
                     conditions.empty() ? "seen" : "is " + names_list(conditions),
                     claim.deletion_millis == 0 ? "" : ", being deleted");
}

struct Text {
  std::string operator()(const events::ShapeRecorded& e) const {
    return "a pod shape: " + size_text(e.shape.requests);
  }
  std::string operator()(const events::PodObserved& e) const {
    const model::Pod& pod = e.pod;
    return fmt::format(
        "pod {}/{} is {}{}{}", pod.namespace_name, pod.name, phase_name(pod.phase),
        pod.node.empty() ? (pod.unschedulable ? ", unschedulable" : "") : " on " + pod.node.str(),
        pod.deletion_millis == 0 ? "" : ", being deleted");
  }
  std::string operator()(const events::PodGone& e) const {
    return fmt::format("pod {}/{} is gone", e.namespace_name, e.name);
  }
  std::string operator()(const events::NodeObserved& e) const { return node_text(e.node); }
  std::string operator()(const events::NodeGone& e) const {
    return "node " + e.name.str() + " is gone";
  }
  std::string operator()(const events::NodeClaimObserved& e) const { return claim_text(e.claim); }
  std::string operator()(const events::NodeClaimGone& e) const {
    return "nodeclaim " + e.name.str() + " is gone";
  }
  std::string operator()(const events::NodePoolObserved& e) const {
    return fmt::format("pool {} seen, generation {}", e.pool.name.str(), e.pool.generation);
  }
  std::string operator()(const events::NodePoolGone& e) const {
    return "pool " + e.name.str() + " is gone";
  }
  std::string operator()(const events::NodeClassObserved& e) const {
    return "node class " + e.node_class.ref.name + " seen";
  }
  std::string operator()(const events::NodeClassGone& e) const {
    return "node class " + e.ref.name + " is gone";
  }
  std::string operator()(const events::DaemonSetObserved& e) const {
    return fmt::format("daemon set {}/{} seen", e.daemon_set.namespace_name, e.daemon_set.name);
  }
  std::string operator()(const events::DaemonSetGone&) const { return "a daemon set is gone"; }
  std::string operator()(const events::CatalogueObserved& e) const {
    const std::string types = counted(e.catalogue.types.size(), "instance type");
    if (e.on_demand_source.empty()) return fmt::format("{} offers {}", e.catalogue.provider, types);
    return fmt::format("{} offers {}; on-demand prices: {}, spot: {}", e.catalogue.provider, types,
                       e.on_demand_source, e.spot_source);
  }
  std::string operator()(const events::PricesObserved& e) const {
    if (!e.update.prices.empty())
      return fmt::format("{} has {}", e.update.provider,
                         counted(e.update.prices.size(), "new price"));
    if (!e.on_demand_read && !e.spot_read) return "no prices of " + e.update.provider + " read";
    return fmt::format("prices of {} read: {}", e.update.provider,
                       !e.spot_read        ? "on-demand, not spot"
                       : !e.on_demand_read ? "spot, not on-demand"
                                           : "on-demand and spot");
  }
  std::string operator()(const events::InterruptionReceived& e) const {
    const model::Interruption& told = e.interruption;
    if (told.kind == model::InterruptionKind::kOther)
      return "nothing for us" + (told.reason.empty() ? "" : ": " + told.reason);
    return fmt::format("{} for {}", model::interruption_kind_name(told.kind),
                       told.provider_id.str());
  }
  std::string operator()(const events::InstanceObserved& e) const {
    return fmt::format("instance {} is {}: {}", e.instance.provider_id.str(),
                       state_name(e.instance.state), offer_text(e.instance.offer));
  }
  std::string operator()(const events::InstanceGone& e) const {
    return "instance " + e.provider_id.str() + " was not found";
  }
  std::string operator()(const events::ListStarted& e) const {
    return "a full list of " + e.kind + " begins";
  }
  std::string operator()(const events::ListEnded& e) const {
    return "a full list of " + e.kind + " ends";
  }
  std::string operator()(const events::SourceBeat& e) const {
    return e.source + " is alive at version " + e.version;
  }
  std::string operator()(const events::InputRefused& e) const {
    return fmt::format("{} from {} refused: {}", e.id, e.source, e.reason);
  }
  std::string operator()(const model::Command& e) const {
    return fmt::format("{} ({}, by {})", std::visit(CommandText{}, e.spec), e.reason, e.rule);
  }
  std::string operator()(const model::AttemptStarted& e) const {
    return fmt::format("command {} is tried again, attempt {}", e.command.value(), e.attempt);
  }
  std::string operator()(const model::CommandAbandoned& e) const {
    return fmt::format("command {} is given up: {}", e.command.value(), e.reason);
  }
  std::string operator()(const model::Outcome& e) const {
    std::string text = fmt::format("command {}, attempt {}: {}", e.command.value(), e.attempt,
                                   model::outcome_kind_name(e.kind));
    if (e.code != model::RefusalCode::kNone)
      text += fmt::format(" ({})", model::refusal_code_name(e.code));
    if (!e.reason.empty()) text += ": " + e.reason;
    if (!e.message.empty()) text += ": " + e.message;
    for (const model::Instance& instance : e.instances)
      text += fmt::format("; {}: {}", instance.provider_id.str(), offer_text(instance.offer));
    if (e.read_back) text += fmt::format("; {} on it", counted(e.read_back->pods.size(), "pod"));
    return text;
  }
  std::string operator()(const model::Verdict& e) const {
    return fmt::format("{}: {}{}{}", e.rule, e.code, e.args.empty() ? "" : ": ",
                       names_list(e.args, 16));
  }
  std::string operator()(const model::Nomination& e) const {
    return fmt::format("{} expected on {}", counted(e.pods.size(), "pod"),
                       e.claim.empty() ? "node " + e.node.str() : "claim " + e.claim.str());
  }
  std::string operator()(const events::ProvisioningHeld& e) const {
    return "provisioning looks again at " + base::format_rfc3339(e.until_millis);
  }
  std::string operator()(const events::LogCreated& e) const {
    return "log " + e.id.str() + " begins";
  }
  std::string operator()(const events::DaemonStarted& e) const {
    return fmt::format("karst {} starts, decision version {}", e.version, e.decision_version);
  }
  std::string operator()(const events::RoundClosed& e) const {
    return fmt::format("round closed: {}, {}", counted(e.facts, "fact"),
                       counted(e.decisions, "decision"));
  }
  std::string operator()(const events::EpochOpened& e) const {
    return fmt::format("epoch {} of {}", e.epoch, e.holder);
  }
  std::string operator()(const events::WallClockJumped& e) const {
    return "the wall clock differs by " + daemon::duration_text(e.offset_millis);
  }
  std::string operator()(const events::LogSpaceLow& e) const {
    return e.low ? "the disk of the log is full: nothing new is started" : "the log has room again";
  }
  std::string operator()(const events::ObjectObserved& e) const {
    const model::ObjectKey key = model::key_of(e.object);
    const auto* workload = std::get_if<model::Workload>(&e.object);
    return fmt::format("{} {} {}", key.kind, model::place_of(key),
                       workload == nullptr ? "seen" : fmt::format("wants {}", workload->replicas));
  }
  std::string operator()(const events::ObjectGone& e) const {
    return fmt::format("{} {} is gone", e.key.kind, model::place_of(e.key));
  }
  std::string operator()(const events::LeadershipLost& e) const {
    return fmt::format("epoch {} has ended: this replica leads no more", e.epoch);
  }
  std::string operator()(const events::LogTailCut& e) const {
    return fmt::format("the end of the log was cut from {}: {}", e.from.value(), e.reason);
  }
  std::string operator()(const events::SigningKeyChanged& e) const {
    return e.key.empty() ? "checkpoints are not signed any more"
                         : fmt::format("checkpoints are signed with {}", e.key);
  }
  std::string operator()(const events::AccessRecorded& e) const {
    return fmt::format("{} read the log: karst {}", e.user, e.command);
  }
  std::string operator()(const events::LogArchived& e) const {
    return fmt::format("{} to {} are archived as {}", e.from.value(), e.to.value(), e.segment);
  }
  std::string operator()(const events::LogTrimmed& e) const {
    return fmt::format("the log is trimmed before {}: the state at {} is kept, {}",
                       e.before.value(), e.baseline.value(), e.digest.substr(0, 16));
  }
  std::string operator()(const events::ArchiveExpired& e) const {
    return fmt::format("the archive begins at {}, {} of its files go: the state at {} is kept, {}",
                       e.before.value(), e.segments, e.baseline.value(), e.digest.substr(0, 16));
  }
};

}  // namespace

std::string describe(const events::Body& body) {
  return std::visit(Text{}, body);
}

std::string event_line(const events::Event& event) {
  const events::Envelope& envelope = event.envelope;
  return base::one_line(fmt::format("{:>8}  {}  {:<22}  {}", envelope.position.value(),
                                    base::format_rfc3339(envelope.log_time.value()),
                                    events::event_type_name(envelope.type),
                                    describe(events::decode_body(event))));
}

}  // namespace karst::tools
