#include "reconcilers/new_claim.h"

#include "model/labels.h"
#include "model/pool_hash.h"

namespace karst::reconcilers {

model::NodeClaim claim_of_pool(const model::NodePool& pool, const model::CommandId& id) {
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
  claim.expire_after_millis = pool.expire_after_millis;
  claim.termination_grace_millis = pool.termination_grace_millis;
  claim.has_finalizer = true;
  return claim;
}

}  // namespace karst::reconcilers
