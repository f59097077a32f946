// What an event says, as plain values: one struct per event type, and the variant of all of them.
// The numbers of EventType are on disk for ever: add at the end of a group, never reuse
// (schemas/README.md).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/set_digest.h"
#include "base/sha256.h"
#include "model/cloud.h"
#include "model/cluster.h"
#include "model/command.h"
#include "model/ids.h"
#include "model/named_object.h"
#include "model/pod.h"

namespace karst::events {

enum class EventType : std::uint16_t {
  // observations
  kShapeRecorded = 1,
  kPodObserved = 2,
  kPodGone = 3,
  kNodeObserved = 4,
  kNodeGone = 5,
  kNodeClaimObserved = 6,
  kNodeClaimGone = 7,
  kNodePoolObserved = 8,
  kNodePoolGone = 9,
  kNodeClassObserved = 10,
  kNodeClassGone = 11,
  kDaemonSetObserved = 12,
  kDaemonSetGone = 13,
  kCatalogueObserved = 14,
  kPricesObserved = 15,
  kInterruptionReceived = 16,
  kInstanceObserved = 17,
  kInstanceGone = 18,
  kListStarted = 19,
  kListEnded = 20,
  kSourceBeat = 21,
  kInputRefused = 22,
  // named objects: 23 + index of the NamedObject
  kVolumeClaimObserved = 23,
  kPersistentVolumeObserved = 24,
  kStorageClassObserved = 25,
  kCsiNodeObserved = 26,
  kVolumeAttachmentObserved = 27,
  kNamespaceObserved = 28,
  kDisruptionBudgetObserved = 29,
  kNodeOverlayObserved = 30,
  kCapacityBufferObserved = 31,
  kPodTemplateObserved = 32,
  kWorkloadObserved = 33,
  kObjectGone = 50,  // of any of these kinds
  // commands: 100 + CommandKind
  kNodeClaimCreateRequested = 100,
  kObjectDeleteRequested = 101,
  kLaunchRequested = 102,
  kTerminateRequested = 103,
  kTaintRequested = 104,
  kEvictRequested = 105,
  kFinalizerRequested = 106,
  kReadBackRequested = 107,
  kInstanceFindRequested = 108,
  kNodeSyncRequested = 109,
  kClaimMirrorRequested = 110,
  kPoolMirrorRequested = 111,
  kStatusMirrorRequested = 112,
  kNodeClassResolveRequested = 113,
  kNodeClassSyncRequested = 114,
  kNodeClassReleaseRequested = 115,
  kAttemptStarted = 150,
  kCommandAbandoned = 151,
  // outcomes
  kOutcomeReceived = 200,
  // decisions that ask for nothing
  kVerdictReached = 300,
  kPodsNominated = 301,
  kProvisioningHeld = 302,
  // housekeeping
  kLogCreated = 400,
  kDaemonStarted = 401,
  kRoundClosed = 402,
  kEpochOpened = 403,
  kWallClockJumped = 404,
  kLogTailCut = 405,
  kLogSpaceLow = 406,
  kLeadershipLost = 407,
  kSigningKeyChanged = 408,
  kAccessRecorded = 409,
  kLogArchived = 410,
  kLogTrimmed = 411,
  kArchiveExpired = 412,
};
// "PodObserved" and so on; empty for a number that this build does not know.
std::string_view event_type_name(EventType type);

// A pod shape, logged before the first pod or DaemonSet that has it.
struct ShapeRecorded {
  model::ShapeHash hash;
  model::PodShape shape;
};
struct PodObserved {
  model::Pod pod;
};
struct PodGone {
  model::PodUid uid;
  std::string namespace_name;
  std::string name;
};
struct NodeObserved {
  model::Node node;
};
struct NodeGone {
  model::NodeUid uid;
  model::NodeName name;
};
struct NodeClaimObserved {
  model::NodeClaim claim;
};
struct NodeClaimGone {
  model::ClaimUid uid;
  model::ClaimName name;
};
struct NodePoolObserved {
  model::NodePool pool;
};
struct NodePoolGone {
  model::PoolName name;
};
struct NodeClassObserved {
  model::NodeClass node_class;
};
struct NodeClassGone {
  model::NodeClassRef ref;
};
struct DaemonSetObserved {
  model::DaemonSet daemon_set;
};
struct DaemonSetGone {
  std::string uid;
};
// Each kind is an event type of its own: the type is 23 + the alternative's index.
struct ObjectObserved {
  model::NamedObject object;
};
struct ObjectGone {
  model::ObjectKey key;
};
struct CatalogueObserved {
  model::Catalogue catalogue;
  // Where its prices come from, for people; empty: not told. No decision rests on them.
  std::string on_demand_source = {};
  std::string spot_source = {};
};
// One reading of prices, behind its catalogue: which kinds were read, changed or not, and what
// changed that the catalogue does not tell; most often nothing.
struct PricesObserved {
  model::PriceUpdate update;
  bool on_demand_read = true;
  bool spot_read = true;
};
struct InterruptionReceived {
  model::Interruption interruption;
};
// The cloud's word on one instance, from a periodic list or an event.
struct InstanceObserved {
  model::Instance instance;
};
// A full list of the cloud did not name it, or an event said that it ended: a reason to look, no
// proof.
struct InstanceGone {
  model::ProviderId provider_id;
};

// A source's full list of one kind begins and ends; what a closed bracket did not name gets an
// explicit …Gone from admission. `kind`: Pod, Node, NodeClaim, NodePool, NodeClass, DaemonSet,
// Instance, or one of model::kNamedKinds.
struct ListStarted {
  std::string kind;
};
struct ListEnded {
  std::string kind;
  std::string version;
  // Of instances: claims and machines that were being changed meanwhile. What is theirs and was not
  // named may be there all the same.
  std::vector<std::string> unsure;
};
// A source is alive and has seen `version`; at most every 15 s.
struct SourceBeat {
  std::string source;
  std::string version;
};
// A message, object or item that was refused, with the reason; it blocks nothing. `digest`: SHA-256
// of its bytes, hex.
struct InputRefused {
  std::string source;
  std::string id;
  std::string reason;
  std::string digest;
};

// Provisioning could not place everything; unless something new asks, it looks again at that log
// time.
struct ProvisioningHeld {
  std::int64_t until_millis = 0;
};

struct LogCreated {
  model::LogId id;
};

// Everything that decisions read beside the world. Adopted by event, so that replay knows it.
struct Config {
  std::string cluster_uid;
  std::string provider = "kwok";
  std::int64_t batch_idle_millis = 1000;
  std::int64_t batch_max_millis = 10000;
  std::int64_t launch_timeout_millis = 5 * 60 * 1000;
  std::int64_t registration_timeout_millis = 15 * 60 * 1000;
  std::int64_t nomination_millis = 20 * 1000;  // how long a pod is expected on an initialized node
  std::int64_t orphan_grace_millis =
      30 * 1000;  // an instance without a claim is terminated after this
  std::int64_t read_back_age_millis =
      10 * 1000;  // a destructive step rests on reads younger than this
  std::int64_t capacity_back_off_millis =
      180 * 1000;  // an offer without capacity is left alone this long
  bool shadow = false;
  bool preference_policy_ignore = false;  // preferred terms mean nothing
  bool min_values_best_effort = false;    // minValues are lowered to what there is
  // Feature gates.
  bool node_repair = false;
  bool reserved_capacity = true;
  bool spot_to_spot = false;
  bool node_overlay = false;
  bool static_capacity = false;
  bool capacity_buffer = false;
  bool ignore_dra = true;  // pods that use dynamic resources are left to others
  friend bool operator==(const Config&, const Config&) = default;
};
template <class Archive>
void fields(Archive& a, Config& c) {
  a(c.cluster_uid, c.provider, c.batch_idle_millis, c.batch_max_millis, c.launch_timeout_millis,
    c.registration_timeout_millis, c.nomination_millis, c.orphan_grace_millis,
    c.read_back_age_millis, c.capacity_back_off_millis, c.shadow, c.preference_policy_ignore,
    c.min_values_best_effort, c.node_repair, c.reserved_capacity, c.spot_to_spot, c.node_overlay,
    c.static_capacity, c.capacity_buffer, c.ignore_dra);
}

// A process took the log over: every "listed" mark is void, every open command counts as unclear.
struct DaemonStarted {
  std::string version;
  std::string decision_version;
  Config config;
};

struct RoundClosed {
  std::uint64_t facts = 0;      // events admitted since the last RoundClosed
  std::uint64_t decisions = 0;  // decision events of this round, directly before this event
  base::Sha256Digest
      decision_digest{};       // SHA-256 over their (type, stream, causation, correlation, payload)
  base::Hash128 state_digest;  // of the state after the decisions were applied
};
struct EpochOpened {
  std::uint64_t epoch = 0;
  std::string holder;
};
// This replica led that epoch and does so no more: it decides nothing until the next EpochOpened.
struct LeadershipLost {
  std::uint64_t epoch = 0;
};
struct WallClockJumped {
  std::int64_t offset_millis = 0;
};
// The disk of the log is full and its ballast was given up (true), or there is room and ballast
// again (false). Between the two nothing new is started.
struct LogSpaceLow {
  bool low = false;
};
struct LogTailCut {
  model::Position from;
  std::string reason;
};
// From here on checkpoints of this log are signed with another key: its verifier key as in C2SP
// signed-note, "NAME+HASH+BASE64"; empty: they are not signed any more.
struct SigningKeyChanged {
  std::string key;
};
// Somebody read the trail: the user of the reading process ("uid 1000" where it has no name), and
// what was run ("audit export --format csv").
struct AccessRecorded {
  std::string user;
  std::string command;
};
// The events [from, to] are in an archive too: the name of the segment's file, and the SHA-256 of
// its bytes, hex.
struct LogArchived {
  model::Position from;
  model::Position to;
  std::string segment;
  std::string digest;
};
// Of the events below `before` only `kept` are left in the log, or none will be. What they folded
// to is kept as the baseline (event_log.h): the state at position `baseline`, as bytes of this
// projection version, whose SHA-256 is `digest`, hex.
struct LogTrimmed {
  model::Position before;
  std::uint64_t kept = 0;
  model::Position baseline;
  std::string projection;
  std::string digest;
};
// The archive of this log begins at `before`, and `segments` of its files, all older, are deleted.
// What they and all before them folded to is kept there as its baseline, said as LogTrimmed says
// it.
struct ArchiveExpired {
  model::Position before;
  std::uint64_t segments = 0;
  model::Position baseline;
  std::string projection;
  std::string digest;
};

// A command as its own event: the type is 100 + its kind.
using Body = std::variant<
    ShapeRecorded, PodObserved, PodGone, NodeObserved, NodeGone, NodeClaimObserved, NodeClaimGone,
    NodePoolObserved, NodePoolGone, NodeClassObserved, NodeClassGone, DaemonSetObserved,
    DaemonSetGone, CatalogueObserved, PricesObserved, InterruptionReceived, InstanceObserved,
    InstanceGone, ListStarted, ListEnded, SourceBeat, InputRefused, model::Command,
    model::AttemptStarted, model::CommandAbandoned, model::Outcome, model::Verdict,
    model::Nomination, ProvisioningHeld, LogCreated, DaemonStarted, RoundClosed, EpochOpened,
    WallClockJumped, LogTailCut, LogSpaceLow, ObjectObserved, ObjectGone, LeadershipLost,
    SigningKeyChanged, AccessRecorded, LogArchived, LogTrimmed, ArchiveExpired>;

EventType type_of(const Body& body);

// The stream an event belongs to: "pod/<uid>", "node/<name>", "nodeclaim/<name>",
// "command/<position>", "round", …
std::string stream_of(const Body& body);

// Types that reconcilers write, as opposed to facts: commands, attempts, abandonments, verdicts,
// nominations.
bool is_decision(EventType type);

}  // namespace karst::events
