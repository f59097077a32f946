// The visitor that folds one event into the state: one overload per alternative of events::Body.
// Internal to projections.
#pragma once

#include <utility>

#include "events/body.h"
#include "projections/cluster_state.h"

namespace karst::projections {

// Whether the watch must show the change of a command that is done before the same is asked again.
bool waits_for_echo(model::CommandKind kind);

struct Apply {
  ClusterState& s;
  const events::Envelope& at;
  LogTime now;

  void operator()(const events::ShapeRecorded& e) const;
  void operator()(const events::PodObserved& e) const;
  void operator()(const events::PodGone& e) const;
  void operator()(const events::NodeObserved& e) const;
  void operator()(const events::NodeGone& e) const;
  void operator()(const events::NodeClaimObserved& e) const;
  void operator()(const events::NodeClaimGone& e) const;
  void operator()(const events::NodePoolObserved& e) const;
  void operator()(const events::NodePoolGone& e) const;
  void operator()(const events::NodeClassObserved& e) const;
  void operator()(const events::NodeClassGone& e) const;
  void operator()(const events::DaemonSetObserved& e) const;
  void operator()(const events::DaemonSetGone& e) const;
  void operator()(const events::CatalogueObserved& e) const;
  void operator()(const events::PricesObserved& e) const;
  void operator()(const events::InterruptionReceived& e) const;
  void operator()(const events::InstanceObserved& e) const;
  void operator()(const events::InstanceGone& e) const;
  void operator()(const events::ListStarted& e) const;
  void operator()(const events::ListEnded& e) const;
  void operator()(const events::SourceBeat& e) const;
  void operator()(const events::InputRefused& e) const;
  void operator()(const model::Command& e) const;
  void operator()(const model::AttemptStarted& e) const;
  void operator()(const model::CommandAbandoned& e) const;
  void operator()(const model::Outcome& e) const;
  void operator()(const model::Verdict& e) const;
  void operator()(const model::Nomination& e) const;
  void operator()(const events::ProvisioningHeld& e) const;
  void operator()(const events::LogCreated& e) const;
  void operator()(const events::DaemonStarted& e) const;
  void operator()(const events::RoundClosed& e) const;
  void operator()(const events::EpochOpened& e) const;
  void operator()(const events::WallClockJumped& e) const;
  void operator()(const events::LogSpaceLow& e) const;
  void operator()(const events::ObjectObserved& e) const;
  void operator()(const events::ObjectGone& e) const;
  void operator()(const events::LeadershipLost& e) const;
  void operator()(const events::SigningKeyChanged& e) const { s.signing_key_ = e.key; }
  // Of the log itself: no decision rests on them.
  void operator()(const events::LogTailCut&) const {}
  void operator()(const events::AccessRecorded&) const {}
  void operator()(const events::LogArchived&) const {}
  void operator()(const events::LogTrimmed&) const {}
  void operator()(const events::ArchiveExpired&) const {}

 private:
  friend class ClusterState;
  template <class Change>
  void edit_claim_if(const model::ClaimName& name, Change&& change) const {
    if (s.claims_.contains(name)) s.edit_claim(name, std::forward<Change>(change));
  }

  friend struct OnOutcome;
  friend struct OnCommand;
  void observe_pod(const events::PodView& pod) const;
  void use_shape(const model::ShapeHash& hash) const;
  void release_shape(const model::ShapeHash& hash) const;
  void note_pod_event(const std::string& node) const;
  bool idle(std::string_view node) const;
  void index_vacancy(const std::string& node) const;
  void forget_subject(const std::string& subject) const;
  void note_registration(const model::PoolName& pool, char how) const;
  void join(const model::Node& node) const;
  LogTime creation_of(const model::NodeClaim& claim) const;
  void adopt(ClaimRow& row, const model::NodeClaim& claim) const;
  void begin_anew() const;
  void drop_claim(const model::ClaimName& name) const;
  bool is_made(const model::CreateNodeClaim& create) const;
  void claims_are_taken(const model::PoolName& pool) const;  // by the API server
  void forget_message(Position position) const;
  void exhaust(const model::Offer& offer) const;
  void shut(const model::Offer& offer) const;
  void has_capacity(const model::Offer& offer) const;
  void take_messages(const ClaimRow& claim) const;  // that waited for its machine
  void interrupt(model::ClaimName name, const model::Interruption& message) const;
  void observe_instance(const model::Instance& instance, bool listed) const;
  void instance_found(const model::ProviderId& id) const;
  void instance_gone(const model::ProviderId& id) const;
  void forget_nobodys(const model::ProviderId& id) const;
  void drop_instance(const model::ProviderId& id) const;
  // The memory that a registered node shows, for the next machines of its type and image.
  void see_memory(const ClaimRow& claim, const model::Node& node) const;
  void leave_siblings(const model::ProviderId& id, const model::ClaimUid& claim) const;
  void class_stamped(const model::SyncNodeClass& asked) const;
  void class_released(const model::ReleaseNodeClass& asked) const;
  void class_resolved(const model::ResolveNodeClass& asked, const std::string& resolution,
                      Position command) const;
  void promise_addresses(const model::Launch& launch) const;
  // `outcome`: what came of it; null: nobody knows.
  void settle_addresses(Position command, const model::Outcome* outcome) const;
  void status_told(const model::MirrorStatus& told) const;
  void launched(const model::ClaimName& name, const model::Instance& instance) const;
  void close_command(Position position) const;
  void drop_echo(const std::string& subject, model::CommandKind kind, Position command) const;
  void back_off(const std::string& subject, model::CommandKind kind, model::RefusalCode code) const;
  void back_off(const model::CreateNodeClaim& refused, model::RefusalCode code) const;
  void back_off(const model::CommandSpec& refused, model::RefusalCode code) const;
};

}  // namespace karst::projections
