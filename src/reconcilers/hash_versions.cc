#include "reconcilers/hash_versions.h"

#include <algorithm>

#include "reconcilers/claim_status.h"

namespace karst::reconcilers {

bool migrate_claim(const ClusterState& state, const Context& context, Plan& plan,
                   const ClaimRow& row, const HashVersion& to) {
  const model::NodeClaim& claim = row.claim;
  if (!row.observed || row.leaving() ||
      model::label_value(claim.annotations, to.version_key) == to.version)
    return true;
  if (!may_issue(state, context, plan, claim_subject(claim.name), model::CommandKind::kMirrorClaim))
    return false;
  model::MirrorClaim mirror = mirror_of(state, context, row).command;
  if (mirror.uid.empty()) return false;
  model::set_label(mirror.annotations, to.version_key, to.version);
  const bool drifted = std::any_of(claim.conditions.begin(), claim.conditions.end(),
                                   [](const auto& one) { return one.type == kDrifted; });
  if (!drifted) model::set_label(mirror.annotations, to.hash_key, to.hash);
  plan.command(std::move(mirror), "hash_version", {row.position}, row.root);
  return false;
}

}  // namespace karst::reconcilers
