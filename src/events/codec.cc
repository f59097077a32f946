#include "events/codec.h"

#include <optional>
#include <type_traits>

#include "base/check.h"
#include "base/utf8.h"
#include "events/codec_values.h"

namespace karst::events {
namespace {

using codec::Builder;
using codec::Root;

constexpr flatbuffers::uoffset_t kDepthMax = 16;  // the schemas nest 5 deep
constexpr flatbuffers::uoffset_t kTablesMax = 400'000;

template <class Value>
inline constexpr bool kIsCommand = std::is_constructible_v<model::CommandSpec, Value>;
template <class Value>
inline constexpr bool kIsNamedObject = std::is_constructible_v<model::NamedObject, Value>;

// with_root of the events about the log itself.
template <class Visit>
bool with_log_root(EventType type, Visit&& visit) {
  using T = EventType;
  switch (type) {
    case T::kLogCreated:
      return visit(Root<log::LogCreated, LogCreated>());
    case T::kDaemonStarted:
      return visit(Root<log::DaemonStarted, DaemonStarted>());
    case T::kRoundClosed:
      return visit(Root<log::RoundClosed, RoundClosed>());
    case T::kEpochOpened:
      return visit(Root<log::EpochOpened, EpochOpened>());
    case T::kWallClockJumped:
      return visit(Root<log::WallClockJumped, WallClockJumped>());
    case T::kLogTailCut:
      return visit(Root<log::LogTailCut, LogTailCut>());
    case T::kLogSpaceLow:
      return visit(Root<log::LogSpaceLow, LogSpaceLow>());
    case T::kLeadershipLost:
      return visit(Root<log::LeadershipLost, LeadershipLost>());
    case T::kSigningKeyChanged:
      return visit(Root<log::SigningKeyChanged, SigningKeyChanged>());
    case T::kAccessRecorded:
      return visit(Root<log::AccessRecorded, AccessRecorded>());
    case T::kLogArchived:
      return visit(Root<log::LogArchived, LogArchived>());
    case T::kLogTrimmed:
      return visit(Root<log::LogTrimmed, LogTrimmed>());
    case T::kArchiveExpired:
      return visit(Root<log::ArchiveExpired, ArchiveExpired>());
    default:
      return false;
  }
}

// Calls `visit` with the root table and the value of an event type; false for a type that this
// build does not know. The one table of what belongs to what: no default, so that a new type
// without a line does not compile.
template <class Visit>
bool with_root(EventType type, Visit&& visit) {
  using T = EventType;
  switch (type) {
    case T::kShapeRecorded:
      return visit(Root<log::ShapeRecorded, ShapeRecorded>());
    case T::kPodObserved:
      return visit(Root<log::PodObserved, PodObserved>());
    case T::kPodGone:
      return visit(Root<log::PodGone, PodGone>());
    case T::kNodeObserved:
      return visit(Root<log::NodeObserved, NodeObserved>());
    case T::kNodeGone:
      return visit(Root<log::NodeGone, NodeGone>());
    case T::kNodeClaimObserved:
      return visit(Root<log::NodeClaimObserved, NodeClaimObserved>());
    case T::kNodeClaimGone:
      return visit(Root<log::NodeClaimGone, NodeClaimGone>());
    case T::kNodePoolObserved:
      return visit(Root<log::NodePoolObserved, NodePoolObserved>());
    case T::kNodePoolGone:
      return visit(Root<log::NodePoolGone, NodePoolGone>());
    case T::kNodeClassObserved:
      return visit(Root<log::NodeClassObserved, NodeClassObserved>());
    case T::kNodeClassGone:
      return visit(Root<log::NodeClassGone, NodeClassGone>());
    case T::kDaemonSetObserved:
      return visit(Root<log::DaemonSetObserved, DaemonSetObserved>());
    case T::kDaemonSetGone:
      return visit(Root<log::DaemonSetGone, DaemonSetGone>());
    case T::kCatalogueObserved:
      return visit(Root<log::CatalogueObserved, CatalogueObserved>());
    case T::kPricesObserved:
      return visit(Root<log::PricesObserved, PricesObserved>());
    case T::kInterruptionReceived:
      return visit(Root<log::InterruptionReceived, InterruptionReceived>());
    case T::kInstanceObserved:
      return visit(Root<log::InstanceObserved, InstanceObserved>());
    case T::kInstanceGone:
      return visit(Root<log::InstanceGone, InstanceGone>());
    case T::kListStarted:
      return visit(Root<log::ListStarted, ListStarted>());
    case T::kListEnded:
      return visit(Root<log::ListEnded, ListEnded>());
    case T::kSourceBeat:
      return visit(Root<log::SourceBeat, SourceBeat>());
    case T::kInputRefused:
      return visit(Root<log::InputRefused, InputRefused>());
    case T::kVolumeClaimObserved:
      return visit(Root<log::VolumeClaimObserved, model::VolumeClaim>());
    case T::kPersistentVolumeObserved:
      return visit(Root<log::PersistentVolumeObserved, model::PersistentVolume>());
    case T::kStorageClassObserved:
      return visit(Root<log::StorageClassObserved, model::StorageClass>());
    case T::kCsiNodeObserved:
      return visit(Root<log::CsiNodeObserved, model::CsiNode>());
    case T::kVolumeAttachmentObserved:
      return visit(Root<log::VolumeAttachmentObserved, model::VolumeAttachment>());
    case T::kNamespaceObserved:
      return visit(Root<log::NamespaceObserved, model::Namespace>());
    case T::kDisruptionBudgetObserved:
      return visit(Root<log::DisruptionBudgetObserved, model::DisruptionBudget>());
    case T::kNodeOverlayObserved:
      return visit(Root<log::NodeOverlayObserved, model::NodeOverlay>());
    case T::kCapacityBufferObserved:
      return visit(Root<log::CapacityBufferObserved, model::CapacityBuffer>());
    case T::kPodTemplateObserved:
      return visit(Root<log::PodTemplateObserved, model::PodTemplate>());
    case T::kWorkloadObserved:
      return visit(Root<log::WorkloadObserved, model::Workload>());
    case T::kObjectGone:
      return visit(Root<log::ObjectGone, ObjectGone>());
    case T::kNodeClaimCreateRequested:
      return visit(Root<log::NodeClaimCreateRequested, model::CreateNodeClaim>());
    case T::kObjectDeleteRequested:
      return visit(Root<log::ObjectDeleteRequested, model::DeleteObject>());
    case T::kLaunchRequested:
      return visit(Root<log::LaunchRequested, model::Launch>());
    case T::kTerminateRequested:
      return visit(Root<log::TerminateRequested, model::Terminate>());
    case T::kTaintRequested:
      return visit(Root<log::TaintRequested, model::TaintNode>());
    case T::kEvictRequested:
      return visit(Root<log::EvictRequested, model::EvictPod>());
    case T::kFinalizerRequested:
      return visit(Root<log::FinalizerRequested, model::SetFinalizer>());
    case T::kReadBackRequested:
      return visit(Root<log::ReadBackRequested, model::ReadBackNode>());
    case T::kInstanceFindRequested:
      return visit(Root<log::InstanceFindRequested, model::FindInstances>());
    case T::kNodeSyncRequested:
      return visit(Root<log::NodeSyncRequested, model::SyncNode>());
    case T::kClaimMirrorRequested:
      return visit(Root<log::ClaimMirrorRequested, model::MirrorClaim>());
    case T::kPoolMirrorRequested:
      return visit(Root<log::PoolMirrorRequested, model::MirrorPool>());
    case T::kStatusMirrorRequested:
      return visit(Root<log::StatusMirrorRequested, model::MirrorStatus>());
    case T::kNodeClassResolveRequested:
      return visit(Root<log::NodeClassResolveRequested, model::ResolveNodeClass>());
    case T::kNodeClassSyncRequested:
      return visit(Root<log::NodeClassSyncRequested, model::SyncNodeClass>());
    case T::kNodeClassReleaseRequested:
      return visit(Root<log::NodeClassReleaseRequested, model::ReleaseNodeClass>());
    case T::kAttemptStarted:
      return visit(Root<log::AttemptStarted, model::AttemptStarted>());
    case T::kCommandAbandoned:
      return visit(Root<log::CommandAbandoned, model::CommandAbandoned>());
    case T::kOutcomeReceived:
      return visit(Root<log::OutcomeReceived, model::Outcome>());
    case T::kVerdictReached:
      return visit(Root<log::VerdictReached, model::Verdict>());
    case T::kProvisioningHeld:
      return visit(Root<log::ProvisioningHeld, ProvisioningHeld>());
    case T::kPodsNominated:
      return visit(Root<log::PodsNominated, model::Nomination>());
    case T::kLogCreated:
    case T::kDaemonStarted:
    case T::kRoundClosed:
    case T::kEpochOpened:
    case T::kWallClockJumped:
    case T::kLogTailCut:
    case T::kLogSpaceLow:
    case T::kLeadershipLost:
    case T::kSigningKeyChanged:
    case T::kAccessRecorded:
    case T::kLogArchived:
    case T::kLogTrimmed:
    case T::kArchiveExpired:
      return with_log_root(type, std::forward<Visit>(visit));
  }
  return false;
}

void finish(Builder& b, const model::Command& command) {
  const codec::WhyOffset why = codec::put_why(b, command);
  std::visit([&](const auto& spec) { b.Finish(codec::put(b, why, spec)); }, command.spec);
}
void finish(Builder& b, const ObjectObserved& observed) {
  std::visit([&](const auto& object) { b.Finish(codec::put(b, object)); }, observed.object);
}
// All of its types have the same labels, and many the same values and zones.
void finish(Builder& b, const CatalogueObserved& observed) {
  b.shares_texts = true;
  b.Finish(codec::put(b, observed));
  b.shares_texts = false;
}
template <class Value>
void finish(Builder& b, const Value& value) {
  b.Finish(codec::put(b, value));
}

template <class Wire, class Value>
void decode_into(Body& body, std::string_view payload) {
  const Wire& root = *flatbuffers::GetRoot<Wire>(payload.data());
  if constexpr (kIsCommand<Value>) {
    model::Command& command = body.emplace<model::Command>();
    codec::get_why(root.why(), command);
    codec::get(root, command.spec.emplace<Value>());
  } else if constexpr (kIsNamedObject<Value>) {
    codec::get(root, body.emplace<ObjectObserved>().object.emplace<Value>());
  } else {
    codec::get(root, body.emplace<Value>());
  }
}

}  // namespace

std::string encode_payload(const Body& body) {
  thread_local Builder builder(1024);
  builder.Clear();
  std::visit([](const auto& value) { finish(builder, value); }, body);
  return std::string(reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize());
}

Body decode_payload(EventType type, std::string_view payload) {
  Body body;
  const bool known = with_root(type, [&]<class Wire, class Value>(Root<Wire, Value>) {
    decode_into<Wire, Value>(body, payload);
    return true;
  });
  KARST_CHECK(known, "only verified payloads are decoded");
  return body;
}

base::Status verify_payload(EventType type, std::string_view payload) {
  bool good = false;
  const bool known = with_root(type, [&]<class Wire, class Value>(Root<Wire, Value>) {
    flatbuffers::Verifier verifier(reinterpret_cast<const std::uint8_t*>(payload.data()),
                                   payload.size(), kDepthMax, kTablesMax);
    good = verifier.VerifyBuffer<Wire>(nullptr);
    return true;
  });
  if (!known)
    return base::fail(base::Kind::kNewer,
                      "event type " + std::to_string(static_cast<int>(type)) +
                          " is unknown to this karst: use the karst that wrote it, or a newer one");
  if (!good)
    return base::fail(base::Kind::kCorrupt, "the payload is damaged: its " +
                                                std::to_string(payload.size()) + " bytes are no " +
                                                std::string(event_type_name(type)));
  return {};
}

Record make_record(const Body& body) {
  Record record;
  record.type = type_of(body);
  record.stream = stream_of(body);
  // Names come from outside without a bound of ours, and a stream is only for finding.
  record.stream.resize(base::cut_utf8(record.stream, kStreamMax).size());
  record.payload = encode_payload(body);
  return record;
}

}  // namespace karst::events
