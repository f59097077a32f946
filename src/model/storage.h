// What decides where a pod's volumes can be mounted, and what holds a leaving node up: claims,
// volumes, storage classes, the limits of CSI drivers on nodes, attachments. Reduced by the source
// to what a decision can see. All are known by kind, namespace and name (model/named_object.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/requirements.h"

namespace karst::model {

// One of the lists must hold.
using Topology = std::vector<std::vector<RequirementSpec>>;

struct VolumeClaim {
  static constexpr std::string_view kKind = "PersistentVolumeClaim";
  std::string namespace_name;
  std::string name;
  std::optional<std::string> storage_class;  // none: the default class
  std::string volume;                        // spec.volumeName
  bool lost = false;
  bool deleting = false;
  bool once_per_pod = false;  // ReadWriteOncePod: one pod of the cluster may use it
  friend bool operator==(const VolumeClaim&, const VolumeClaim&) = default;
};

struct PersistentVolume {
  static constexpr std::string_view kKind = "PersistentVolume";
  std::string name;
  std::string driver;  // CSI; empty for other kinds
  std::string storage_class;
  bool on_node = false;  // local or hostPath: host name terms count while that node is there
  bool deleting = false;
  Topology topology;  // of its node affinity
  friend bool operator==(const PersistentVolume&, const PersistentVolume&) = default;
};

struct StorageClass {
  static constexpr std::string_view kKind = "StorageClass";
  std::string name;
  std::string provisioner;
  bool immediate = true;  // volumeBindingMode
  bool is_default = false;
  Topology topology;  // allowedTopologies
  friend bool operator==(const StorageClass&, const StorageClass&) = default;
};

struct CsiNode {
  static constexpr std::string_view kKind = "CSINode";
  std::string name;  // of the node
  // By driver, sorted; absent: not limited.
  std::vector<std::pair<std::string, std::int64_t>> limits;
  friend bool operator==(const CsiNode&, const CsiNode&) = default;
};

struct VolumeAttachment {
  static constexpr std::string_view kKind = "VolumeAttachment";
  std::string name;
  std::string node;
  std::string volume;  // PersistentVolume; empty: an inline volume
  friend bool operator==(const VolumeAttachment&, const VolumeAttachment&) = default;
};

// The CSI driver that does a provisioner's work today; the provisioner itself when it is one.
std::string csi_driver(std::string_view provisioner);

template <class Archive>
void fields(Archive& a, VolumeClaim& c) {
  a(c.namespace_name, c.name, c.storage_class, c.volume, c.lost, c.deleting, c.once_per_pod);
}
template <class Archive>
void fields(Archive& a, PersistentVolume& v) {
  a(v.name, v.driver, v.storage_class, v.on_node, v.deleting, v.topology);
}
template <class Archive>
void fields(Archive& a, StorageClass& s) {
  a(s.name, s.provisioner, s.immediate, s.is_default, s.topology);
}
template <class Archive>
void fields(Archive& a, CsiNode& n) {
  a(n.name, n.limits);
}
template <class Archive>
void fields(Archive& a, VolumeAttachment& v) {
  a(v.name, v.node, v.volume);
}

}  // namespace karst::model
