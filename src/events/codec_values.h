// The inner half of the codec (codec.h): one `put` and one `get` per value that reaches the log.
// `put` writes a table and returns where it is; what is empty is left out. `get` fills a fresh
// value; what was left out stays at its default. A value without its pair does not compile into
// codec.cc. No state, any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "events/body.h"
#include "schemas/command_generated.h"
#include "schemas/common_generated.h"
#include "schemas/housekeeping_generated.h"
#include "schemas/observation_generated.h"
#include "schemas/outcome_generated.h"

namespace karst::events::codec {

struct Builder : flatbuffers::FlatBufferBuilder {
  using FlatBufferBuilder::FlatBufferBuilder;
  bool shares_texts = false;  // each is written once, however often it is named
};
template <class Wire>
using Offset = flatbuffers::Offset<Wire>;
template <class Wire>
using Vector = flatbuffers::Vector<Offset<Wire>>;

// Text and ids.
inline Offset<flatbuffers::String> put_even_empty(Builder& b, std::string_view text) {
  return b.shares_texts ? b.CreateSharedString(text.data(), text.size())
                        : b.CreateString(text.data(), text.size());
}
inline Offset<flatbuffers::String> put(Builder& b, std::string_view text) {
  return text.empty() ? Offset<flatbuffers::String>() : put_even_empty(b, text);
}
template <class Tag>
Offset<flatbuffers::String> put(Builder& b, const base::StrongString<Tag>& id) {
  return put(b, std::string_view(id.str()));
}
inline void get(const flatbuffers::String* in, std::string& out) {
  if (in != nullptr) out.assign(in->data(), in->size());
}
template <class Tag>
void get(const flatbuffers::String* in, base::StrongString<Tag>& out) {
  if (in != nullptr) out = base::StrongString<Tag>(in->string_view());
}
inline void get(const log::ShapeHash* in, model::ShapeHash& out) {
  if (in != nullptr) out = {in->high(), in->low()};
}
inline log::ShapeHash wire(const model::ShapeHash& hash) {
  return {hash.high, hash.low};
}

// Enums have the same numbers on both sides; tests/events/codec_test.cc walks through them.
template <class Wire, class Value>
constexpr Wire as(Value value) {
  return static_cast<Wire>(value);
}

Offset<log::Pair> put(Builder& b, const std::pair<std::string, std::string>& v);
Offset<log::Amount> put(Builder& b, const std::pair<std::string, std::int64_t>& v);
Offset<log::Resources> put(Builder& b, const model::Resources& v);
Offset<log::Requirement> put(Builder& b, const model::RequirementSpec& v);
Offset<log::Taint> put(Builder& b, const model::Taint& v);
Offset<log::NodeClassRef> put(Builder& b, const model::NodeClassRef& v);
Offset<log::Offer> put(Builder& b, const model::Offer& v);
Offset<log::Instance> put(Builder& b, const model::Instance& v);
Offset<log::Condition> put(Builder& b, const model::Condition& v);
Offset<log::NodeClaim> put(Builder& b, const model::NodeClaim& v);
Offset<log::PodShape> put(Builder& b, const model::PodShape& v);
Offset<log::NodeSelectorTerm> put(Builder& b, const model::NodeSelectorTerm& v);
Offset<log::PreferredTerm> put(Builder& b, const model::PreferredTerm& v);
Offset<log::Toleration> put(Builder& b, const model::Toleration& v);
Offset<log::LabelSelector> put(Builder& b, const model::LabelSelector& v);
Offset<log::SpreadConstraint> put(Builder& b, const model::SpreadConstraint& v);
Offset<log::PodAffinityTerm> put(Builder& b, const model::PodAffinityTerm& v);
Offset<log::HostPort> put(Builder& b, const model::HostPort& v);
Offset<log::Budget> put(Builder& b, const model::Budget& v);
Offset<log::Offering> put(Builder& b, const model::Offering& v);
Offset<log::InstanceType> put(Builder& b, const model::InstanceType& v);
Offset<log::ObjectRef> put(Builder& b, const model::ObjectRef& v);
Offset<log::LaunchItem> put(Builder& b, const model::LaunchItem& v);
Offset<log::AddressUse> put(Builder& b, const model::AddressUse& v);
Offset<log::ReadBackPod> put(Builder& b, const model::ReadBackPod& v);
Offset<log::NodeReadBack> put(Builder& b, const model::NodeReadBack& v);
Offset<log::Config> put(Builder& b, const Config& v);

void get(const log::Pair& in, std::pair<std::string, std::string>& out);
void get(const log::Amount& in, std::pair<std::string, std::int64_t>& out);
void get(const log::Resources& in, model::Resources& out);
void get(const log::Requirement& in, model::RequirementSpec& out);
void get(const log::Taint& in, model::Taint& out);
void get(const log::NodeClassRef& in, model::NodeClassRef& out);
void get(const log::Offer& in, model::Offer& out);
void get(const log::Instance& in, model::Instance& out);
void get(const log::Condition& in, model::Condition& out);
void get(const log::NodeClaim& in, model::NodeClaim& out);
void get(const log::PodShape& in, model::PodShape& out);
void get(const log::NodeSelectorTerm& in, model::NodeSelectorTerm& out);
void get(const log::PreferredTerm& in, model::PreferredTerm& out);
void get(const log::Toleration& in, model::Toleration& out);
void get(const log::LabelSelector& in, model::LabelSelector& out);
void get(const log::SpreadConstraint& in, model::SpreadConstraint& out);
void get(const log::PodAffinityTerm& in, model::PodAffinityTerm& out);
void get(const log::HostPort& in, model::HostPort& out);
void get(const log::Budget& in, model::Budget& out);
void get(const log::Offering& in, model::Offering& out);
void get(const log::InstanceType& in, model::InstanceType& out);
void get(const log::ObjectRef& in, model::ObjectRef& out);
void get(const log::LaunchItem& in, model::LaunchItem& out);
void get(const log::AddressUse& in, model::AddressUse& out);
void get(const log::ReadBackPod& in, model::ReadBackPod& out);
void get(const log::NodeReadBack& in, model::NodeReadBack& out);
void get(const log::Config& in, Config& out);

// A nested table: left out when it is all defaults, and the other way round.
template <class Value>
auto put_some(Builder& b, const Value& value) {
  return value == Value{} ? decltype(put(b, value))() : put(b, value);
}
template <class Wire, class Value>
void get_some(const Wire* in, Value& out) {
  if (in != nullptr) get(*in, out);
}

// Lists: left out when empty. Texts inside a list are written even when empty.
inline Offset<Vector<flatbuffers::String>> put_texts(Builder& b,
                                                     const std::vector<std::string>& texts) {
  if (texts.empty()) return {};
  std::vector<Offset<flatbuffers::String>> offsets;
  offsets.reserve(texts.size());
  for (const std::string& text : texts) offsets.push_back(put_even_empty(b, text));
  return b.CreateVector(offsets);
}
template <class Tag>
Offset<Vector<flatbuffers::String>> put_texts(Builder& b,
                                              const std::vector<base::StrongString<Tag>>& ids) {
  if (ids.empty()) return {};
  std::vector<Offset<flatbuffers::String>> offsets;
  offsets.reserve(ids.size());
  for (const auto& id : ids) offsets.push_back(put_even_empty(b, id.str()));
  return b.CreateVector(offsets);
}
template <class Value>
void get_texts(const Vector<flatbuffers::String>* in, std::vector<Value>& out) {
  if (in == nullptr) return;
  out.reserve(in->size());
  for (const flatbuffers::String* text : *in) out.emplace_back(text->string_view());
}
template <class Value>
auto put_all(Builder& b, const std::vector<Value>& values) {
  using Item = decltype(put(b, values.front()));
  if (values.empty()) return Offset<flatbuffers::Vector<Item>>();
  std::vector<Item> offsets;
  offsets.reserve(values.size());
  for (const Value& value : values) offsets.push_back(put(b, value));
  return b.CreateVector(offsets);
}
template <class Wire, class Value>
void get_all(const Vector<Wire>* in, std::vector<Value>& out) {
  if (in == nullptr) return;
  out.reserve(in->size());
  for (const Wire* item : *in) get(*item, out.emplace_back());
}

// Durations and numbers that may be absent.
inline void get_optional(bool has, std::int64_t in, std::optional<std::int64_t>& out) {
  if (has) out = in;
}

// Roots: one pair per alternative of Body, of CommandSpec and of NamedObject.
template <class Wire, class Value>
struct Root {
  using WireType = Wire;
  using ValueType = Value;
};

Offset<log::ShapeRecorded> put(Builder& b, const ShapeRecorded& v);
Offset<log::PodObserved> put(Builder& b, const PodObserved& v);
Offset<log::PodGone> put(Builder& b, const PodGone& v);
Offset<log::NodeObserved> put(Builder& b, const NodeObserved& v);
Offset<log::NodeGone> put(Builder& b, const NodeGone& v);
Offset<log::NodeClaimObserved> put(Builder& b, const NodeClaimObserved& v);
Offset<log::NodeClaimGone> put(Builder& b, const NodeClaimGone& v);
Offset<log::NodePoolObserved> put(Builder& b, const NodePoolObserved& v);
Offset<log::NodePoolGone> put(Builder& b, const NodePoolGone& v);
Offset<log::NodeClassObserved> put(Builder& b, const NodeClassObserved& v);
Offset<log::NodeClassGone> put(Builder& b, const NodeClassGone& v);
Offset<log::DaemonSetObserved> put(Builder& b, const DaemonSetObserved& v);
Offset<log::DaemonSetGone> put(Builder& b, const DaemonSetGone& v);
Offset<log::CatalogueObserved> put(Builder& b, const CatalogueObserved& v);
Offset<log::PricesObserved> put(Builder& b, const PricesObserved& v);
Offset<log::InterruptionReceived> put(Builder& b, const InterruptionReceived& v);
Offset<log::InstanceObserved> put(Builder& b, const InstanceObserved& v);
Offset<log::InstanceGone> put(Builder& b, const InstanceGone& v);
Offset<log::ListStarted> put(Builder& b, const ListStarted& v);
Offset<log::ListEnded> put(Builder& b, const ListEnded& v);
Offset<log::SourceBeat> put(Builder& b, const SourceBeat& v);
Offset<log::InputRefused> put(Builder& b, const InputRefused& v);
Offset<log::AttemptStarted> put(Builder& b, const model::AttemptStarted& v);
Offset<log::CommandAbandoned> put(Builder& b, const model::CommandAbandoned& v);
Offset<log::OutcomeReceived> put(Builder& b, const model::Outcome& v);
Offset<log::VerdictReached> put(Builder& b, const model::Verdict& v);
Offset<log::ProvisioningHeld> put(Builder& b, const ProvisioningHeld& v);
Offset<log::PodsNominated> put(Builder& b, const model::Nomination& v);
Offset<log::LogCreated> put(Builder& b, const LogCreated& v);
Offset<log::DaemonStarted> put(Builder& b, const DaemonStarted& v);
Offset<log::RoundClosed> put(Builder& b, const RoundClosed& v);
Offset<log::EpochOpened> put(Builder& b, const EpochOpened& v);
Offset<log::WallClockJumped> put(Builder& b, const WallClockJumped& v);
Offset<log::LogTailCut> put(Builder& b, const LogTailCut& v);
Offset<log::LogSpaceLow> put(Builder& b, const LogSpaceLow& v);
Offset<log::LeadershipLost> put(Builder& b, const LeadershipLost& v);
Offset<log::SigningKeyChanged> put(Builder& b, const SigningKeyChanged& v);
Offset<log::AccessRecorded> put(Builder& b, const AccessRecorded& v);
Offset<log::LogArchived> put(Builder& b, const LogArchived& v);
Offset<log::LogTrimmed> put(Builder& b, const LogTrimmed& v);
Offset<log::ArchiveExpired> put(Builder& b, const ArchiveExpired& v);
Offset<log::VolumeClaimObserved> put(Builder& b, const model::VolumeClaim& v);
Offset<log::PersistentVolumeObserved> put(Builder& b, const model::PersistentVolume& v);
Offset<log::StorageClassObserved> put(Builder& b, const model::StorageClass& v);
Offset<log::CsiNodeObserved> put(Builder& b, const model::CsiNode& v);
Offset<log::VolumeAttachmentObserved> put(Builder& b, const model::VolumeAttachment& v);
Offset<log::NamespaceObserved> put(Builder& b, const model::Namespace& v);
Offset<log::DisruptionBudgetObserved> put(Builder& b, const model::DisruptionBudget& v);
Offset<log::NodeOverlayObserved> put(Builder& b, const model::NodeOverlay& v);
Offset<log::CapacityBufferObserved> put(Builder& b, const model::CapacityBuffer& v);
Offset<log::PodTemplateObserved> put(Builder& b, const model::PodTemplate& v);
Offset<log::WorkloadObserved> put(Builder& b, const model::Workload& v);
Offset<log::ObjectGone> put(Builder& b, const ObjectGone& v);

void get(const log::ShapeRecorded& in, ShapeRecorded& out);
void get(const log::PodObserved& in, PodObserved& out);
void get(const log::PodGone& in, PodGone& out);
void get(const log::NodeObserved& in, NodeObserved& out);
void get(const log::NodeGone& in, NodeGone& out);
void get(const log::NodeClaimObserved& in, NodeClaimObserved& out);
void get(const log::NodeClaimGone& in, NodeClaimGone& out);
void get(const log::NodePoolObserved& in, NodePoolObserved& out);
void get(const log::NodePoolGone& in, NodePoolGone& out);
void get(const log::NodeClassObserved& in, NodeClassObserved& out);
void get(const log::NodeClassGone& in, NodeClassGone& out);
void get(const log::DaemonSetObserved& in, DaemonSetObserved& out);
void get(const log::DaemonSetGone& in, DaemonSetGone& out);
void get(const log::CatalogueObserved& in, CatalogueObserved& out);
void get(const log::PricesObserved& in, PricesObserved& out);
void get(const log::InterruptionReceived& in, InterruptionReceived& out);
void get(const log::InstanceObserved& in, InstanceObserved& out);
void get(const log::InstanceGone& in, InstanceGone& out);
void get(const log::ListStarted& in, ListStarted& out);
void get(const log::ListEnded& in, ListEnded& out);
void get(const log::SourceBeat& in, SourceBeat& out);
void get(const log::InputRefused& in, InputRefused& out);
void get(const log::AttemptStarted& in, model::AttemptStarted& out);
void get(const log::CommandAbandoned& in, model::CommandAbandoned& out);
void get(const log::OutcomeReceived& in, model::Outcome& out);
void get(const log::VerdictReached& in, model::Verdict& out);
void get(const log::ProvisioningHeld& in, ProvisioningHeld& out);
void get(const log::PodsNominated& in, model::Nomination& out);
void get(const log::LogCreated& in, LogCreated& out);
void get(const log::DaemonStarted& in, DaemonStarted& out);
void get(const log::RoundClosed& in, RoundClosed& out);
void get(const log::EpochOpened& in, EpochOpened& out);
void get(const log::WallClockJumped& in, WallClockJumped& out);
void get(const log::LogTailCut& in, LogTailCut& out);
void get(const log::LogSpaceLow& in, LogSpaceLow& out);
void get(const log::LeadershipLost& in, LeadershipLost& out);
void get(const log::SigningKeyChanged& in, SigningKeyChanged& out);
void get(const log::AccessRecorded& in, AccessRecorded& out);
void get(const log::LogArchived& in, LogArchived& out);
void get(const log::LogTrimmed& in, LogTrimmed& out);
void get(const log::ArchiveExpired& in, ArchiveExpired& out);
void get(const log::VolumeClaimObserved& in, model::VolumeClaim& out);
void get(const log::PersistentVolumeObserved& in, model::PersistentVolume& out);
void get(const log::StorageClassObserved& in, model::StorageClass& out);
void get(const log::CsiNodeObserved& in, model::CsiNode& out);
void get(const log::VolumeAttachmentObserved& in, model::VolumeAttachment& out);
void get(const log::NamespaceObserved& in, model::Namespace& out);
void get(const log::DisruptionBudgetObserved& in, model::DisruptionBudget& out);
void get(const log::NodeOverlayObserved& in, model::NodeOverlay& out);
void get(const log::CapacityBufferObserved& in, model::CapacityBuffer& out);
void get(const log::PodTemplateObserved& in, model::PodTemplate& out);
void get(const log::WorkloadObserved& in, model::Workload& out);
void get(const log::ObjectGone& in, ObjectGone& out);

using WhyOffset = Offset<log::Why>;
WhyOffset put_why(Builder& b, const model::Command& v);
void get_why(const log::Why* in, model::Command& out);

Offset<log::NodeClaimCreateRequested> put(Builder& b, WhyOffset why,
                                          const model::CreateNodeClaim& v);
Offset<log::ObjectDeleteRequested> put(Builder& b, WhyOffset why, const model::DeleteObject& v);
Offset<log::LaunchRequested> put(Builder& b, WhyOffset why, const model::Launch& v);
Offset<log::TerminateRequested> put(Builder& b, WhyOffset why, const model::Terminate& v);
Offset<log::TaintRequested> put(Builder& b, WhyOffset why, const model::TaintNode& v);
Offset<log::EvictRequested> put(Builder& b, WhyOffset why, const model::EvictPod& v);
Offset<log::FinalizerRequested> put(Builder& b, WhyOffset why, const model::SetFinalizer& v);
Offset<log::ReadBackRequested> put(Builder& b, WhyOffset why, const model::ReadBackNode& v);
Offset<log::InstanceFindRequested> put(Builder& b, WhyOffset why, const model::FindInstances& v);
Offset<log::NodeSyncRequested> put(Builder& b, WhyOffset why, const model::SyncNode& v);
Offset<log::ClaimMirrorRequested> put(Builder& b, WhyOffset why, const model::MirrorClaim& v);
Offset<log::PoolMirrorRequested> put(Builder& b, WhyOffset why, const model::MirrorPool& v);
Offset<log::StatusMirrorRequested> put(Builder& b, WhyOffset why, const model::MirrorStatus& v);
Offset<log::NodeClassResolveRequested> put(Builder& b, WhyOffset why,
                                           const model::ResolveNodeClass& v);
Offset<log::NodeClassSyncRequested> put(Builder& b, WhyOffset why, const model::SyncNodeClass& v);
Offset<log::NodeClassReleaseRequested> put(Builder& b, WhyOffset why,
                                           const model::ReleaseNodeClass& v);

void get(const log::NodeClaimCreateRequested& in, model::CreateNodeClaim& out);
void get(const log::ObjectDeleteRequested& in, model::DeleteObject& out);
void get(const log::LaunchRequested& in, model::Launch& out);
void get(const log::TerminateRequested& in, model::Terminate& out);
void get(const log::TaintRequested& in, model::TaintNode& out);
void get(const log::EvictRequested& in, model::EvictPod& out);
void get(const log::FinalizerRequested& in, model::SetFinalizer& out);
void get(const log::ReadBackRequested& in, model::ReadBackNode& out);
void get(const log::InstanceFindRequested& in, model::FindInstances& out);
void get(const log::NodeSyncRequested& in, model::SyncNode& out);
void get(const log::ClaimMirrorRequested& in, model::MirrorClaim& out);
void get(const log::PoolMirrorRequested& in, model::MirrorPool& out);
void get(const log::StatusMirrorRequested& in, model::MirrorStatus& out);
void get(const log::NodeClassResolveRequested& in, model::ResolveNodeClass& out);
void get(const log::NodeClassSyncRequested& in, model::SyncNodeClass& out);
void get(const log::NodeClassReleaseRequested& in, model::ReleaseNodeClass& out);

}  // namespace karst::events::codec
