#include "reconcilers/buffers.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "reconcilers/neighbours.h"
#include "reconcilers/problem_of.h"
#include "scheduling/buffers.h"

namespace karst::reconcilers {
namespace {

struct Source {
  model::ShapeHash shape;
  model::Labels labels;
  std::int64_t replicas = 0;
};

std::optional<Source> source_of(const ClusterState& state, const model::CapacityBuffer& buffer) {
  if (!buffer.template_name.empty()) {
    const auto* pods =
        state.object<model::PodTemplate>(buffer.namespace_name, buffer.template_name);
    if (pods == nullptr) return std::nullopt;
    return Source{pods->shape, pods->labels, 0};
  }
  const auto* row = state.objects().find(
      model::ObjectKeyView{buffer.scalable_kind, buffer.namespace_name, buffer.scalable_name});
  const auto* workload = row == nullptr ? nullptr : std::get_if<model::Workload>(&row->object);
  if (workload == nullptr) return std::nullopt;
  return Source{workload->shape, workload->labels, workload->replicas};
}

// Calls f(buffer, its pods' shape, labels, count) for each that asks for something.
template <class F>
void for_each_buffer(const ClusterState& state, F&& f) {
  if (!state.config().capacity_buffer) return;
  state.for_each<model::CapacityBuffer>([&](const model::CapacityBuffer& buffer, const auto&) {
    if (!scheduling::is_active(buffer)) return;
    const auto source = source_of(state, buffer);
    if (!source) return;
    const auto* shape = state.shapes().find(source->shape);
    if (shape == nullptr) return;
    const std::int64_t count =
        scheduling::buffer_pods(buffer, shape->shape.requests, source->replicas, kBufferPodsMax);
    if (count > 0) f(buffer, shape->shape, source->labels, count);
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

bool any_buffers(const ClusterState& state) {
  bool any = false;
  for_each_buffer(state, [&](const auto&, const auto&, const auto&, std::int64_t) { any = true; });
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
  for_each_buffer(state, [&](const model::CapacityBuffer& buffer, const model::PodShape& shape,
                             const model::Labels& labels, std::int64_t count) {
    scheduling::PodGroup pods;
    pods.shape = scheduling::buffer_shape(shape);
    pods.namespace_name = buffer.namespace_name;
    pods.labels = projected(labels, keys);
    pods.count = count;
    pods.creation_millis = std::numeric_limits<std::int64_t>::max();  // behind pods of its size
    problem.pods.push_back(std::move(pods));
  });
}

std::set<model::NodeName> buffer_hosts(const ClusterState& state, const Context& context) {
  std::set<model::NodeName> hosts;
  Supply supply = supply_of(state, context, nullptr);
  const scheduling::Problem problem = problem_of(state, context, Demand{}, supply, true);
  for (const scheduling::NodePlacement& placement : scheduling::solve(problem).placements)
    hosts.insert(supply.nodes[placement.node].node);
  return hosts;
}

}  // namespace karst::reconcilers
