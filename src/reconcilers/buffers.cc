#include "reconcilers/buffers.h"

#include <algorithm>
#include <limits>
#include <map>

#include "reconcilers/neighbours.h"
#include "reconcilers/problem_of.h"
#include "scheduling/buffers.h"

namespace karst::reconcilers {
namespace {

BufferRoom not_found(std::string reason, const std::string& what) {
  BufferRoom room;
  room.fault = std::move(reason);
  room.message = what + " not found";
  return room;
}

// What the buffer's pods look like, and how many there are of the workload.
BufferRoom resolve(const ClusterState& state, const model::CapacityBuffer& buffer) {
  BufferRoom room;
  const model::ShapeHash* shape = nullptr;
  if (!buffer.template_name.empty()) {
    const auto* pods =
        state.object<model::PodTemplate>(buffer.namespace_name, buffer.template_name);
    if (pods == nullptr)
      return not_found("PodTemplateNotFound", "PodTemplate " + buffer.template_name);
    shape = &pods->shape;
    room.labels = &pods->labels;
  } else if (!buffer.scalable_name.empty()) {
    const auto* row = state.objects().find(
        model::ObjectKeyView{buffer.scalable_kind, buffer.namespace_name, buffer.scalable_name});
    const auto* workload = row == nullptr ? nullptr : std::get_if<model::Workload>(&row->object);
    if (workload == nullptr)
      return not_found("ScalableRefNotFound", buffer.scalable_kind + " " + buffer.scalable_name);
    shape = &workload->shape;
    room.labels = &workload->labels;
    room.pods = workload->replicas;
  }
  const auto* row = shape == nullptr ? nullptr : state.shapes().find(*shape);
  if (row == nullptr) {
    room.fault = "ResolutionFailed";
    room.message = "it names neither a pod template nor a workload with one";
    return room;
  }
  room.shape = &row->shape;
  return room;
}

// Calls f(buffer, its row, its room) for each that asks for something.
template <class F>
void for_each_buffer(const ClusterState& state, F&& f) {
  if (!state.config().capacity_buffer) return;
  state.for_each<model::CapacityBuffer>([&](const model::CapacityBuffer& buffer, const auto& row) {
    if (!scheduling::is_active(buffer)) return;
    const BufferRoom room = room_of(state, buffer);
    if (room.pods > 0) f(buffer, row, room);
  });
}

bool claim_on_its_way(const ClusterState& state, const Context& context) {
  return std::any_of(
      state.restless().begin(), state.restless().end(), [&](const model::ClaimName& name) {
        const ClaimRow& row = *state.claims().find(name);
        return !row.launched() && !row.leaving() && row.gone_at.value() == 0 && ours(row, context);
      });
}

}  // namespace

std::string buffer_subject(const model::CapacityBuffer& buffer) {
  return model::status_subject(std::string(model::CapacityBuffer::kKind), buffer.namespace_name,
                               buffer.name);
}

BufferRoom room_of(const ClusterState& state, const model::CapacityBuffer& buffer) {
  BufferRoom room = resolve(state, buffer);
  room.pods = room.shape == nullptr ? 0
                                    : scheduling::buffer_pods(buffer, room.shape->requests,
                                                              room.pods, kBufferPodsMax);
  return room;
}

bool any_buffers(const ClusterState& state) {
  bool any = false;
  for_each_buffer(state, [&](const auto&, const auto&, const auto&) { any = true; });
  return any;
}

bool buffers_count(const ClusterState& state, const Context& context) {
  return any_buffers(state) && !claim_on_its_way(state, context);
}

bool buffers_due(const ClusterState& state, const Context& context, Plan& plan) {
  if (!buffers_count(state, context)) return false;
  const bool held = state.held_until() > state.held_at();
  const LogTime due = held ? state.held_until() : state.held_at() + kBufferEveryMillis;
  if (due > context.now) plan.wake_at(due);
  return due <= context.now;
}

void add_buffers(const ClusterState& state, scheduling::Problem& problem) {
  const SelectedKeys keys = selected_keys(state);
  for_each_buffer(
      state, [&](const model::CapacityBuffer& buffer, const auto&, const BufferRoom& room) {
        scheduling::PodGroup pods;
        pods.shape = scheduling::buffer_shape(*room.shape);
        pods.namespace_name = buffer.namespace_name;
        pods.labels = projected(*room.labels, keys);
        pods.count = room.pods;
        pods.creation_millis = std::numeric_limits<std::int64_t>::max();  // behind pods of its size
        problem.pods.push_back(std::move(pods));
      });
}

void say_where_buffers_are(const ClusterState& state, Plan& plan, std::size_t group,
                           const scheduling::Answer& answer) {
  std::map<std::size_t, std::int64_t> on_new, left;
  for (const scheduling::NewClaim& claim : answer.claims)
    for (const scheduling::Share& share : claim.pods) on_new[share.group] += share.count;
  for (const scheduling::Unplaced& one : answer.unplaced) left[one.group] += one.count;
  for_each_buffer(
      state, [&](const model::CapacityBuffer& buffer, const auto& row, const BufferRoom& room) {
        std::vector<std::string> args;
        if (left.contains(group))
          args.push_back(std::to_string(left[group]) + " of " + std::to_string(room.pods) +
                         " pods have no place");
        const bool fits = !on_new.contains(group) && args.empty();
        plan.verdict(buffer_subject(buffer), fits ? kFitsExisting : kRequiresNew, std::move(args),
                     row.position);
        ++group;
      });
}

std::set<model::NodeName> buffer_hosts(const ClusterState& state, const Context& context) {
  std::set<model::NodeName> hosts;
  Supply supply = supply_of(state, context, Demand{}, true);
  const scheduling::Problem problem = problem_of(state, context, Demand{}, supply, true);
  for (const scheduling::NodePlacement& placement : scheduling::solve(problem).placements)
    hosts.insert(supply.nodes[placement.node].node);
  return hosts;
}

}  // namespace karst::reconcilers
