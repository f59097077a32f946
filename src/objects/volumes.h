// Claims, volumes, storage classes, the limits of CSI drivers on nodes, attachments, and overlays
// of prices and capacities, reduced to model/storage.h and model/named_object.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "model/named_object.h"
#include "objects/json.h"

namespace karst::objects {

// All of them: kInvalid with the path of the first wrong field.
base::Result<model::VolumeClaim> reduce_volume_claim(simdjson::dom::element object);
base::Result<model::PersistentVolume> reduce_volume(simdjson::dom::element object);
base::Result<model::StorageClass> reduce_storage_class(simdjson::dom::element object);
base::Result<model::CsiNode> reduce_csi_node(simdjson::dom::element object);
base::Result<model::VolumeAttachment> reduce_volume_attachment(simdjson::dom::element object);
base::Result<model::NodeOverlay> reduce_overlay(simdjson::dom::element object);

// "0.25", "+0.5", "-1" in units of 10^-9, cut after nine digits; none when it is no decimal number
// or too large.
std::optional<std::int64_t> parse_nanos(std::string_view text);

}  // namespace karst::objects
