// CapacityBuffers: what each stands for and where its room was found, shown in its status with the
// conditions and reasons of Karpenter (v1.14).
#include "reconcilers/buffers.h"
#include "reconcilers/explained.h"
#include "reconcilers/list.h"
#include "scheduling/buffers.h"

namespace karst::reconcilers {
namespace {

using model::ConditionStatus;

constexpr std::string_view kReady = "ReadyForProvisioning";
constexpr std::string_view kProvisioning = "Provisioning";

// Whether its room is there is what the latest pass of provisioning said; nothing before the first.
void set_provisioning(const ClusterState& state, const Context& context,
                      const model::CapacityBuffer& buffer, const BufferRoom& room,
                      Conditions& conditions) {
  if (!room.fault.empty())
    return conditions.set(kProvisioning, ConditionStatus::kFalse, "NotReadyForProvisioning", "",
                          context.now);
  if (room.pods == 0)
    return conditions.set(kProvisioning, ConditionStatus::kFalse, "BufferEmpty", "", context.now);
  const auto* row =
      state.verdicts().find(std::pair(buffer_subject(buffer), std::string("provisioning")));
  if (row == nullptr) return conditions.clear(kProvisioning);
  const model::Verdict& verdict = row->verdict;
  conditions.set(kProvisioning, ConditionStatus::kTrue, verdict.code,
                 verdict.args.empty() ? "" : verdict.args.front(), context.now);
}

// A template that was found has a name of DNS, which JSON takes as it is.
std::string fields_json(const model::CapacityBuffer& buffer, const BufferRoom& room) {
  std::string json = R"({"provisioningStrategy":"buffer.x-k8s.io/active-capacity")";
  const bool found = room.fault.empty();
  json += found && !buffer.template_name.empty()
              ? R"(,"podTemplateRef":{"name":")" + buffer.template_name + "\"}"
              : R"(,"podTemplateRef":null)";
  return json + ",\"replicas\":" + (found ? std::to_string(room.pods) : "null") + "}";
}

}  // namespace

void reconcile_buffers(const ClusterState& state, const Context& context, Plan& plan) {
  if (!state.config().capacity_buffer || !all_listed(state)) return;
  state.for_each<model::CapacityBuffer>([&](const model::CapacityBuffer& buffer, const auto& row) {
    if (!scheduling::is_active(buffer)) return;  // somebody else's
    const BufferRoom room = room_of(state, buffer);
    model::MirrorStatus mirror;
    mirror.group = "autoscaling.x-k8s.io";
    mirror.kind = model::CapacityBuffer::kKind;
    mirror.namespace_name = buffer.namespace_name;
    mirror.name = buffer.name;
    mirror.uid = buffer.uid;
    mirror.fields_json = fields_json(buffer, room);
    Conditions conditions(told_conditions(state, mirror), buffer.generation);
    if (room.fault.empty())
      conditions.set(kReady, ConditionStatus::kTrue, "Resolved", "", context.now);
    else
      conditions.set(kReady, ConditionStatus::kFalse, room.fault, room.message, context.now);
    set_provisioning(state, context, buffer, room, conditions);
    explain_status(state, context, plan, std::move(mirror), conditions, row.position);
  });
}

}  // namespace karst::reconcilers
