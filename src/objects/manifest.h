// Plain manifests, as people apply them or as kubectl prints them, read strictly: what the API
// server would refuse is refused here, with file, line and field (schema.h). YAML and JSON, many
// documents, lists of objects. No uid is needed: what has none is told apart by kind, namespace and
// name. Owner: the caller; plain values, no thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/cluster.h"
#include "model/named_object.h"
#include "objects/pod.h"

namespace karst::objects {

inline constexpr std::size_t kManifestBytesMax = 64u << 20;   // of one file
inline constexpr std::size_t kManifestObjectsMax = 200'000;   // of all files
inline constexpr std::int64_t kManifestPodsMax = 10'000'000;  // that workloads ask for together

struct ManifestText {
  std::string file;  // as messages name it
  std::string text;
};

// Pods that are equal but for their names: one Pod, or what a workload makes.
struct ManifestPods {
  std::string kind;  // "Pod", "Deployment", …
  std::int64_t count = 1;
  ReducedPod pod;  // of a workload: its template as a pod called like the workload
  // Who controls the Pod or the workload itself, "ReplicaSet"; empty: nobody.
  std::string owner_kind;
  std::string owner_name;
  // Of a workload: which pods it counts as its own; nothing where a Job says nothing.
  std::optional<model::LabelSelector> selector;
  // Claims of which every pod has its own, called like their volume or template: of a StatefulSet's
  // templates (a claim is then TEMPLATE-SET-NUMBER), and of ephemeral volumes (POD-VOLUME).
  std::vector<model::VolumeClaim> templates;
  std::vector<model::VolumeClaim> ephemeral;
};

struct PriorityClass {
  std::string name;
  std::int32_t value = 0;
  bool global_default = false;
};

// A capacity reservation that an EC2NodeClass's status names, as Karpenter writes it there. How
// many machines it has left is not in Karpenter's status: `availableInstanceCount`, as EC2 calls
// it, may be written beside it.
struct ManifestReservation {
  std::string node_class;
  std::string id;
  std::string zone;
  std::string instance_type;
  std::string type = "default";  // or capacity-block
  bool interruptible = false;
  bool expiring = false;
  std::optional<std::int64_t> available;
};

// Pods that a Service sends to: all these labels. Empty: none.
struct ManifestService {
  std::string namespace_name;
  model::Labels selector;
};

// Each list in the order of the files. Namespaced objects without a namespace are in "default". A
// node that says nothing about being ready is.
struct Manifests {
  std::vector<model::NodePool> pools;
  std::vector<model::NodeClaim> claims;
  std::vector<model::NodeClass> node_classes;
  std::vector<ManifestReservation> reservations;
  std::vector<model::Node> nodes;
  std::vector<model::NodeOverlay> overlays;
  std::vector<ManifestPods> pods;
  std::vector<ManifestPods> pod_templates;  // with a count of 0
  std::vector<model::CapacityBuffer> buffers;
  std::vector<ReducedDaemonSet> daemon_sets;
  std::vector<model::DisruptionBudget> budgets;
  std::vector<model::VolumeClaim> volume_claims;
  std::vector<model::PersistentVolume> volumes;
  std::vector<model::StorageClass> storage_classes;
  std::vector<model::CsiNode> csi_nodes;
  std::vector<PriorityClass> priority_classes;
  std::vector<ManifestService> services;  // they are among `ignored` too
  std::map<std::string, model::Labels> namespaces;
  // Objects that say nothing about where pods go, by kind.
  std::map<std::string, std::int64_t> ignored;
  // "FILE:LINE" of pools and node classes ("NodePool NAME") and of what only a cloud's catalogue
  // can refuse in a pool ("NodePool NAME: FIELD").
  std::map<std::string, std::string> places;
};

// "FILE:LINE: OBJECT: FIELD: what", as read_manifests says it; the object's line where the field's
// is not kept.
std::string located(const Manifests& manifests, const std::string& object, const std::string& field,
                    const std::string& what);

// Errors: kInvalid, one line for each thing that is wrong, kRefusalsMax at most:
// "FILE:LINE: KIND NAME: FIELD: what".
base::Result<Manifests> read_manifests(const std::vector<ManifestText>& texts);

}  // namespace karst::objects
