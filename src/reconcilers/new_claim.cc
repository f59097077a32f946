#include "reconcilers/new_claim.h"

#include "model/labels.h"
#include "model/pool_hash.h"

namespace karst::reconcilers {

namespace {

// The class's hash as it is told, or is about to be. None is no harm: nothing is compared then.
void stamp(const ClusterState& state, const Context& context, model::NodeClaim& claim) {
  const auto* row = state.node_classes().find(claim.node_class);
  const std::string_view version = context.provider.class_hash_version();
  if (row == nullptr || version.empty()) return;
  std::string_view hash = row->stamped;
  if (hash.empty() && row->node_class.hash_version == version) hash = row->node_class.hash;
  if (hash.empty()) return;
  const model::NodeClassRef& ref = claim.node_class;
  model::set_label(claim.annotations, model::class_hash_key(ref.group, ref.kind), hash);
  model::set_label(claim.annotations, model::class_hash_version_key(ref.group, ref.kind), version);
}

}  // namespace

model::NodeClaim claim_of_pool(const ClusterState& state, const Context& context,
                               const model::NodePool& pool, const model::CommandId& id) {
  model::NodeClaim claim;
  claim.name = model::claim_name_for(pool.name, id);
  claim.pool = pool.name;
  claim.pool_uid = pool.uid;
  claim.annotations = pool.template_annotations;
  model::set_label(claim.annotations, model::kPoolHashAnnotation, model::pool_hash(pool));
  model::set_label(claim.annotations, model::kPoolHashVersionAnnotation, model::kPoolHashVersion);
  model::set_label(claim.annotations, model::kCommandIdAnnotation, to_string(id));
  claim.taints = pool.taints;
  claim.startup_taints = pool.startup_taints;
  claim.node_class = pool.node_class;
  stamp(state, context, claim);
  claim.expire_after_millis = pool.expire_after_millis;
  claim.expire_after = pool.expire_after;
  claim.termination_grace_millis = pool.termination_grace_millis;
  claim.has_finalizer = true;
  return claim;
}

}  // namespace karst::reconcilers
