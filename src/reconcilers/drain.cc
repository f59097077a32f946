#include "reconcilers/drain.h"

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
  static const model::Taint kDisrupted{std::string(model::kDisruptedTaintKey), "",
                                       model::TaintEffect::kNoSchedule};
  if (pod.terminal() || pod.mirror()) return false;
  if (pod.deletion_millis != 0 && stuck_at(pod) < now) return false;
  return !model::tolerates(pod.shape->tolerations, kDisrupted);
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

std::vector<const PodRow*> leaving_pods(const ClusterState& state, const model::NodeName& node,
                                        LogTime now) {
  std::vector<const PodRow*> pods;
  for (const PodRow* pod : state.pods().on_node(node.str()))
    if (must_leave(*pod, now)) pods.push_back(pod);
  return pods;
}

}  // namespace karst::reconcilers
