#include "objects/pod.h"

#include <charconv>

#include "base/time.h"
#include "objects/pod_spec.h"

namespace karst::objects {
namespace {

constexpr std::string_view kDeletionCostAnnotation = "controller.kubernetes.io/pod-deletion-cost";
constexpr std::string_view kMirrorAnnotation = "kubernetes.io/config.mirror";

model::OwnerKind owner_kind_of(std::string_view kind) {
  if (kind == "ReplicaSet") return model::OwnerKind::kReplicaSet;
  if (kind == "StatefulSet") return model::OwnerKind::kStatefulSet;
  if (kind == "DaemonSet") return model::OwnerKind::kDaemonSet;
  if (kind == "Job") return model::OwnerKind::kJob;
  if (kind == "Node") return model::OwnerKind::kNode;
  return model::OwnerKind::kOther;
}

void read_annotations(const Object& metadata, model::PodShape& shape, bool& mirror) {
  metadata.object("annotations", [&](const Object& annotations) {
    mirror = annotations.has(kMirrorAnnotation);
    // Of any length that an object can have: a tenant's word must not make the pod unreadable.
    const std::string_view cost = annotations.view(kDeletionCostAnnotation, kObjectBytesMax);
    std::int32_t number = 0;
    const auto end = std::from_chars(cost.data(), cost.data() + cost.size(), number);
    if (!cost.empty() && end.ec == std::errc() && end.ptr == cost.data() + cost.size())
      shape.deletion_cost = number;
    const std::string_view disrupt =
        annotations.view(model::kDoNotDisruptAnnotation, kObjectBytesMax);
    if (disrupt == "true") {
      shape.do_not_disrupt = model::DoNotDisrupt::kForever;
    } else if (const auto millis = base::parse_go_duration_millis(disrupt); millis && *millis > 0) {
      shape.do_not_disrupt = model::DoNotDisrupt::kForDuration;
      shape.do_not_disrupt_millis = *millis;
    }
  });
}

void read_owner(const Object& metadata, ReducedPod& reduced) {
  metadata.objects("ownerReferences", [&](const Object& owner) {
    if (!owner.boolean("controller") && owner.view("kind") != "Node") return;
    reduced.shape.owner_kind = owner_kind_of(owner.view("kind"));
    reduced.pod.owner_name = owner.text("name");
  });
}

model::PodPhase phase_of(std::string_view phase) {
  if (phase.empty() || phase == "Pending") return model::PodPhase::kPending;
  if (phase == "Running") return model::PodPhase::kRunning;
  if (phase == "Succeeded") return model::PodPhase::kSucceeded;
  if (phase == "Failed") return model::PodPhase::kFailed;
  return model::PodPhase::kUnknown;
}

void read_status(const Object& status, model::Pod& pod) {
  pod.phase = phase_of(status.view("phase"));
  pod.nominated_node = model::NodeName(status.text("nominatedNodeName"));
  pod.start_millis = status.time_millis("startTime");
  status.objects("conditions", [&](const Object& condition) {
    const std::string_view type = condition.view("type");
    const std::string_view value = condition.view("status");
    if (type == "PodScheduled")
      pod.unschedulable = value == "False" && condition.view("reason") == "Unschedulable";
    if (type == "Ready") pod.ready = value == "True";
  });
}

}  // namespace

ReducedPod read_pod(const Object& root) {
  ReducedPod reduced;
  model::Pod& pod = reduced.pod;
  root.object("metadata", [&](const Object& metadata) {
    pod.uid = model::PodUid(metadata.text("uid"));
    pod.namespace_name = metadata.text("namespace");
    pod.name = metadata.text("name");
    pod.labels = metadata.labels("labels");
    pod.creation_millis = metadata.time_millis("creationTimestamp");
    pod.deletion_millis = metadata.time_millis("deletionTimestamp");
    read_annotations(metadata, reduced.shape, reduced.mirror);
    read_owner(metadata, reduced);
  });
  Held held;
  root.object("status", [&](const Object& status) { held = read_held(status); });
  root.object("spec", [&](const Object& spec) {
    pod.node = model::NodeName(spec.text("nodeName"));
    read_pod_spec(spec, pod.namespace_name, pod.name, reduced.shape, held);
  });
  root.object("status", [&](const Object& status) { read_status(status, pod); });
  reduced.mirror = reduced.mirror || reduced.shape.owner_kind == model::OwnerKind::kNode;
  pod.shape = model::hash_of(reduced.shape);
  return reduced;
}

base::Result<ReducedPod> reduce_pod(simdjson::dom::element object) {
  Context context;
  ReducedPod reduced = read_pod(Object::from(context, object));
  if (reduced.pod.uid.empty() || reduced.pod.name.empty())
    context.fail("metadata.uid or metadata.name is missing");
  KARST_TRY(context.status());
  return reduced;
}

void read_pod_template(const Object& parent, std::string_view namespace_name, std::string_view name,
                       model::Labels& labels, model::PodShape& shape) {
  parent.object("template", [&](const Object& pod_template) {
    bool mirror = false;
    pod_template.object("metadata", [&](const Object& metadata) {
      labels = metadata.labels("labels");
      read_annotations(metadata, shape, mirror);
    });
    pod_template.object(
        "spec", [&](const Object& spec) { read_pod_spec(spec, namespace_name, name, shape); });
  });
}

base::Result<ReducedDaemonSet> reduce_daemon_set(simdjson::dom::element object) {
  Context context;
  const Object root = Object::from(context, object);
  ReducedDaemonSet reduced;
  model::DaemonSet& daemon_set = reduced.daemon_set;
  root.object("metadata", [&](const Object& metadata) {
    daemon_set.uid = metadata.text("uid");
    daemon_set.namespace_name = metadata.text("namespace");
    daemon_set.name = metadata.text("name");
    daemon_set.deletion_millis = metadata.time_millis("deletionTimestamp");
  });
  model::Labels labels;
  root.object("spec", [&](const Object& spec) {
    read_pod_template(spec, daemon_set.namespace_name, daemon_set.name, labels, reduced.shape);
  });
  reduced.shape.owner_kind = model::OwnerKind::kDaemonSet;
  if (daemon_set.uid.empty() || daemon_set.name.empty())
    context.fail("metadata.uid or metadata.name is missing");
  KARST_TRY(context.status());
  daemon_set.shape = model::hash_of(reduced.shape);
  return reduced;
}

std::optional<ReducedPod> pod_in_place_of(simdjson::dom::element object) {
  Context context;
  ReducedPod reduced;
  const Object root = Object::from(context, object);
  root.object("metadata", [&](const Object& metadata) {
    reduced.pod.uid = model::PodUid(metadata.text("uid"));
    reduced.pod.namespace_name = metadata.text("namespace");
    reduced.pod.name = metadata.text("name");
    reduced.pod.deletion_millis = metadata.time_millis("deletionTimestamp");
  });
  root.object("spec", [&](const Object& spec) {
    reduced.pod.node = model::NodeName(spec.text("nodeName"));
  });
  root.object("status",
              [&](const Object& status) { reduced.pod.phase = phase_of(status.view("phase")); });
  if (!context.ok() || reduced.pod.uid.empty() || reduced.pod.name.empty() ||
      reduced.pod.node.empty())
    return std::nullopt;
  reduced.shape.do_not_disrupt = model::DoNotDisrupt::kForever;
  reduced.pod.shape = model::hash_of(reduced.shape);
  return reduced;
}

}  // namespace karst::objects
