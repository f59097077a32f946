// Provisioning: when the batch window has closed, everything pending and everything on leaving
// nodes is put to the solver, and its answer becomes claims, nominations and verdicts. A nominated
// pod asks for no other capacity while its claim lives.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "reconcilers/buffers.h"
#include "reconcilers/list.h"
#include "reconcilers/new_claim.h"
#include "reconcilers/pool_verdicts.h"
#include "reconcilers/problem_of.h"
#include "reconcilers/queries.h"
#include "scheduling/claims.h"
#include "scheduling/pool_table.h"

namespace karst::reconcilers {
namespace {

constexpr std::int64_t kHoldMillis = 10'000;           // after a pass that left pods behind
constexpr std::int64_t kLaunchAwaitedMillis = 30'000;  // from the decision to make the claim

// What a relaxed claim asks for of a key: as many values as its types have.
void lower_min_values(const scheduling::Pool& pool, const scheduling::NewClaim& wanted,
                      model::RequirementSpec& requirement) {
  std::set<std::string> values;
  for (const std::size_t type : wanted.types)
    for (std::string& value : scheduling::values_counted(pool.types, type, requirement.key))
      values.insert(std::move(value));
  requirement.min_values = std::min(requirement.min_values, static_cast<int>(values.size()));
}

// The claim object for a new node of the answer.
model::NodeClaim claim_of(const ClusterState& state, const Context& context,
                          const scheduling::Problem& problem, const scheduling::NewClaim& wanted,
                          const model::CommandId& id) {
  const scheduling::Pool& from = problem.pools[wanted.pool];
  const model::NodePool& pool = from.pool;
  model::NodeClaim claim = claim_of_pool(state, context, pool, id);
  claim.labels = scheduling::claim_labels(from, wanted);
  model::set_label(claim.annotations, model::kMinValuesRelaxedAnnotation,
                   wanted.min_values_relaxed ? "true" : "false");
  model::RequirementSpec types{std::string(model::kInstanceTypeLabel), model::Operator::kIn, {}, 0};
  for (const std::size_t type : wanted.types) types.values.push_back(from.types[type].name);
  model::RequirementSpec capacity_types{
      std::string(model::kCapacityTypeLabel), model::Operator::kIn, {}, 0};
  for (const model::Offer& offer : wanted.offers)
    capacity_types.values.push_back(offer.capacity_type);
  for (auto* list : {&types.values, &capacity_types.values}) {
    std::sort(list->begin(), list->end());
    list->erase(std::unique(list->begin(), list->end()), list->end());
  }
  for (const model::RequirementSpec& requirement : wanted.requirements) {
    if (requirement.key == types.key || requirement.key == capacity_types.key) continue;
    claim.requirements.push_back(requirement);
    if (wanted.min_values_relaxed) lower_min_values(from, wanted, claim.requirements.back());
  }
  claim.requirements.push_back(std::move(capacity_types));
  claim.requirements.push_back(std::move(types));
  std::sort(claim.requirements.begin(), claim.requirements.end());
  claim.requests = wanted.requests;
  return claim;
}

// Hands out the pods of each group in uid order. Pods of buffers are nobody's.
class Hand {
 public:
  explicit Hand(const Demand& demand) : demand_(demand), next_(demand.pods.size(), 0) {}
  std::vector<model::PodUid> take(const std::vector<scheduling::Share>& shares) {
    std::vector<model::PodUid> uids;
    for (const scheduling::Share& share : shares)
      for (std::int64_t i = 0; share.group < next_.size() && i < share.count; ++i)
        uids.push_back(demand_.pods[share.group][next_[share.group]++]->uid);
    std::sort(uids.begin(), uids.end());
    return uids;
  }

 private:
  const Demand& demand_;
  std::vector<std::size_t> next_;
};

std::vector<Position> evidence_of(const ClusterState& state,
                                  const std::vector<model::PodUid>& uids) {
  std::vector<Position> evidence;
  for (const model::PodUid& uid : uids) {
    if (evidence.size() == model::kEvidenceMax) break;
    evidence.push_back(state.pods().row_of(uid.str()).position);
  }
  return evidence;
}

void place_on_existing(const ClusterState& state, const Context& context, Plan& plan,
                       const Supply& supply, const scheduling::Answer& answer, Hand& hand) {
  for (const scheduling::NodePlacement& placement : answer.placements) {
    model::Nomination nomination;
    const SupplyNode& node = supply.nodes[placement.node];
    if (node.initialized)
      nomination.node = node.node;
    else
      nomination.claim = node.claim;
    nomination.pods = hand.take(placement.pods);
    if (nomination.pods.empty()) continue;
    // On a node that is up the kube-scheduler should bind within seconds; on a claim it takes as
    // long as the node takes.
    const std::int64_t wait = node.initialized ? state.config().nomination_millis
                                               : state.config().registration_timeout_millis;
    nomination.until_millis = (context.now + wait).value();
    const std::vector<Position> evidence = evidence_of(state, nomination.pods);
    if (plan.full()) return;
    plan.nominate(std::move(nomination), evidence.empty() ? Position() : evidence.front());
  }
}

// Returns when the first pool may be asked again whose claims the API server refuses; 0: none is.
LogTime make_claims(const ClusterState& state, const Context& context, Plan& plan,
                    const scheduling::Problem& problem, const scheduling::Answer& answer,
                    Hand& hand) {
  LogTime again;
  std::vector<std::optional<bool>> may(problem.pools.size());  // asked once each
  for (const scheduling::NewClaim& wanted : answer.claims) {
    model::Nomination nomination;
    nomination.pods = hand.take(wanted.pods);
    if (plan.decisions().size() + 2 > kDecisionsPerPlanMax)
      return again;  // the rest is still pending in the next round
    const model::PoolName& pool = problem.pools[wanted.pool].pool.name;
    std::optional<bool>& may_make = may[wanted.pool];
    if (!may_make) may_make = may_make_claim(state, context, plan, pool);
    if (!*may_make) {
      const LogTime until =
          state.not_before(pool_subject(pool), model::CommandKind::kCreateNodeClaim);
      again = again.value() == 0 ? until : std::min(again, until);
      continue;
    }
    model::NodeClaim claim = claim_of(state, context, problem, wanted, plan.next_id());
    if (state.claims().contains(claim.name))
      continue;  // a name of 25 random bits met its twin: the next round draws another
    nomination.claim = claim.name;
    nomination.until_millis = (context.now + state.config().registration_timeout_millis).value();
    const std::vector<Position> evidence = evidence_of(state, nomination.pods);
    const Position cause = evidence.empty() ? Position() : evidence.front();
    plan.command(model::CreateNodeClaim{std::move(claim)}, "provisioned", evidence);
    if (!nomination.pods.empty()) plan.nominate(std::move(nomination), cause);
  }
  return again;
}

// A verdict is told again when its arguments change: pods per domain change too often for that.
std::string without_counts(std::string text) {
  const std::size_t from = text.find("counts = ");
  const std::size_t to = text.find("podDomains = ");
  if (from != std::string::npos && to != std::string::npos && from < to)
    text.erase(from, to - from);
  return text;
}

// What stays true while nodes come and go: how far a limit would have to be raised does not, nor
// how many replicas there is room for.
std::string lasting_text(const scheduling::Relaxation& relaxation) {
  if (relaxation.subject == "pod") return relaxation.text;
  if (!relaxation.subject.starts_with("nodepool ")) return {};
  if (!relaxation.field.starts_with("limit ")) return relaxation.text;
  return relaxation.subject + ": a larger " + relaxation.field;
}

// One verdict a shape; what is told of a shape is what keeps the first group of it back.
void say_why_not(const Demand& demand, Plan& plan, const scheduling::Answer& answer) {
  std::map<model::ShapeHash, const scheduling::Unplaced*> unplaced;
  for (const scheduling::Unplaced& left : answer.unplaced)
    if (left.group < demand.shapes.size()) unplaced.try_emplace(demand.shapes[left.group], &left);
  for (std::size_t group = 0; group < demand.pods.size(); ++group) {
    if (group > 0 && demand.shapes[group] == demand.shapes[group - 1]) continue;
    const auto left = unplaced.find(demand.shapes[group]);
    std::vector<std::string> args;
    if (left != unplaced.end()) {
      for (const scheduling::PoolReason& reason : left->second->reasons)
        args.push_back((reason.pool.empty() ? std::string(kEveryPool) : reason.pool) + ": " +
                       reason.code + ": " + without_counts(reason.text));
      for (const scheduling::Relaxation& relaxation : left->second->relaxations)
        if (const std::string text = lasting_text(relaxation); !text.empty())
          args.push_back("would do: " + text);
    }
    plan.verdict("shape/" + to_string(demand.shapes[group]),
                 left != unplaced.end() ? "unplaced" : "placed", std::move(args),
                 demand.pods[group].front()->position);
  }
}

bool window_closed(const ClusterState& state, const Context& context, Plan& plan,
                   const Demand& demand) {
  const LogTime closes = window_closes(state, demand);
  if (closes <= context.now) return true;
  plan.wake_at(closes);
  return false;
}

// Nothing is bought while a claim is being launched: only then is it known what room it brings, and
// the pods that it was for may be others by then (those of a drained node are made anew). Karpenter
// waits for every claim without a provider id, until it has one or is given up. Of a claim of its
// own karst waits no longer than a launch takes. Whose pods a claim is for that somebody else made,
// another replica or a Karpenter that was here before, is not in this log: it waits until it is
// known what has become of it. A shadow is asked what it would do, and the other one's claims are
// for the same pods.
bool waits_for_launches(const ClusterState& state, const Context& context, Plan& plan) {
  if (state.config().shadow) return false;
  for (const model::ClaimName& name : state.restless()) {
    const ClaimRow& row = *state.claims().find(name);
    if (row.launched() || row.launch_refused || row.leaving() || !ours(row, context)) continue;
    if (row.create_command == Position()) return true;
    const LogTime until = row.created_at + kLaunchAwaitedMillis;
    if (until <= context.now) continue;
    plan.wake_at(until);
    return true;
  }
  return false;
}

}  // namespace

void reconcile_provisioning(const ClusterState& state, const Context& context, Plan& plan) {
  if (!all_listed(state) || state.log_space_low()) return;
  const Demand demand = demand_of(state, context, plan);
  const bool due = demand.pods.empty() ? buffers_due(state, context, plan)
                                       : window_closed(state, context, plan, demand);
  if (!due || waits_for_launches(state, context, plan)) return;
  const bool with_buffers = buffers_count(state, context);
  Supply supply = supply_of(state, context, demand, with_buffers);
  const scheduling::Problem problem = problem_of(state, context, demand, supply, with_buffers);
  const scheduling::Answer answer = scheduling::solve(problem);
  Hand hand(demand);
  say_which_pools({state, context, plan, problem, !answer.unplaced.empty()});
  say_why_not(demand, plan, answer);
  if (with_buffers) say_where_buffers_are(state, plan, demand.pods.size(), answer);
  place_on_existing(state, context, plan, supply, answer, hand);
  LogTime hold = make_claims(state, context, plan, problem, answer, hand);
  const bool left =
      std::any_of(answer.unplaced.begin(), answer.unplaced.end(),
                  [&](const scheduling::Unplaced& one) { return one.group < demand.pods.size(); });
  const LogTime later = context.now + kHoldMillis;
  if (left) hold = hold.value() == 0 ? later : std::min(hold, later);
  const bool held = hold.value() != 0;
  if (plan.full() || (!held && !with_buffers)) return;
  plan.hold_provisioning(held ? hold : context.now);
  plan.wake_at(held ? hold : context.now + kBufferEveryMillis);
}

}  // namespace karst::reconcilers
