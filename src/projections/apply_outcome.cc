// The fold of commands and of what became of them.
#include <algorithm>

#include "base/utf8.h"
#include "projections/apply.h"
#include "projections/proof.h"

namespace karst::projections {
namespace {

// A refused (subject, kind) waits 1, 2, 4 … s, at most this long.
constexpr std::int64_t kBackOffFirstMillis = 1'000;
constexpr std::int64_t kBackOffMaxMillis = 60'000;
// A disruption budget lets the next pod go as soon as the last one is up again elsewhere; what is
// asked of the API server about a node on its way out costs it little; and trouble on the way to it
// passes, while people and their tools look at what is not written yet.
constexpr std::int64_t kShortBackOffMaxMillis = 10'000;
constexpr std::uint32_t kBackOffDoublingsMax = 6;
// What a shadow has decided and not sent is not decided again for so long.
constexpr std::int64_t kNotSentMillis = 60'000;
// After "done" the watch must show the change before the same thing is asked again; a poll waits as
// long.
constexpr std::int64_t kEchoMillis = 5'000;
// A claim's conditions come in bursts, and people wait for them; told twice they do no harm.
constexpr std::int64_t kClaimEchoMillis = 1'000;

}  // namespace

// What a command changes by being logged: the intent counts before the world has answered.
struct OnCommand {
  const Apply& fold;
  const model::Command& command;

  ClusterState& s() const { return fold.s; }
  void operator()(const model::CreateNodeClaim& c) const {
    s().edit_claim(c.claim.name, [&](ClaimRow& row) {
      row.claim = c.claim;
      row.create_command = fold.at.position;
      row.position = fold.at.position;
      row.created_at = fold.now;
      row.root = fold.at.correlation == Position() ? fold.at.position : fold.at.correlation;
    });
  }
  void operator()(const model::DeleteObject& c) const {
    if (c.object.kind != model::ObjectKind::kNodeClaim) return;
    const ClaimRow* claim = s().claims_.find(model::ClaimName(c.object.name));
    if (claim != nullptr && claim->delete_requested_at.value() == 0 &&
        (command.reason == "launch_timeout" || command.reason == "registration_timeout"))
      fold.note_registration(claim->claim.pool, 'f');
    fold.edit_claim_if(model::ClaimName(c.object.name), [&](ClaimRow& row) {
      if (row.delete_requested_at.value() != 0) return;
      row.delete_requested_at = fold.now;
      row.leave_root = fold.at.correlation == Position() ? fold.at.position : fold.at.correlation;
      row.delete_reason = command.reason;
    });
  }
  void operator()(const model::Launch& c) const {
    fold.promise_addresses(c);
    for (const model::LaunchItem& item : c.items)
      fold.edit_claim_if(item.name, [&](ClaimRow& row) {
        row.attempts = item.attempt;
        row.launch_command = fold.at.position;
        row.launch_refused = false;
        row.launch_code = model::RefusalCode::kNone;
        row.launch_reason.clear();
        row.launch_message.clear();
      });
  }
  void operator()(const model::SyncNodeClass& c) const { fold.class_stamped(c); }
  void operator()(const model::Terminate& c) const {
    if (const ClaimRow* claim = s().claim_by_provider_id(c.provider_id))
      s().edit_claim(model::ClaimName(claim->claim.name),
                     [&](ClaimRow& row) { row.terminate_requested_at = fold.now; });
  }
  void operator()(const model::TaintNode& c) const {
    // A taint on a claim that is not leaving opens a voluntary removal; taking it off calls it off.
    const NodeRow* node = s().nodes_.find(c.node);
    const ClaimRow* claim =
        node == nullptr ? nullptr : s().claim_by_provider_id(node->node.provider_id);
    if (claim == nullptr || c.taint.key != model::kDisruptedTaintKey) return;
    s().edit_claim(model::ClaimName(claim->claim.name),
                   [&](ClaimRow& row) { row.candidate = c.add && !row.leaving(); });
  }
  template <class Other>
  void operator()(const Other&) const {}

  // In a shadow: the intent is withdrawn, and the wish not repeated for a while.
  void cover() const {
    s().back_offs_.edit({model::subject_of(command.spec), model::kind_of(command.spec)},
                        [&](BackOffRow& row) { row.not_before = fold.now + kNotSentMillis; });
  }
  void take_back(const model::CreateNodeClaim& c) const {
    for (const PodRow* pod : s().pods_.expected_on_claim(c.claim.name.str()))
      s().pods_.expect(std::string(pod->uid.str()), c.claim.name, {}, fold.now + kNotSentMillis);
    s().erase_claim(c.claim.name);
  }
  void take_back(const model::DeleteObject& c) const {
    if (c.object.kind == model::ObjectKind::kNodeClaim)
      fold.edit_claim_if(model::ClaimName(c.object.name), [](ClaimRow& row) {
        row.delete_requested_at = LogTime(0);
        row.leave_root = Position();
        row.delete_reason.clear();
      });
    cover();
  }
  void take_back(const model::TaintNode& c) const {
    const NodeRow* node = s().nodes_.find(c.node);
    const ClaimRow* claim =
        node == nullptr ? nullptr : s().claim_by_provider_id(node->node.provider_id);
    if (claim != nullptr)
      s().edit_claim(model::ClaimName(claim->claim.name),
                     [](ClaimRow& row) { row.candidate = false; });
    cover();
  }
  template <class Other>
  void take_back(const Other&) const {
    cover();
  }
};

void Apply::operator()(const model::Command& e) const {
  const model::CommandKind kind = model::kind_of(e.spec);
  s.commands_.edit(at.position, [&](CommandRow& row) {
    row.command = e;
    row.root = at.correlation;
    row.opened_at = now;
    row.attempt_at = now;
  });
  s.open_by_subject_[{model::subject_of(e.spec), kind}] = at.position;
  if (leaves_an_echo(kind))
    s.echoes_.edit({model::subject_of(e.spec), kind}, [&](EchoRow& row) {
      const auto* taint = std::get_if<model::TaintNode>(&e.spec);
      const auto* finalizer = std::get_if<model::SetFinalizer>(&e.spec);
      row = {at.position, at.correlation == Position() ? at.position : at.correlation, now,
             (taint != nullptr && taint->add) || (finalizer != nullptr && finalizer->add)};
    });
  if (const auto* launch = std::get_if<model::Launch>(&e.spec))
    for (const model::LaunchItem& item : launch->items)
      s.open_by_subject_[{"nodeclaim/" + item.name.str(), kind}] = at.position;
  std::visit(OnCommand{*this, e}, e.spec);
}

void Apply::operator()(const model::AttemptStarted& e) const {
  s.commands_.edit_if(e.command, [&](CommandRow& row) {
    row.attempt = e.attempt;
    row.attempt_at = now;
    row.state = CommandState::kOpen;
  });
}

void Apply::close_command(Position position) const {
  const CommandRow* row = s.commands_.find(position);
  if (row == nullptr) return;
  const model::CommandKind kind = model::kind_of(row->command.spec);
  const auto forget = [&](const std::string& subject) {
    const auto open = s.open_by_subject_.find({subject, kind});
    if (open != s.open_by_subject_.end() && open->second == position)
      s.open_by_subject_.erase(open);
  };
  forget(model::subject_of(row->command.spec));
  if (const auto* launch = std::get_if<model::Launch>(&row->command.spec))
    for (const model::LaunchItem& item : launch->items) forget("nodeclaim/" + item.name.str());
  s.commands_.erase(position);
}

// It had no effect: nothing will show one.
void Apply::drop_echo(const std::string& subject, model::CommandKind kind, Position command) const {
  const EchoRow* row = s.echoes_.find(SubjectKind(subject, kind));
  if (row != nullptr && row->command == command) s.echoes_.erase({subject, kind});
}

static bool is_asked_often(model::CommandKind kind, model::RefusalCode code) {
  const bool passes = code == model::RefusalCode::kRetry || code == model::RefusalCode::kConflict;
  return kind == model::CommandKind::kEvictPod || kind == model::CommandKind::kReadBackNode ||
         kind == model::CommandKind::kTaintNode || (passes && !model::goes_to_cloud(kind));
}

void Apply::back_off(const std::string& subject, model::CommandKind kind,
                     model::RefusalCode code) const {
  s.back_offs_.edit({subject, kind}, [&](BackOffRow& row) {
    const std::int64_t wait = kBackOffFirstMillis << std::min(row.failures, kBackOffDoublingsMax);
    ++row.failures;
    row.code = code;
    row.not_before = now + std::min(wait, is_asked_often(kind, code) ? kShortBackOffMaxMillis
                                                                     : kBackOffMaxMillis);
  });
}

// Each claim of an order waits, or the next one would ask at once for all but the first.
void Apply::back_off(const model::CommandSpec& refused, model::RefusalCode code) const {
  if (const auto* create = std::get_if<model::CreateNodeClaim>(&refused))
    return back_off(*create, code);
  const model::CommandKind kind = model::kind_of(refused);
  const auto* launch = std::get_if<model::Launch>(&refused);
  if (launch == nullptr) return back_off(model::subject_of(refused), kind, code);
  for (const model::LaunchItem& item : launch->items)
    if (s.claims_.contains(item.name)) back_off("nodeclaim/" + item.name.str(), kind, code);
}

// A claim that is asked for again has another name: its pool waits, as once for all of one wave.
void Apply::back_off(const model::CreateNodeClaim& refused, model::RefusalCode code) const {
  const std::string pool = "nodepool/" + refused.claim.pool.str();
  if (s.not_before(pool, model::CommandKind::kCreateNodeClaim) <= now)
    back_off(pool, model::CommandKind::kCreateNodeClaim, code);
}

void Apply::claims_are_taken(const model::PoolName& pool) const {
  s.back_offs_.erase({"nodepool/" + pool.str(), model::CommandKind::kCreateNodeClaim});
}

void Apply::operator()(const model::CommandAbandoned& e) const {
  const CommandRow* row = s.commands_.find(e.command);
  if (row == nullptr) return;
  const model::Command command = row->command;
  const model::CommandSpec& spec = command.spec;
  close_command(e.command);
  drop_echo(model::subject_of(spec), model::kind_of(spec), e.command);
  if (s.config_.shadow)
    return std::visit([&](const auto& c) { OnCommand{*this, command}.take_back(c); }, command.spec);
  if (const auto* create = std::get_if<model::CreateNodeClaim>(&spec); create && is_made(*create))
    return claims_are_taken(create->claim.pool);  // its answer was lost
  back_off(spec, model::RefusalCode::kRetry);
  if (const auto* launch = std::get_if<model::Launch>(&spec)) {
    settle_addresses(e.command, nullptr);
    for (const model::LaunchItem& item : launch->items)
      edit_claim_if(item.name, [&](ClaimRow& claim) {
        if (claim.launch_command != e.command || claim.launched()) return;
        claim.launch_refused = true;
        claim.launch_code = model::RefusalCode::kRetry;
      });
  } else if (const auto* create = std::get_if<model::CreateNodeClaim>(&spec)) {
    if (s.claims_.contains(create->claim.name)) drop_claim(create->claim.name);
  }
}

// What an answer changes, by the kind of command it answers.
struct OnOutcome {
  const Apply& fold;
  const model::Outcome& outcome;

  ClusterState& s() const { return fold.s; }
  bool done() const { return outcome.kind == model::OutcomeKind::kDone; }

  void operator()(const model::CreateNodeClaim& c) const {
    const ClaimRow* row = s().claims_.find(c.claim.name);
    if (done()) fold.claims_are_taken(c.claim.pool);
    if (row == nullptr) return;
    if (done()) {
      if (row->observed || outcome.object_uid.empty()) return;
      s().edit_claim(c.claim.name, [&](ClaimRow& claim) {
        claim.claim.uid = model::ClaimUid(outcome.object_uid);
        claim.confirmed_at = fold.now;
      });
    } else if (!fold.is_made(c)) {
      fold.drop_claim(c.claim.name);  // it was never made: its pods ask again
    }
  }

  void operator()(const model::Launch& c) const {
    fold.settle_addresses(outcome.command, &outcome);
    for (const model::Instance& instance : outcome.instances) {
      fold.has_capacity(instance.offer);
      fold.observe_instance(instance, false);
    }
    // After the instances: what a partial fleet lacks is lacking, though some of it was there.
    for (const model::Offer& offer : outcome.exhausted) fold.exhaust(offer);
    for (const model::LaunchItem& item : c.items)
      fold.edit_claim_if(item.name, [&](ClaimRow& claim) {
        if (claim.launched() || claim.attempts != item.attempt || claim.claim.uid != item.claim)
          return;
        claim.launch_refused = true;  // refused, or left out of a partial fleet
        claim.launch_code = done() ? model::RefusalCode::kCapacity : outcome.code;
        claim.launch_reason = outcome.reason;
        claim.launch_message = outcome.reason.empty()
                                   ? base::cut_utf8(outcome.message, kLaunchMessageMax)
                                   : outcome.message;
      });
  }

  void operator()(const model::FindInstances& c) const {
    if (!done()) return;
    for (const model::Instance& instance : outcome.instances) {
      fold.observe_instance(instance, true);
      fold.instance_found(instance.provider_id);
    }
    if (!outcome.instances.empty()) return;
    if (!c.provider_id.empty()) {
      if (proves_absence(s(), outcome, c.provider_id, fold.now)) fold.instance_gone(c.provider_id);
      return;
    }
    const ClaimRow* claim = s().claim_by_uid(c.claim);
    if (claim == nullptr || claim->launched()) return;
    // Proven absent. A launch that is still in doubt has ended without an instance.
    s().edit_claim(model::ClaimName(claim->claim.name), [&](ClaimRow& row) {
      row.launch_refused = true;
      if (row.launch_code == model::RefusalCode::kNone)
        row.launch_code = model::RefusalCode::kRetry;
      if (row.leaving() && row.gone_at.value() == 0) row.gone_at = fold.now;
    });
  }

  void operator()(const model::DeleteObject& c) const {
    // Deleted by uid and not there: proof that the claim is gone, also for one that no watch has
    // ever shown.
    if (!done() || outcome.code != model::RefusalCode::kGone ||
        c.object.kind != model::ObjectKind::kNodeClaim)
      return;
    const ClaimRow* claim = s().claims_.find(model::ClaimName(c.object.name));
    if (claim != nullptr && claim->claim.uid.str() == c.object.uid)
      fold.drop_claim(model::ClaimName(c.object.name));
  }

  void operator()(const model::Terminate& c) const {
    if (!proves_absence(s(), outcome, c.provider_id, fold.now)) return;
    for (const model::Instance& instance : outcome.instances) fold.observe_instance(instance, true);
  }

  void operator()(const model::ResolveNodeClass& c) const {
    if (done()) fold.class_resolved(c, outcome.resolution, outcome.command);
  }
  void operator()(const model::ReleaseNodeClass& c) const {
    if (done()) fold.class_released(c);
  }
  void operator()(const model::MirrorStatus& c) const {
    if (done()) fold.status_told(c);
  }

  void operator()(const model::ReadBackNode& c) const {
    if (!done() || !outcome.read_back) return;
    s().nodes_.edit_if(c.node, [&](NodeRow& row) {
      if (row.node.uid != c.uid) return;
      row.read_back_position = fold.at.position;
      row.read_back_at = fold.now;
      row.read_back = *outcome.read_back;
    });
  }
  template <class Other>
  void operator()(const Other&) const {}
};

void Apply::launched(const model::ClaimName& name, const model::Instance& instance) const {
  const ClaimRow& row = s.edit_claim(model::ClaimName(name), [&](ClaimRow& claim) {
    claim.instance = instance;
    claim.launched_at = now;
    claim.claim.requirements.clear();  // hundreds of instance types that nobody asks for any more
  });
  take_messages(row);
  if (const NodeRow* node = s.node_of(row)) join(model::Node(node->node));
}

void Apply::operator()(const model::Outcome& e) const {
  const CommandRow* row = s.commands_.find(e.command);
  if (row == nullptr) {  // it has ended otherwise; what it tells of instances still counts
    for (const model::Instance& instance : e.instances) observe_instance(instance, false);
    return;
  }
  if (e.kind != model::OutcomeKind::kDone && e.attempt < row->attempt)
    return;  // a newer attempt is under way
  if (e.kind == model::OutcomeKind::kUnclear || proves_nothing(*row, e)) {
    s.commands_.edit(e.command, [&](CommandRow& open) {
      open.state = CommandState::kUnclear;
      open.unclear_at = now;
    });
    for (const model::Instance& instance : e.instances) observe_instance(instance, false);
    return;
  }
  const model::CommandSpec spec = row->command.spec;
  const std::string subject = model::subject_of(spec);
  const model::CommandKind kind = model::kind_of(spec);
  close_command(e.command);
  if (e.kind == model::OutcomeKind::kDone) {
    s.back_offs_.erase({subject, kind});
    if (waits_for_echo(kind))
      s.back_offs_.edit({subject, kind}, [&](BackOffRow& wait) {
        const bool mirror = kind == model::CommandKind::kMirrorClaim;
        wait.not_before = now + (mirror ? kClaimEchoMillis : kEchoMillis);
      });
  } else {
    drop_echo(subject, kind, e.command);
    back_off(spec, e.code);
  }
  std::visit(OnOutcome{*this, e}, spec);
}

}  // namespace karst::projections
