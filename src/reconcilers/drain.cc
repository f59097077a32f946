#include "reconcilers/drain.h"

#include <algorithm>
#include <set>

#include "disruption/pods.h"

namespace karst::reconcilers {

int tier_of(const PodRow& pod) {
  const bool critical = pod.shape->priority_class == "system-cluster-critical" ||
                        pod.shape->priority_class == "system-node-critical";
  return (critical ? 2 : 0) + (pod.daemon() ? 1 : 0);
}

LogTime stuck_at(const PodRow& pod) {
  return pod.deletion_millis == 0 ? LogTime(0) : LogTime(pod.deletion_millis + kStuckMillis);
}

bool must_leave(const PodRow& pod, LogTime now) {
  if (pod.terminal() || pod.mirror()) return false;
  if (pod.deletion_millis != 0 && stuck_at(pod) < now) return false;
  return !disruption::tolerates_disruption(*pod.shape);
}

bool held_by_annotation(const PodRow& pod, LogTime now) {
  switch (pod.shape->do_not_disrupt) {
    case model::DoNotDisrupt::kNo:
      return false;
    case model::DoNotDisrupt::kForever:
      return true;
    case model::DoNotDisrupt::kForDuration:
      return pod.start_millis == 0 ||
             now.value() < pod.start_millis + pod.shape->do_not_disrupt_millis;
  }
  return true;
}

void wake_when_free(const PodRow& pod, Plan& plan) {
  if (pod.shape->do_not_disrupt == model::DoNotDisrupt::kForDuration && pod.start_millis != 0)
    plan.wake_at(LogTime(pod.start_millis + pod.shape->do_not_disrupt_millis));
}

std::vector<const PodRow*> leaving_pods(const ClusterState& state, const model::NodeName& node,
                                        LogTime now) {
  std::vector<const PodRow*> pods;
  for (const PodRow* pod : state.pods().on_node(node.str()))
    if (must_leave(*pod, now)) pods.push_back(pod);
  return pods;
}

bool read_back_waits(const ClusterState& state, const NodeRow& node, LogTime now) {
  if (node.read_back.exists && !node.read_back.tainted) return true;
  return std::any_of(
      node.read_back.pods.begin(), node.read_back.pods.end(), [&](const model::ReadBackPod& pod) {
        if (!pod.drainable) return false;
        const PodRow* known = state.pods().find(pod.uid.str());
        return known == nullptr || known->deletion_millis == 0 || stuck_at(*known) >= now;
      });
}

std::vector<std::string> attached_volumes(const ClusterState& state, const NodeRow& node,
                                          LogTime now) {
  std::vector<std::string> names;
  std::set<std::string> staying;  // volumes of pods that nobody waits for
  bool looked = false;
  state.for_each<model::VolumeAttachment>([&](const model::VolumeAttachment& attachment,
                                              const projections::ObjectRow&) {
    if (attachment.node != node.node.name.str() || attachment.volume.empty()) return;
    if (!std::exchange(looked, true))
      for (const PodRow* pod : state.pods().on_node(node.node.name.str()))
        if (!must_leave(*pod, now) && pod->namespace_name != nullptr)
          for (const std::string& claim : pod->shape->volume_claims)
            if (const auto* found = state.object<model::VolumeClaim>(*pod->namespace_name, claim))
              staying.insert(found->volume);
    if (!staying.contains(attachment.volume)) names.push_back(attachment.name);
  });
  return names;
}

}  // namespace karst::reconcilers
