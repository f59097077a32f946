// Every kind of model::NamedObject by its name, for whoever watches it.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "model/named_object.h"
#include "model/pod.h"
#include "objects/json.h"

namespace karst::objects {

struct ReducedObject {
  model::NamedObject object;
  std::optional<model::PodShape> shape;  // what model::shape_of(object) is the hash of
};

// `kind` is one of model::kNamedKinds. `with_shapes`: workloads say what their pods ask for, too;
// pod templates always do. Errors: kInvalid with the path of the first wrong field.
base::Result<ReducedObject> reduce_named(std::string_view kind, simdjson::dom::element object,
                                         bool with_shapes);

}  // namespace karst::objects
