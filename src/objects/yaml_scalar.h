// What a plain YAML word is: null, a boolean, a number or text, by the rules that kubectl and the
// API server use (YAML 1.1 with C's number notations).
#pragma once

#include <string_view>

#include "objects/value_tree.h"

namespace karst::objects {

// A number without text is one that JSON cannot say: infinity, not-a-number.
TreeValue plain_scalar(std::string_view text);

}  // namespace karst::objects
