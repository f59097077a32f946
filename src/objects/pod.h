// Pods and the pods that DaemonSets will make, reduced to what a decision can see: no environment,
// no commands, no images, no annotation values but the two that are named here.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "model/cluster.h"
#include "model/pod.h"
#include "objects/json.h"

namespace karst::objects {

struct ReducedPod {
  model::Pod pod;  // pod.shape is the hash of `shape`
  model::PodShape shape;
  bool mirror = false;  // a static pod's image in the API, owned by its node
};

struct ReducedDaemonSet {
  model::DaemonSet daemon_set;  // daemon_set.shape is the hash of `shape`
  model::PodShape shape;
};

// A v1 Pod. Errors: kInvalid with the path of the first wrong field.
base::Result<ReducedPod> reduce_pod(simdjson::dom::element object);
// The same of a document that has no uids; what is wrong is told to `root`'s context.
ReducedPod read_pod(const Object& root);
// What stands for a bound v1 Pod that reduce_pod refuses: it asks for nothing, and its node stays
// until the pod is gone, as with do-not-disrupt. None when it is on no node, or cannot be told.
std::optional<ReducedPod> pod_in_place_of(simdjson::dom::element object);

// An apps/v1 DaemonSet: the shape is its template's, with limits standing in for requests that are
// not given, as the API server does it for real pods. Errors: kInvalid with the path of the first
// wrong field.
base::Result<ReducedDaemonSet> reduce_daemon_set(simdjson::dom::element object);

// The field "template" of whatever makes pods: their labels and their shape but for the owner.
// `namespace_name` and `name` complete what is relative to the pod. Tells `parent`'s context what
// is wrong.
void read_pod_template(const Object& parent, std::string_view namespace_name, std::string_view name,
                       model::Labels& labels, model::PodShape& shape);

}  // namespace karst::objects
