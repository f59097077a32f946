// What decides where a pod's volumes can be mounted: claims, volumes, storage classes, and the
// limits of CSI drivers on nodes; and the overlays of prices and capacities.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/requirements.h"
#include "model/resources.h"
#include "objects/json.h"

namespace karst::objects {

// One of the lists must hold.
using Topology = std::vector<std::vector<model::RequirementSpec>>;

struct VolumeClaim {
  std::string namespace_name;
  std::string name;
  std::optional<std::string> storage_class;  // none: the default class
  std::string volume;                        // spec.volumeName
  bool lost = false;
  bool deleting = false;
};

struct PersistentVolume {
  std::string name;
  std::string driver;  // CSI; empty for other kinds
  std::string storage_class;
  bool on_node = false;  // local or hostPath: its host name terms do not count
  bool deleting = false;
  Topology topology;  // of its node affinity
};

struct StorageClass {
  std::string name;
  std::string provisioner;
  bool immediate = true;  // volumeBindingMode
  bool is_default = false;
  Topology topology;  // allowedTopologies
};

struct CsiNode {
  std::string name;
  std::map<std::string, std::int64_t> limits;  // by driver; absent: not limited
};

// Exactly one of price, adjustment and percentage counts; the others are empty.
struct NodeOverlay {
  std::string name;
  std::int32_t weight = 0;
  std::vector<model::RequirementSpec> requirements;
  std::optional<std::int64_t> price_nanos_per_hour;
  std::optional<std::int64_t> adjustment_nanos_per_hour;  // to be added; may be negative
  std::optional<std::int64_t> percent_micros;             // to be added: 1 % is 1,000,000
  model::Resources capacity;
};

// All of them: kInvalid with the path of the first wrong field.
base::Result<VolumeClaim> reduce_volume_claim(simdjson::dom::element object);
base::Result<PersistentVolume> reduce_volume(simdjson::dom::element object);
base::Result<StorageClass> reduce_storage_class(simdjson::dom::element object);
base::Result<CsiNode> reduce_csi_node(simdjson::dom::element object);
base::Result<NodeOverlay> reduce_overlay(simdjson::dom::element object);

// The CSI driver that does a provisioner's work today; the provisioner itself when it is one.
std::string csi_driver(std::string_view provisioner);

// "0.25", "+0.5", "-1" in units of 10^-9, cut after nine digits; none when it is no decimal number
// or too large.
std::optional<std::int64_t> parse_nanos(std::string_view text);

}  // namespace karst::objects
