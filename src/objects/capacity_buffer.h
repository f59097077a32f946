// CapacityBuffers, reduced to model/named_object.h.
#pragma once

#include "base/result.h"
#include "model/named_object.h"
#include "objects/json.h"

namespace karst::objects {

// kInvalid with the path of the first wrong field.
base::Result<model::CapacityBuffer> reduce_capacity_buffer(simdjson::dom::element object);

}  // namespace karst::objects
