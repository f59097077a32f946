// The part of a pod that its shape is made of: spec, and the annotations and owner that count as
// demands. For readers of pods; what it finds wrong it tells the object's context.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/pod.h"
#include "objects/json.h"

namespace karst::objects {

// What the kubelet holds for the containers, by name: after a resize in place that is still to be
// carried out, or that cannot be.
struct Held {
  std::vector<std::pair<std::string, model::Resources>> containers;
  bool is_infeasible = false;  // the spec asks for what this node will never give
};
Held read_held(const Object& status);

// Fills everything of `shape` that spec says; `held` is looked at for what read_requests() says.
// `namespace_name` and `pod_name` complete what is relative to the
// pod: affinity terms without namespaces, and the claims of its ephemeral volumes.
void read_pod_spec(const Object& spec, std::string_view namespace_name, std::string_view pod_name,
                   model::PodShape& shape, const Held& held = {});

// What the pod asks of a node, in Kubernetes' rule: containers and sidecars together, or the
// largest init container with the sidecars started before it, whichever is more per resource, or
// what is asked for the whole pod; then overhead; pods is 1. While a container or sidecar is
// resized in place the larger of spec and what is held counts, and what is held alone where the
// resize is infeasible
// (https://kubernetes.io/docs/tasks/configure-pod-container/resize-container-resources/).
model::Resources read_requests(const Object& spec, const Held& held = {});

// A label selector; one that is absent matches nothing.
model::LabelSelector read_selector(const Object& parent, std::string_view key);

}  // namespace karst::objects
