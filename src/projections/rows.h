// The rows of the state: what karst knows of each thing, observed fields and what follows from
// events. Times are log time; LogTime(0) means "not yet". Every row names its fields once, for
// digest and snapshot.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "model/cloud.h"
#include "model/cluster.h"
#include "model/command.h"
#include "model/ids.h"
#include "model/named_object.h"
#include "projections/price_readings.h"

namespace karst::projections {

using base::LogTime;
using model::Position;

struct ShapeRow {
  model::PodShape shape;
  std::uint64_t users = 0;  // pods and DaemonSets that have it; the row goes with the last one
};
template <class Archive>
void fields(Archive& a, ShapeRow& r) {
  a(r.shape, r.users);
}

struct NodeRow {
  model::Node node;
  Position position;    // of the latest observation
  LogTime seen_at;      // first observation
  Position tainted_at;  // the observation that first showed karpenter.sh/disrupted; 0: not tainted
  // The latest read-back: when its answer was logged, and what it said.
  Position read_back_position;
  LogTime read_back_at;
  model::NodeReadBack read_back;
  LogTime
      machine_gone_at;  // the cloud has said that its instance is gone or never was; 0: not known
};
template <class Archive>
void fields(Archive& a, NodeRow& r) {
  a(r.node, r.position, r.seen_at, r.tainted_at, r.read_back_position, r.read_back_at,
    r.read_back.exists, r.read_back.tainted, r.read_back.pods, r.machine_gone_at);
}

// When something last happened to the pods of a node (bound, ended, gone): what consolidateAfter
// counts from.
struct ActivityRow {
  LogTime last_pod_event;
  Position last_pod_position;
};
template <class Archive>
void fields(Archive& a, ActivityRow& r) {
  a(r.last_pod_event, r.last_pod_position);
}

inline constexpr std::size_t kLaunchMessageMax = 300;

struct ClaimRow {
  model::NodeClaim
      claim;  // as observed; before that, as intended. Requirement values are dropped once launched
  bool observed = false;    // seen in the API server
  Position position;        // of the latest observation or of the intent
  Position create_command;  // 0 when somebody else made it
  LogTime created_at;       // intent, or of another writer's as the API server says
  LogTime confirmed_at;     // the API server is known to have it since
  Position root;            // correlation of what made it
  // launch
  std::uint32_t attempts = 0;   // launch attempts begun
  Position launch_command;      // the latest order
  bool launch_refused = false;  // the latest attempt ended without an instance
  model::RefusalCode launch_code = model::RefusalCode::kNone;
  std::string launch_reason;   // of condition Launched; empty: none was told
  std::string launch_message;  // what the refusal said; without a reason kLaunchMessageMax bytes
  model::Instance instance;    // provider_id empty until launched
  LogTime launched_at;
  // node
  model::NodeName node;
  bool node_leaving = false;  // somebody deletes the node object, or it has gone
  LogTime registered_at;
  LogTime initialized_at;
  // leaving
  std::string delete_reason;  // set with the first request to delete it
  LogTime delete_requested_at;
  LogTime deletion_seen_at;  // asked for by whomever
  Position leave_root;       // correlation of what removes it
  bool candidate = false;    // tainted for a voluntary removal that may still be called off
  LogTime interrupted_at;
  Position interruption;  // the message that counts
  model::InterruptionKind interruption_kind = model::InterruptionKind::kOther;
  std::int64_t deadline_millis = 0;  // unix; when the machine goes, from an interruption
  LogTime terminate_requested_at;
  LogTime found_at;  // the cloud confirmed instance and claim tag
  LogTime gone_at;   // proven: the instance is gone or never existed

  bool launched() const { return !instance.provider_id.empty(); }
  bool leaving() const { return delete_requested_at.value() != 0 || claim.deletion_millis != 0; }
};
template <class Archive>
void fields(Archive& a, ClaimRow& r) {
  a(r.claim, r.observed, r.position, r.create_command, r.created_at, r.confirmed_at, r.root,
    r.attempts, r.launch_command, r.launch_refused, r.launch_code, r.launch_reason,
    r.launch_message, r.instance, r.launched_at, r.node, r.node_leaving, r.registered_at,
    r.initialized_at, r.delete_reason, r.delete_requested_at, r.deletion_seen_at, r.leave_root,
    r.candidate, r.interrupted_at, r.interruption, r.interruption_kind, r.deadline_millis,
    r.terminate_requested_at, r.found_at, r.gone_at);
}

struct InstanceRow {
  model::Instance instance;
  Position position;
  LogTime seen_at;       // first heard of
  bool listed = false;   // the cloud itself has named it, apart from the launch's answer
  bool missing = false;  // the cloud's last list did not name it: to be looked up
  LogTime found_at;      // the latest look-up by id found it
};
template <class Archive>
void fields(Archive& a, InstanceRow& r) {
  a(r.instance, r.position, r.seen_at, r.listed, r.missing, r.found_at);
}

// How many of a pool's latest claims tell whether its nodes register (Karpenter 1.14).
inline constexpr std::size_t kRegistrationsMax = 4;

struct PoolRow {
  model::NodePool pool;
  Position position;
  // Of its latest claims, the newest last: 'r' registered, 'f' was not launched or registered in
  // time. Empty again when the pool's spec or its class changes.
  std::string registrations;
};
template <class Archive>
void fields(Archive& a, PoolRow& r) {
  a(r.pool, r.position, r.registrations);
}

// What an order may take, or has taken, of a subnet's addresses since they were counted.
struct PromiseRow {
  Position launch;
  model::AddressUse use;
  std::int64_t machines = 0;  // all of the order's, until its answer says how many came
  Position settled;           // by this answer
};
template <class Archive>
void fields(Archive& a, PromiseRow& r) {
  a(r.launch, r.use, r.machines, r.settled);
}
// More than any subnet has: what an order promises of one that turned out to be full.
inline constexpr std::int64_t kAllAddresses = std::int64_t{1} << 32;
inline constexpr std::size_t kPromisesMax = 1'000;  // of one class; the oldest goes

struct NodeClassRow {
  model::NodeClass node_class;
  Position position;
  // What its selectors found, in the provider's words; of providers that ask for it.
  std::string resolved;
  std::int64_t resolved_generation = 0;
  Position resolved_position;        // when it last changed
  LogTime resolved_at;               // when it was last asked for with success
  std::vector<PromiseRow> promised;  // in the order of launches
  std::string stamped;               // the hash that it was last asked to carry
  Position released;                 // what was made for it in the account is gone, by this outcome
};
template <class Archive>
void fields(Archive& a, NodeClassRow& r) {
  a(r.node_class, r.position, r.resolved, r.resolved_generation, r.resolved_position, r.resolved_at,
    r.released, r.stamped, r.promised);
}

struct DaemonSetRow {
  model::DaemonSet daemon_set;
  Position position;
};
template <class Archive>
void fields(Archive& a, DaemonSetRow& r) {
  a(r.daemon_set, r.position);
}

struct ObjectRow {
  model::NamedObject object;
  Position position;
};
template <class Archive>
void fields(Archive& a, ObjectRow& r) {
  a(r.object, r.position);
}

enum class CommandState { kOpen = 0, kUnclear = 1 };

// A command that has not ended. Done, refused and abandoned ones leave the table.
struct CommandRow {
  model::Command command;
  Position root;  // correlation
  std::uint32_t attempt = 1;
  CommandState state = CommandState::kOpen;
  LogTime opened_at;
  LogTime attempt_at;  // when the latest attempt was logged
  LogTime unclear_at;
};
template <class Archive>
void fields(Archive& a, CommandRow& r) {
  a(r.command, r.root, r.attempt, r.state, r.opened_at, r.attempt_at, r.unclear_at);
}

// A command whose effect no observation has shown yet; for telling causes.
struct EchoRow {
  Position command;
  Position root;
  LogTime asked_at;
  bool add = false;  // of a taint or finalizer
};
template <class Archive>
void fields(Archive& a, EchoRow& r) {
  a(r.command, r.root, r.asked_at, r.add);
}
// Whether commands of this kind change an object that is observed by name.
bool leaves_an_echo(model::CommandKind kind);

// (subject, kind) that failed lately, and when it may be tried again.
struct BackOffRow {
  std::uint32_t failures = 0;
  LogTime not_before;
  model::RefusalCode code = model::RefusalCode::kNone;
};
template <class Archive>
void fields(Archive& a, BackOffRow& r) {
  a(r.failures, r.not_before, r.code);
}

// An offer without capacity, left alone until then.
struct ExhaustedRow {
  LogTime until;
  std::uint32_t failures = 0;  // one after another, each after the time of the last was over
};
template <class Archive>
void fields(Archive& a, ExhaustedRow& r) {
  a(r.until, r.failures);
}

// What machines of one instance type and image have reported as their memory when they registered:
// the smallest. The newest kSeenMemoryMax are kept.
inline constexpr std::size_t kSeenMemoryMax = 4096;

struct SeenMemoryRow {
  std::int64_t bytes = 0;
  Position position;  // the observation that said so
};
template <class Archive>
void fields(Archive& a, SeenMemoryRow& r) {
  a(r.bytes, r.position);
}

struct InterruptionRow {
  model::Interruption interruption;
  Position position;
  LogTime received_at;
  bool matched = false;  // a claim has taken it
};
template <class Archive>
void fields(Archive& a, InterruptionRow& r) {
  a(r.interruption, r.position, r.received_at, r.matched);
}

struct SourceRow {
  bool listed = false;  // a full list has ended since the daemon started
  bool listing = false;
  std::string version;
  LogTime beat_at;
};
template <class Archive>
void fields(Archive& a, SourceRow& r) {
  a(r.listed, r.listing, r.version, r.beat_at);
}

struct VerdictRow {
  model::Verdict verdict;
  Position position;
};
template <class Archive>
void fields(Archive& a, VerdictRow& r) {
  a(r.verdict.code, r.verdict.args, r.position);
}

struct CatalogueRow {
  model::Catalogue catalogue;
  Position position;  // of the last event that changed it
  PriceReadings read;
};
template <class Archive>
void fields(Archive& a, CatalogueRow& r) {
  a(r.catalogue, r.position, r.read);
}

}  // namespace karst::projections
