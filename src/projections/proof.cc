#include "projections/proof.h"

namespace karst::projections {
namespace {

// A cloud may not know a machine yet by its id that it has just launched.
constexpr std::int64_t kUnknownAtFirstMillis = 60'000;

}  // namespace

// A launch or create that is sent again because its first answer was unclear may still have taken
// effect. Of a launch only a lack of capacity is the answer to its token; any other refusal may
// have come before that was looked at. Of a create it is the reasons of the moment that speak of
// this send only.
bool proves_nothing(const CommandRow& row, const model::Outcome& outcome) {
  if (outcome.kind != model::OutcomeKind::kRefused || row.attempt == 1) return false;
  const model::CommandKind kind = model::kind_of(row.command.spec);
  if (kind == model::CommandKind::kLaunch) return outcome.code != model::RefusalCode::kCapacity;
  return kind == model::CommandKind::kCreateNodeClaim &&
         (outcome.code == model::RefusalCode::kRetry ||
          outcome.code == model::RefusalCode::kThrottled ||
          outcome.code == model::RefusalCode::kDenied);
}

bool proves_absence(const ClusterState& state, const model::Outcome& outcome,
                    const model::ProviderId& id, base::LogTime now) {
  if (outcome.code != model::RefusalCode::kGone) return true;
  base::LogTime known_since;
  if (const InstanceRow* machine = state.instances().find(id))
    known_since = machine->seen_at;
  else if (const ClaimRow* claim = state.claim_by_provider_id(id))
    known_since = claim->launched_at;
  return now - known_since >= kUnknownAtFirstMillis;
}

}  // namespace karst::projections
