// What a shadow would have done.
#include "daemon/scene.h"

namespace karst::daemon {

void Watcher::not_sent(const Scene& scene, const model::Command& command) const {
  Happening h = scene.blank(HappeningKind::kNotSent);
  if (const auto* create = std::get_if<model::CreateNodeClaim>(&command.spec)) {
    h.claim = create->claim.name.str();
    h.pool = create->claim.pool.str();
    h.resources = create->claim.requests;
    for (const model::RequirementSpec& requirement : create->claim.requirements)
      if (requirement.key == model::kInstanceTypeLabel) h.instance_types = requirement.values;
  } else if (const auto* remove = std::get_if<model::DeleteObject>(&command.spec)) {
    h = about_claim(scene, HappeningKind::kNotSent, remove->object.name);
  } else if (const auto* taint = std::get_if<model::TaintNode>(&command.spec)) {
    h = about_claim(scene, HappeningKind::kNotSent, claim_of_node(taint->node.str()));
    h.node = taint->node.str();
  }
  h.reason = command.reason;
  h.args = {std::string(model::command_kind_name(model::kind_of(command.spec))),
            to_string(model::CommandId{scene.state.log_id(), scene.envelope.position})};
  scene.tell(std::move(h));
}

}  // namespace karst::daemon
