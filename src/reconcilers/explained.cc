#include "reconcilers/explained.h"

namespace karst::reconcilers {
namespace {

const model::MirrorStatus& told_of(const ClusterState& state, const model::MirrorStatus& mirror) {
  static const model::MirrorStatus kNothing;
  const model::MirrorStatus* told = state.told(model::subject_of(mirror));
  return told != nullptr && told->uid == mirror.uid ? *told : kNothing;
}

}  // namespace

const std::vector<model::Condition>& told_conditions(const ClusterState& state,
                                                     const model::MirrorStatus& mirror) {
  return told_of(state, mirror).conditions;
}

void explain_status(const ClusterState& state, const Context& context, Plan& plan,
                    model::MirrorStatus mirror, const Conditions& conditions, Position cause,
                    bool again) {
  const bool same = !conditions.differ() && conditions.same_generation() &&
                    told_of(state, mirror).fields_json == mirror.fields_json;
  if (same && !again) return;
  mirror.conditions = conditions.all();  // nobody else's is known
  mirror.cleared = conditions.cleared();
  if (may_issue(state, context, plan, model::subject_of(mirror), model::CommandKind::kMirrorStatus))
    plan.command(std::move(mirror), "status", {cause});
}

}  // namespace karst::reconcilers
