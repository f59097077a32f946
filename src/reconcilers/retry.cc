// Retry: what becomes of commands without a clear answer. Launches and creates have idempotent ids,
// so they are sent again with the same bytes while that is safe, then searched for; every other
// command is abandoned and decided anew from what the world shows.
#include <algorithm>

#include "reconcilers/list.h"
#include "reconcilers/queries.h"

namespace karst::reconcilers {
namespace {

constexpr std::int64_t kAnswerMillisMax =
    2 * base::kMillisPerMinute;  // an attempt without an answer counts as unclear then
constexpr std::int64_t kResendMillisMax = 30 * base::kMillisPerMinute;
constexpr std::uint32_t kAttemptsMax = 12;
constexpr std::uint32_t kDoublingsMax = 5;

using projections::CommandRow;
using projections::CommandState;

// When the attempt came to count as unclear; nullopt while an answer may still come.
std::optional<LogTime> unclear_since(const CommandRow& row, LogTime now, Plan& plan) {
  if (row.state == CommandState::kUnclear) return row.unclear_at;
  const LogTime patience = row.attempt_at + kAnswerMillisMax;
  if (patience <= now) return patience;
  plan.wake_at(patience);
  return std::nullopt;
}

bool may_resend(const CommandRow& row, LogTime since, const Context& context, Plan& plan) {
  if (row.attempt >= kAttemptsMax || context.now - row.opened_at >= kResendMillisMax) return false;
  const LogTime at = since + (base::kMillisPerSecond << std::min(row.attempt - 1, kDoublingsMax));
  if (at > context.now) plan.wake_at(at);
  return true;
}

bool back_off_over(const CommandRow& row, LogTime since, LogTime now) {
  return since + (base::kMillisPerSecond << std::min(row.attempt - 1, kDoublingsMax)) <= now;
}

void retry_create(const ClusterState& state, const Context& context, Plan& plan, Position position,
                  const CommandRow& row, LogTime since) {
  const auto& create = std::get<model::CreateNodeClaim>(row.command.spec);
  const ClaimRow* claim = state.claims().find(create.claim.name);
  if (claim == nullptr || claim->observed) {
    plan.abandon(position, claim == nullptr ? "claim_gone" : "claim_observed",
                 claim == nullptr ? Position() : claim->position);
  } else if (!may_resend(row, since, context, plan)) {
    plan.abandon(position, "gave_up", {});
  } else if (back_off_over(row, since, context.now)) {
    plan.attempt(position, row.attempt + 1);
  }
}

// Unclear launches whose claims all go, or that are too old to send again, end by a search for
// their claims' tags.
void search_launch(const ClusterState& state, const Context& context, Plan& plan, Position position,
                   const model::Launch& launch) {
  bool settled = true;
  for (const model::LaunchItem& item : launch.items) {
    const ClaimRow* claim = state.claims().find(item.name);
    if (claim == nullptr || claim->claim.uid != item.claim || claim->launched() ||
        claim->launch_refused)
      continue;
    settled = false;
    if (may_issue(state, context, plan, "claim-tag/" + item.claim.str(),
                  model::CommandKind::kFindInstances))
      plan.command(model::FindInstances{item.claim, {}}, "launch_unclear", {position}, claim->root);
  }
  if (settled && !plan.full()) plan.abandon(position, "searched", {});
}

void retry_launch(const ClusterState& state, const Context& context, Plan& plan, Position position,
                  const CommandRow& row, LogTime since) {
  const auto& launch = std::get<model::Launch>(row.command.spec);
  const bool wanted =
      std::any_of(launch.items.begin(), launch.items.end(), [&](const model::LaunchItem& item) {
        const ClaimRow* claim = state.claims().find(item.name);
        return claim != nullptr && claim->claim.uid == item.claim && !claim->leaving() &&
               !claim->launched();
      });
  if (!wanted || !may_resend(row, since, context, plan)) {
    search_launch(state, context, plan, position, launch);
  } else if (back_off_over(row, since, context.now)) {
    plan.attempt(position, row.attempt + 1);
  }
}

}  // namespace

void reconcile_retry(const ClusterState& state, const Context& context, Plan& plan) {
  for (const auto& [position, slot] : state.commands().slots()) {
    if (plan.full()) return;
    const CommandRow& row = slot.row;
    const auto since = unclear_since(row, context.now, plan);
    if (!since) continue;
    const model::CommandKind kind = model::kind_of(row.command.spec);
    if (kind != model::CommandKind::kLaunch && kind != model::CommandKind::kCreateNodeClaim) {
      plan.abandon(position, "decided_anew", {});
      continue;
    }
    // Before the claims are listed it is not known which of them are still wanted.
    if (!state.listed("NodeClaim")) continue;
    if (kind == model::CommandKind::kLaunch)
      retry_launch(state, context, plan, position, row, *since);
    else
      retry_create(state, context, plan, position, row, *since);
  }
}

}  // namespace karst::reconcilers
