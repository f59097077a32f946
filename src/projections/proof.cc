#include "projections/proof.h"

namespace karst::projections {

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

}  // namespace karst::projections
