// YAML as a tree with lines (value_tree.h), on libyaml's events.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "objects/value_tree.h"

namespace karst::objects {

// At most `documents_max` documents; what follows is not read when that is 1, and an error
// otherwise. Empty documents are left out. Errors: kInvalid "line N: what is wrong".
base::Result<std::vector<TreeValue>> read_yaml_documents(std::string_view text,
                                                         std::size_t documents_max);

}  // namespace karst::objects
