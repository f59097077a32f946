#include "reconcilers/pool_verdicts.h"

#include <algorithm>
#include <map>

#include "reconcilers/pool_rules.h"
#include "reconcilers/queries.h"

namespace karst::reconcilers {
namespace {

bool overlap(const model::Requirements& wanted, const std::vector<model::RequirementSpec>& specs) {
  return model::Requirements(specs).intersects(wanted);
}

bool has_instance_types(const scheduling::Pool& pool) {
  const model::Requirements wanted(pool.pool.requirements);
  return std::any_of(pool.types.begin(), pool.types.end(), [&](const auto& type) {
    return overlap(wanted, type.requirements) &&
           std::any_of(type.offerings.begin(), type.offerings.end(), [&](const auto& offering) {
             return offering.available && overlap(wanted, offering.requirements);
           });
  });
}

}  // namespace

void say_which_pools(const PoolsOfPass& pass) {
  std::map<model::PoolName, const scheduling::Pool*> asked;
  for (const scheduling::Pool& pool : pass.problem.pools) asked[pool.pool.name] = &pool;
  for (const auto& [name, slot] : pass.state.pools().slots()) {
    if (!pass.context.provider.understands(slot.row.pool.node_class)) continue;
    const std::string subject = pool_subject(name);
    std::string fault = pool_fault(pass.state, slot.row.pool);
    const auto at = asked.find(name);
    if (!fault.empty())
      pass.plan.verdict(subject, "not_ready", {std::move(fault)}, slot.row.position);
    else if (pass.left_behind && at != asked.end() && !has_instance_types(*at->second))
      pass.plan.verdict(subject, "no_instance_types", {}, slot.row.position);
    else if (pass.state.verdicts().find(std::pair(subject, std::string("provisioning"))) != nullptr)
      pass.plan.verdict(subject, "ready", {}, slot.row.position);
  }
}

}  // namespace karst::reconcilers
