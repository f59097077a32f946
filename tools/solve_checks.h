// What is wrong with a recorded case (docs/oracle.md) although each field can be read: keys that
// come twice or are misspelt, words nobody knows, numbers out of range. Told to the context with
// the path of the field. Pure functions.
#pragma once

#include "objects/json.h"

namespace karst::tools {

// The document as a whole, and its options.
void check_case(const simdjson::dom::element& document, objects::Context& context);
// Of a pod or a pod template.
void check_pod_spec(const objects::Object& spec);
// Of a NodePool.
void check_pool_spec(const objects::Object& spec);

}  // namespace karst::tools
