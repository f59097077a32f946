// Commands: what karst asks of the world. Once logged, a command is an intent with an id (its place
// in the log); hands send it, make one attempt, and the answer comes back as an Outcome. Two kinds
// of output are commands: effects (they change the world: launch, terminate, taint, evict, create,
// delete, finalizers, and the reads that destructive steps rest on) and mirrors (status and labels
// computed from state). The third kind, notices, is never logged (docs/decisions/0004).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/cloud.h"
#include "model/cluster.h"
#include "model/ids.h"
#include "model/outcome.h"
#include "model/taint.h"
#include "model/variant_fields.h"

namespace karst::model {

enum class ObjectKind { kPod = 0, kNode = 1, kNodeClaim = 2 };

struct ObjectRef {
  ObjectKind kind = ObjectKind::kPod;
  std::string namespace_name;
  std::string name;
  std::string uid;  // a precondition: another object of the same name is left alone
  friend auto operator<=>(const ObjectRef&, const ObjectRef&) = default;
};

// Effect. Creates the NodeClaim; AlreadyExists with our CommandId in the annotation counts as done.
struct CreateNodeClaim {
  NodeClaim claim;  // name and command-id annotation are filled in, uid is empty
  friend bool operator==(const CreateNodeClaim&, const CreateNodeClaim&) = default;
};

// Effect. Deletes by uid; absent or another uid counts as done.
struct DeleteObject {
  ObjectRef object;
  friend bool operator==(const DeleteObject&, const DeleteObject&) = default;
};

struct LaunchItem {
  ClaimUid claim;
  ClaimName name;
  std::uint32_t attempt = 1;
  friend auto operator<=>(const LaunchItem&, const LaunchItem&) = default;
};
inline constexpr std::size_t kLaunchItemsMax = 100;

// Effect. One order for up to kLaunchItemsMax claims with equal requirements. The same token and
// the same `request` bytes are sent again only while the outcome is unclear and the order is
// younger than 30 minutes.
struct Launch {
  std::vector<LaunchItem> items;
  LaunchToken token;
  PoolName pool;
  std::vector<Offer> offers;          // in price order; the cloud takes the first that it has
  Resources requests;                 // what the claim's pods and daemons need
  std::string request;                // bytes as the provider encoded them
  std::vector<AddressUse> addresses;  // of every subnet that the bytes name
  friend bool operator==(const Launch&, const Launch&) = default;
};

// Effect. By instance id, never by name; terminating what is gone counts as done. The machine
// carries the claim's uid; or it is one that Karpenter launched, whose tags name this cluster, the
// claim and its pool. Without `claim_name` only the uid counts.
struct Terminate {
  ProviderId provider_id;
  ClaimUid claim;
  ClaimName claim_name;
  PoolName pool;
  friend bool operator==(const Terminate&, const Terminate&) = default;
};

// Effect. Adds or removes one taint with a version test.
struct TaintNode {
  NodeName node;
  NodeUid uid;
  Taint taint;
  bool add = true;
  friend bool operator==(const TaintNode&, const TaintNode&) = default;
};

// Effect. Through the Eviction API with a uid precondition; `force` deletes instead, past the drain
// deadline only.
struct EvictPod {
  PodUid uid;
  std::string namespace_name;
  std::string name;
  NodeName node;
  bool force = false;
  std::int64_t grace_seconds = -1;  // -1: the pod's own
  friend bool operator==(const EvictPod&, const EvictPod&) = default;
};

// Effect. Adds or removes karpenter.sh/termination.
struct SetFinalizer {
  ObjectRef object;
  bool add = false;
  friend bool operator==(const SetFinalizer&, const SetFinalizer&) = default;
};

// Read that a destructive step rests on: the node and a quorum list of its pods.
struct ReadBackNode {
  NodeName node;
  NodeUid uid;
  friend bool operator==(const ReadBackNode&, const ReadBackNode&) = default;
};

// Read that a destructive step rests on, and the search after an unclear launch: by provider id if
// given, else by claim tag.
struct FindInstances {
  ClaimUid claim;
  ProviderId provider_id;
  friend bool operator==(const FindInstances&, const FindInstances&) = default;
};

// Effect. Adopts a node (registration) or marks it initialized: labels and annotations are set,
// taints added and removed, finalizer and owner added, in one patch with a version test.
struct SyncNode {
  NodeName node;
  NodeUid uid;
  Labels labels;
  Labels annotations;
  std::vector<Taint> add_taints;
  std::vector<Taint> remove_taints;  // by key and effect
  bool add_finalizer = false;
  ClaimName owner;
  ClaimUid owner_uid;
  friend bool operator==(const SyncNode&, const SyncNode&) = default;
};

// Mirrors say what is karst's of an object, under a test that nobody has written it since it was
// read; what they do not say, by anybody else, stays as it is. Of the conditions that are there,
// those of the types in `conditions` are replaced, and those of the types in `cleared` go.

// Mirror. NodeClaim metadata and status as the state has them: labels and annotations are added to
// what is there; a field that is empty here is not said.
struct MirrorClaim {
  ClaimName name;
  ClaimUid uid;
  Labels labels;
  ProviderId provider_id;
  NodeName node_name;
  std::string image;
  Resources capacity;
  Resources allocatable;
  std::vector<Condition> conditions;
  Labels annotations;
  std::vector<std::string> cleared;
  friend bool operator==(const MirrorClaim&, const MirrorClaim&) = default;
};

// Mirror. NodePool status as the state has it, and the two hash annotations where `hash` is given.
struct MirrorPool {
  PoolName name;
  std::string uid;
  Resources resources;
  std::int64_t nodes = 0;
  std::int64_t node_class_observed_generation = 0;
  std::vector<Condition> conditions;
  std::string hash;
  std::string hash_version;
  friend bool operator==(const MirrorPool&, const MirrorPool&) = default;
};

// Mirror. Status of an object that karst explains without owning it: a node class, a NodeOverlay,
// a CapacityBuffer.
struct MirrorStatus {
  std::string group;  // karpenter.k8s.aws
  std::string kind;   // EC2NodeClass
  std::string namespace_name;
  std::string name;
  std::string uid;
  std::vector<Condition> conditions;
  // Other fields of its status, a JSON object: null for one that is to go. Empty: none is said.
  std::string fields_json;
  std::vector<std::string> cleared;
  friend bool operator==(const MirrorStatus&, const MirrorStatus&) = default;
};

// Read: what a node class's selectors find in the account now. The outcome's `resolution` says it
// in the provider's own words.
struct ResolveNodeClass {
  NodeClassRef ref;
  std::string uid;
  std::int64_t generation = 0;
  std::string request;  // bytes as the provider encoded them
  // SHA-256 of the resolution that the state has, in hex; an outcome that finds the same leaves it
  // out. Empty: there is none.
  std::string known;
  friend bool operator==(const ResolveNodeClass&, const ResolveNodeClass&) = default;
};

// Effect. The finalizer of a node class is added or removed, and its two hash annotations are
// written where `hash` is given, in one patch that tests what it replaces.
struct SyncNodeClass {
  NodeClassRef ref;
  std::string uid;
  bool add_finalizer = false;
  bool remove_finalizer = false;
  std::string hash;
  std::string hash_version;
  friend bool operator==(const SyncNodeClass&, const SyncNodeClass&) = default;
};

// Effect. What was made in the account for a node class that is being deleted goes. Idempotent:
// what is gone is no error.
struct ReleaseNodeClass {
  NodeClassRef ref;
  std::string uid;
  std::string request;  // bytes as the provider encoded them
  friend bool operator==(const ReleaseNodeClass&, const ReleaseNodeClass&) = default;
};

using CommandSpec =
    std::variant<CreateNodeClaim, DeleteObject, Launch, Terminate, TaintNode, EvictPod,
                 SetFinalizer, ReadBackNode, FindInstances, SyncNode, MirrorClaim, MirrorPool,
                 MirrorStatus, ResolveNodeClass, SyncNodeClass, ReleaseNodeClass>;

// Same order as CommandSpec.
enum class CommandKind {
  kCreateNodeClaim = 0,
  kDeleteObject = 1,
  kLaunch = 2,
  kTerminate = 3,
  kTaintNode = 4,
  kEvictPod = 5,
  kSetFinalizer = 6,
  kReadBackNode = 7,
  kFindInstances = 8,
  kSyncNode = 9,
  kMirrorClaim = 10,
  kMirrorPool = 11,
  kMirrorStatus = 12,
  kResolveNodeClass = 13,
  kSyncNodeClass = 14,
  kReleaseNodeClass = 15,
};
inline constexpr int kCommandKinds = 16;
std::string_view command_kind_name(CommandKind kind);
inline CommandKind kind_of(const CommandSpec& spec) {
  return static_cast<CommandKind>(spec.index());
}

// Commands that the cloud's hands carry out; the others go to the API server.
inline bool goes_to_cloud(CommandKind kind) {
  return kind == CommandKind::kLaunch || kind == CommandKind::kTerminate ||
         kind == CommandKind::kFindInstances || kind == CommandKind::kResolveNodeClass ||
         kind == CommandKind::kReleaseNodeClass;
}

// What the command is about, as a stream name: "nodeclaim/NAME", "node/NAME", "pod/UID",
// "nodepool/NAME", "nodeclass/NAME", "instance/PROVIDER-ID", and for other objects
// "KIND/[NAMESPACE/]NAME" with the kind in lower case.
std::string subject_of(const CommandSpec& spec);

// The subject of what concerns an object whose status karst explains: "nodeoverlay/cheap",
// "capacitybuffer/default/spare".
std::string status_subject(std::string kind, const std::string& namespace_name,
                           const std::string& name);

inline constexpr std::size_t kEvidenceMax = 16;

struct Command {
  std::string rule;    // the reconciler that decided
  std::string reason;  // short code: provisioned, empty, spot_interrupted, expired, …
  std::vector<Position>
      evidence;  // events that it rests on, at most kEvidenceMax, the most telling first
  CommandSpec spec;
  friend bool operator==(const Command&, const Command&) = default;
};

// The next try of a command, decided by the retry reconciler: same id, same bytes.
struct AttemptStarted {
  Position command;
  std::uint32_t attempt = 2;
  friend bool operator==(const AttemptStarted&, const AttemptStarted&) = default;
};

// The command ends without an effect that we know of: its subject is gone, or other rules took
// over.
struct CommandAbandoned {
  Position command;
  std::string reason;
  friend bool operator==(const CommandAbandoned&, const CommandAbandoned&) = default;
};

// Why something was or was not done. Logged when (subject, rule) changes its (code, args).
struct Verdict {
  std::string subject;  // stream name, or shape/HASH
  std::string rule;
  std::string code;  // e.g. unplaced, blocked_by_pod, limit_reached
  std::vector<std::string>
      args;  // small and stable: names and amounts, never counts that change every second
  friend bool operator==(const Verdict&, const Verdict&) = default;
};

// These pods are expected on this claim's node or this node until then; they ask for no other
// capacity meanwhile.
struct Nomination {
  ClaimName claim;  // or
  NodeName node;
  std::vector<PodUid> pods;
  std::int64_t until_millis = 0;  // log time
  friend bool operator==(const Nomination&, const Nomination&) = default;
};

template <class Archive>
void fields(Archive& a, ObjectRef& o) {
  a(o.kind, o.namespace_name, o.name, o.uid);
}
template <class Archive>
void fields(Archive& a, LaunchItem& i) {
  a(i.claim, i.name, i.attempt);
}
template <class Archive>
void fields(Archive& a, CreateNodeClaim& c) {
  a(c.claim);
}
template <class Archive>
void fields(Archive& a, DeleteObject& c) {
  a(c.object);
}
template <class Archive>
void fields(Archive& a, Launch& c) {
  a(c.items, c.token, c.pool, c.offers, c.requests, c.request, c.addresses);
}
template <class Archive>
void fields(Archive& a, Terminate& c) {
  a(c.provider_id, c.claim, c.claim_name, c.pool);
}
template <class Archive>
void fields(Archive& a, TaintNode& c) {
  a(c.node, c.uid, c.taint, c.add);
}
template <class Archive>
void fields(Archive& a, EvictPod& c) {
  a(c.uid, c.namespace_name, c.name, c.node, c.force, c.grace_seconds);
}
template <class Archive>
void fields(Archive& a, SetFinalizer& c) {
  a(c.object, c.add);
}
template <class Archive>
void fields(Archive& a, ReadBackNode& c) {
  a(c.node, c.uid);
}
template <class Archive>
void fields(Archive& a, FindInstances& c) {
  a(c.claim, c.provider_id);
}
template <class Archive>
void fields(Archive& a, SyncNode& c) {
  a(c.node, c.uid, c.labels, c.annotations, c.add_taints, c.remove_taints, c.add_finalizer, c.owner,
    c.owner_uid);
}
template <class Archive>
void fields(Archive& a, MirrorClaim& c) {
  a(c.name, c.uid, c.labels, c.provider_id, c.node_name, c.image, c.capacity, c.allocatable,
    c.conditions, c.annotations, c.cleared);
}
template <class Archive>
void fields(Archive& a, MirrorPool& c) {
  a(c.name, c.uid, c.resources, c.nodes, c.node_class_observed_generation, c.conditions, c.hash,
    c.hash_version);
}
template <class Archive>
void fields(Archive& a, MirrorStatus& c) {
  a(c.group, c.kind, c.namespace_name, c.name, c.uid, c.conditions, c.fields_json, c.cleared);
}
template <class Archive>
void fields(Archive& a, ResolveNodeClass& c) {
  a(c.ref, c.uid, c.generation, c.request, c.known);
}
template <class Archive>
void fields(Archive& a, SyncNodeClass& c) {
  a(c.ref, c.uid, c.add_finalizer, c.remove_finalizer, c.hash, c.hash_version);
}
template <class Archive>
void fields(Archive& a, ReleaseNodeClass& c) {
  a(c.ref, c.uid, c.request);
}

template <class Archive>
void fields(Archive& a, CommandSpec& spec) {
  variant_fields(a, spec);
}
template <class Archive>
void fields(Archive& a, Command& c) {
  a(c.rule, c.reason, c.evidence, c.spec);
}

}  // namespace karst::model
