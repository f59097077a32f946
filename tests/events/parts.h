// The members of every event, one by one, and how many values each enum has: what
// tests/events/fill.h walks over.
#pragma once

#include "base/bytes.h"
#include "events/body.h"

namespace karst::events::testing {

// How many values an enum has, by its first value that has no successor below.
template <class E>
inline constexpr int kValues = 0;
template <>
inline constexpr int kValues<model::Operator> = 8;
template <>
inline constexpr int kValues<model::TaintEffect> = 3;
template <>
inline constexpr int kValues<model::InstanceState> = 4;
template <>
inline constexpr int kValues<model::ConditionStatus> = 3;
template <>
inline constexpr int kValues<model::OwnerKind> = 7;
template <>
inline constexpr int kValues<model::DoNotDisrupt> = 3;
template <>
inline constexpr int kValues<model::PodPhase> = 5;
template <>
inline constexpr int kValues<model::ConsolidationPolicy> = 3;
template <>
inline constexpr int kValues<model::InterruptionKind> = 6;
template <>
inline constexpr int kValues<model::ObjectKind> = 3;
template <>
inline constexpr int kValues<model::OutcomeKind> = 3;
template <>
inline constexpr int kValues<model::RefusalCode> = 9;

template <class A>
void parts(A& a, ShapeRecorded& e) {
  a(e.hash, e.shape);
}
template <class A>
void parts(A& a, PodObserved& e) {
  a(e.pod);
}
template <class A>
void parts(A& a, PodGone& e) {
  a(e.uid, e.namespace_name, e.name);
}
template <class A>
void parts(A& a, NodeObserved& e) {
  a(e.node);
}
template <class A>
void parts(A& a, NodeGone& e) {
  a(e.uid, e.name);
}
template <class A>
void parts(A& a, NodeClaimObserved& e) {
  a(e.claim);
}
template <class A>
void parts(A& a, NodeClaimGone& e) {
  a(e.uid, e.name);
}
template <class A>
void parts(A& a, NodePoolObserved& e) {
  a(e.pool);
}
template <class A>
void parts(A& a, NodePoolGone& e) {
  a(e.name);
}
template <class A>
void parts(A& a, NodeClassObserved& e) {
  a(e.node_class);
}
template <class A>
void parts(A& a, NodeClassGone& e) {
  a(e.ref);
}
template <class A>
void parts(A& a, DaemonSetObserved& e) {
  a(e.daemon_set);
}
template <class A>
void parts(A& a, DaemonSetGone& e) {
  a(e.uid);
}
template <class A>
void parts(A& a, CatalogueObserved& e) {
  a(e.catalogue, e.on_demand_source, e.spot_source);
}
template <class A>
void parts(A& a, PricesObserved& e) {
  a(e.update, e.on_demand_read, e.spot_read);
}
template <class A>
void parts(A& a, InterruptionReceived& e) {
  a(e.interruption);
}
template <class A>
void parts(A& a, InstanceObserved& e) {
  a(e.instance);
}
template <class A>
void parts(A& a, InstanceGone& e) {
  a(e.provider_id);
}
template <class A>
void parts(A& a, ListStarted& e) {
  a(e.kind);
}
template <class A>
void parts(A& a, ListEnded& e) {
  a(e.kind, e.version, e.unsure);
}
template <class A>
void parts(A& a, SourceBeat& e) {
  a(e.source, e.version);
}
template <class A>
void parts(A& a, InputRefused& e) {
  a(e.source, e.id, e.reason, e.digest);
}
template <class A>
void parts(A& a, model::Command& c) {
  a(c.rule, c.reason, c.evidence, c.spec);
}
template <class A>
void parts(A& a, model::AttemptStarted& e) {
  a(e.command, e.attempt);
}
template <class A>
void parts(A& a, model::CommandAbandoned& e) {
  a(e.command, e.reason);
}
template <class A>
void parts(A& a, model::ReadBackPod& p) {
  a(p.uid, p.namespace_name, p.name, p.drainable, p.daemon, p.do_not_disrupt);
}
template <class A>
void parts(A& a, model::NodeReadBack& r) {
  a(r.exists, r.tainted, r.pods);
}
template <class A>
void parts(A& a, model::Outcome& o) {
  a(o.command, o.attempt, o.kind, o.code, o.message, o.object_uid, o.instances, o.exhausted,
    o.read_back, o.resolution, o.reason, o.full_subnets);
}
template <class A>
void parts(A& a, model::Verdict& v) {
  a(v.subject, v.rule, v.code, v.args);
}
template <class A>
void parts(A& a, model::Nomination& n) {
  a(n.claim, n.node, n.pods, n.until_millis);
}
template <class A>
void parts(A& a, ProvisioningHeld& e) {
  a(e.until_millis);
}
template <class A>
void parts(A& a, LogCreated& e) {
  a(e.id);
}
template <class A>
void parts(A& a, DaemonStarted& e) {
  a(e.version, e.decision_version, e.config);
}
template <class A>
void parts(A& a, base::Hash128& h) {
  a(h.low, h.high);
}
template <class A>
void parts(A& a, RoundClosed& e) {
  a(e.facts, e.decisions, e.decision_digest, e.state_digest);
}
template <class A>
void parts(A& a, EpochOpened& e) {
  a(e.epoch, e.holder);
}
template <class A>
void parts(A& a, WallClockJumped& e) {
  a(e.offset_millis);
}
template <class A>
void parts(A& a, LogSpaceLow& e) {
  a(e.low);
}
template <class A>
void parts(A& a, ObjectObserved& e) {
  a(e.object);
}
template <class A>
void parts(A& a, ObjectGone& e) {
  a(e.key);
}
template <class A>
void parts(A& a, LeadershipLost& e) {
  a(e.epoch);
}
template <class A>
void parts(A& a, LogTailCut& e) {
  a(e.from, e.reason);
}
template <class A>
void parts(A& a, SigningKeyChanged& e) {
  a(e.key);
}
template <class A>
void parts(A& a, AccessRecorded& e) {
  a(e.user, e.command);
}
template <class A>
void parts(A& a, LogArchived& e) {
  a(e.from, e.to, e.segment, e.digest);
}
template <class A>
void parts(A& a, LogTrimmed& e) {
  a(e.before, e.kept, e.baseline, e.projection, e.digest);
}
template <class A>
void parts(A& a, ArchiveExpired& e) {
  a(e.before, e.segments, e.baseline, e.projection, e.digest);
}

}  // namespace karst::events::testing
