#include "events/body.h"

namespace karst::events {
namespace {

std::string command_stream(model::Position position) {
  return "command/" + std::to_string(position.value());
}

struct TypeOf {
  EventType operator()(const ShapeRecorded&) const { return EventType::kShapeRecorded; }
  EventType operator()(const PodObserved&) const { return EventType::kPodObserved; }
  EventType operator()(const PodGone&) const { return EventType::kPodGone; }
  EventType operator()(const NodeObserved&) const { return EventType::kNodeObserved; }
  EventType operator()(const NodeGone&) const { return EventType::kNodeGone; }
  EventType operator()(const NodeClaimObserved&) const { return EventType::kNodeClaimObserved; }
  EventType operator()(const NodeClaimGone&) const { return EventType::kNodeClaimGone; }
  EventType operator()(const NodePoolObserved&) const { return EventType::kNodePoolObserved; }
  EventType operator()(const NodePoolGone&) const { return EventType::kNodePoolGone; }
  EventType operator()(const NodeClassObserved&) const { return EventType::kNodeClassObserved; }
  EventType operator()(const NodeClassGone&) const { return EventType::kNodeClassGone; }
  EventType operator()(const DaemonSetObserved&) const { return EventType::kDaemonSetObserved; }
  EventType operator()(const DaemonSetGone&) const { return EventType::kDaemonSetGone; }
  EventType operator()(const CatalogueObserved&) const { return EventType::kCatalogueObserved; }
  EventType operator()(const PricesObserved&) const { return EventType::kPricesObserved; }
  EventType operator()(const InterruptionReceived&) const {
    return EventType::kInterruptionReceived;
  }
  EventType operator()(const InstanceObserved&) const { return EventType::kInstanceObserved; }
  EventType operator()(const InstanceGone&) const { return EventType::kInstanceGone; }
  EventType operator()(const ListStarted&) const { return EventType::kListStarted; }
  EventType operator()(const ListEnded&) const { return EventType::kListEnded; }
  EventType operator()(const SourceBeat&) const { return EventType::kSourceBeat; }
  EventType operator()(const InputRefused&) const { return EventType::kInputRefused; }
  EventType operator()(const model::Command& command) const {
    return static_cast<EventType>(100 + static_cast<int>(model::kind_of(command.spec)));
  }
  EventType operator()(const model::AttemptStarted&) const { return EventType::kAttemptStarted; }
  EventType operator()(const model::CommandAbandoned&) const {
    return EventType::kCommandAbandoned;
  }
  EventType operator()(const model::Outcome&) const { return EventType::kOutcomeReceived; }
  EventType operator()(const model::Verdict&) const { return EventType::kVerdictReached; }
  EventType operator()(const ProvisioningHeld&) const { return EventType::kProvisioningHeld; }
  EventType operator()(const model::Nomination&) const { return EventType::kPodsNominated; }
  EventType operator()(const LogCreated&) const { return EventType::kLogCreated; }
  EventType operator()(const DaemonStarted&) const { return EventType::kDaemonStarted; }
  EventType operator()(const RoundClosed&) const { return EventType::kRoundClosed; }
  EventType operator()(const EpochOpened&) const { return EventType::kEpochOpened; }
  EventType operator()(const WallClockJumped&) const { return EventType::kWallClockJumped; }
  EventType operator()(const LogTailCut&) const { return EventType::kLogTailCut; }
  EventType operator()(const LogSpaceLow&) const { return EventType::kLogSpaceLow; }
  EventType operator()(const ObjectObserved& e) const {
    return static_cast<EventType>(static_cast<std::size_t>(EventType::kVolumeClaimObserved) +
                                  e.object.index());
  }
  EventType operator()(const ObjectGone&) const { return EventType::kObjectGone; }
  EventType operator()(const LeadershipLost&) const { return EventType::kLeadershipLost; }
  EventType operator()(const SigningKeyChanged&) const { return EventType::kSigningKeyChanged; }
  EventType operator()(const AccessRecorded&) const { return EventType::kAccessRecorded; }
  EventType operator()(const LogArchived&) const { return EventType::kLogArchived; }
  EventType operator()(const LogTrimmed&) const { return EventType::kLogTrimmed; }
  EventType operator()(const ArchiveExpired&) const { return EventType::kArchiveExpired; }
};

struct StreamOf {
  std::string operator()(const ShapeRecorded& e) const { return "shape/" + to_string(e.hash); }
  std::string operator()(const PodObserved& e) const { return "pod/" + e.pod.uid.str(); }
  std::string operator()(const PodGone& e) const { return "pod/" + e.uid.str(); }
  std::string operator()(const NodeObserved& e) const { return "node/" + e.node.name.str(); }
  std::string operator()(const NodeGone& e) const { return "node/" + e.name.str(); }
  std::string operator()(const NodeClaimObserved& e) const {
    return "nodeclaim/" + e.claim.name.str();
  }
  std::string operator()(const NodeClaimGone& e) const { return "nodeclaim/" + e.name.str(); }
  std::string operator()(const NodePoolObserved& e) const {
    return "nodepool/" + e.pool.name.str();
  }
  std::string operator()(const NodePoolGone& e) const { return "nodepool/" + e.name.str(); }
  std::string operator()(const NodeClassObserved& e) const { return of(e.node_class.ref); }
  std::string operator()(const NodeClassGone& e) const { return of(e.ref); }
  std::string operator()(const DaemonSetObserved& e) const {
    return "daemonset/" + e.daemon_set.uid;
  }
  std::string operator()(const DaemonSetGone& e) const { return "daemonset/" + e.uid; }
  std::string operator()(const CatalogueObserved& e) const {
    return "catalogue/" + e.catalogue.provider;
  }
  std::string operator()(const PricesObserved& e) const { return "catalogue/" + e.update.provider; }
  std::string operator()(const InterruptionReceived& e) const {
    const model::Interruption& i = e.interruption;
    return i.provider_id.empty() ? "message/" + i.message.str() : "instance/" + i.provider_id.str();
  }
  std::string operator()(const InstanceObserved& e) const {
    return "instance/" + e.instance.provider_id.str();
  }
  std::string operator()(const InstanceGone& e) const { return "instance/" + e.provider_id.str(); }
  std::string operator()(const ListStarted& e) const { return "source/" + e.kind; }
  std::string operator()(const ListEnded& e) const { return "source/" + e.kind; }
  std::string operator()(const SourceBeat& e) const { return "source/" + e.source; }
  std::string operator()(const InputRefused& e) const { return "source/" + e.source; }
  std::string operator()(const model::Command& e) const { return model::subject_of(e.spec); }
  std::string operator()(const model::AttemptStarted& e) const { return command_stream(e.command); }
  std::string operator()(const model::CommandAbandoned& e) const {
    return command_stream(e.command);
  }
  std::string operator()(const model::Outcome& e) const { return command_stream(e.command); }
  std::string operator()(const model::Verdict& e) const { return e.subject; }
  std::string operator()(const model::Nomination& e) const {
    return e.claim.empty() ? "node/" + e.node.str() : "nodeclaim/" + e.claim.str();
  }
  std::string operator()(const ProvisioningHeld&) const { return "provisioning"; }
  std::string operator()(const LogCreated&) const { return "log"; }
  std::string operator()(const DaemonStarted&) const { return "log"; }
  std::string operator()(const RoundClosed&) const { return "round"; }
  std::string operator()(const EpochOpened&) const { return "log"; }
  std::string operator()(const WallClockJumped&) const { return "log"; }
  std::string operator()(const LogTailCut&) const { return "log"; }
  std::string operator()(const LogSpaceLow&) const { return "log"; }
  std::string operator()(const ObjectObserved& e) const { return of(model::key_of(e.object)); }
  std::string operator()(const ObjectGone& e) const { return of(e.key); }
  std::string operator()(const LeadershipLost&) const { return "log"; }
  std::string operator()(const SigningKeyChanged&) const { return "log"; }
  std::string operator()(const AccessRecorded&) const { return "log"; }
  std::string operator()(const LogArchived&) const { return "log"; }
  std::string operator()(const LogTrimmed&) const { return "log"; }
  std::string operator()(const ArchiveExpired&) const { return "log"; }

  // "persistentvolumeclaim/shop/data"
  static std::string of(const model::ObjectKey& key) {
    std::string stream;
    for (const char c : key.kind) stream += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    return stream + "/" + model::place_of(key);
  }
  static std::string of(const model::NodeClassRef& ref) {
    return "nodeclass/" + ref.kind + "/" + ref.name;
  }
};

std::string_view observation_name(EventType type) {
  switch (type) {
    case EventType::kShapeRecorded:
      return "ShapeRecorded";
    case EventType::kPodObserved:
      return "PodObserved";
    case EventType::kPodGone:
      return "PodGone";
    case EventType::kNodeObserved:
      return "NodeObserved";
    case EventType::kNodeGone:
      return "NodeGone";
    case EventType::kNodeClaimObserved:
      return "NodeClaimObserved";
    case EventType::kNodeClaimGone:
      return "NodeClaimGone";
    case EventType::kNodePoolObserved:
      return "NodePoolObserved";
    case EventType::kNodePoolGone:
      return "NodePoolGone";
    case EventType::kNodeClassObserved:
      return "NodeClassObserved";
    case EventType::kNodeClassGone:
      return "NodeClassGone";
    case EventType::kDaemonSetObserved:
      return "DaemonSetObserved";
    case EventType::kDaemonSetGone:
      return "DaemonSetGone";
    case EventType::kCatalogueObserved:
      return "CatalogueObserved";
    case EventType::kPricesObserved:
      return "PricesObserved";
    case EventType::kInterruptionReceived:
      return "InterruptionReceived";
    case EventType::kInstanceObserved:
      return "InstanceObserved";
    case EventType::kInstanceGone:
      return "InstanceGone";
    case EventType::kListStarted:
      return "ListStarted";
    case EventType::kListEnded:
      return "ListEnded";
    case EventType::kSourceBeat:
      return "SourceBeat";
    case EventType::kInputRefused:
      return "InputRefused";
    default:
      return {};
  }
}

std::string_view named_object_name(EventType type) {
  switch (type) {
    case EventType::kVolumeClaimObserved:
      return "VolumeClaimObserved";
    case EventType::kPersistentVolumeObserved:
      return "PersistentVolumeObserved";
    case EventType::kStorageClassObserved:
      return "StorageClassObserved";
    case EventType::kCsiNodeObserved:
      return "CsiNodeObserved";
    case EventType::kVolumeAttachmentObserved:
      return "VolumeAttachmentObserved";
    case EventType::kNamespaceObserved:
      return "NamespaceObserved";
    case EventType::kDisruptionBudgetObserved:
      return "DisruptionBudgetObserved";
    case EventType::kNodeOverlayObserved:
      return "NodeOverlayObserved";
    case EventType::kCapacityBufferObserved:
      return "CapacityBufferObserved";
    case EventType::kPodTemplateObserved:
      return "PodTemplateObserved";
    case EventType::kWorkloadObserved:
      return "WorkloadObserved";
    case EventType::kObjectGone:
      return "ObjectGone";
    default:
      return {};
  }
}

}  // namespace

// No default: a new type without a name does not compile.
std::string_view event_type_name(EventType type) {
  switch (type) {
    case EventType::kShapeRecorded:
    case EventType::kPodObserved:
    case EventType::kPodGone:
    case EventType::kNodeObserved:
    case EventType::kNodeGone:
    case EventType::kNodeClaimObserved:
    case EventType::kNodeClaimGone:
    case EventType::kNodePoolObserved:
    case EventType::kNodePoolGone:
    case EventType::kNodeClassObserved:
    case EventType::kNodeClassGone:
    case EventType::kDaemonSetObserved:
    case EventType::kDaemonSetGone:
    case EventType::kCatalogueObserved:
    case EventType::kPricesObserved:
    case EventType::kInterruptionReceived:
    case EventType::kInstanceObserved:
    case EventType::kInstanceGone:
    case EventType::kListStarted:
    case EventType::kListEnded:
    case EventType::kSourceBeat:
    case EventType::kInputRefused:
      return observation_name(type);
    case EventType::kVolumeClaimObserved:
    case EventType::kPersistentVolumeObserved:
    case EventType::kStorageClassObserved:
    case EventType::kCsiNodeObserved:
    case EventType::kVolumeAttachmentObserved:
    case EventType::kNamespaceObserved:
    case EventType::kDisruptionBudgetObserved:
    case EventType::kNodeOverlayObserved:
    case EventType::kCapacityBufferObserved:
    case EventType::kPodTemplateObserved:
    case EventType::kWorkloadObserved:
    case EventType::kObjectGone:
      return named_object_name(type);
    case EventType::kNodeClaimCreateRequested:
      return "NodeClaimCreateRequested";
    case EventType::kObjectDeleteRequested:
      return "ObjectDeleteRequested";
    case EventType::kLaunchRequested:
      return "LaunchRequested";
    case EventType::kTerminateRequested:
      return "TerminateRequested";
    case EventType::kTaintRequested:
      return "TaintRequested";
    case EventType::kEvictRequested:
      return "EvictRequested";
    case EventType::kFinalizerRequested:
      return "FinalizerRequested";
    case EventType::kReadBackRequested:
      return "ReadBackRequested";
    case EventType::kInstanceFindRequested:
      return "InstanceFindRequested";
    case EventType::kNodeSyncRequested:
      return "NodeSyncRequested";
    case EventType::kClaimMirrorRequested:
      return "ClaimMirrorRequested";
    case EventType::kPoolMirrorRequested:
      return "PoolMirrorRequested";
    case EventType::kStatusMirrorRequested:
      return "StatusMirrorRequested";
    case EventType::kNodeClassResolveRequested:
      return "NodeClassResolveRequested";
    case EventType::kNodeClassSyncRequested:
      return "NodeClassSyncRequested";
    case EventType::kNodeClassReleaseRequested:
      return "NodeClassReleaseRequested";
    case EventType::kAttemptStarted:
      return "AttemptStarted";
    case EventType::kCommandAbandoned:
      return "CommandAbandoned";
    case EventType::kOutcomeReceived:
      return "OutcomeReceived";
    case EventType::kVerdictReached:
      return "VerdictReached";
    case EventType::kProvisioningHeld:
      return "ProvisioningHeld";
    case EventType::kPodsNominated:
      return "PodsNominated";
    case EventType::kLogCreated:
      return "LogCreated";
    case EventType::kDaemonStarted:
      return "DaemonStarted";
    case EventType::kRoundClosed:
      return "RoundClosed";
    case EventType::kEpochOpened:
      return "EpochOpened";
    case EventType::kWallClockJumped:
      return "WallClockJumped";
    case EventType::kLogTailCut:
      return "LogTailCut";
    case EventType::kLogSpaceLow:
      return "LogSpaceLow";
    case EventType::kLeadershipLost:
      return "LeadershipLost";
    case EventType::kSigningKeyChanged:
      return "SigningKeyChanged";
    case EventType::kAccessRecorded:
      return "AccessRecorded";
    case EventType::kLogArchived:
      return "LogArchived";
    case EventType::kLogTrimmed:
      return "LogTrimmed";
    case EventType::kArchiveExpired:
      return "ArchiveExpired";
  }
  return {};
}

EventType type_of(const Body& body) {
  return std::visit(TypeOf{}, body);
}

std::string stream_of(const Body& body) {
  return std::visit(StreamOf{}, body);
}

bool is_decision(EventType type) {
  const auto number = static_cast<int>(type);
  return (number >= 100 && number < 200) || (number >= 300 && number < 400);
}

}  // namespace karst::events
