// JSON as a tree with lines (value_tree.h). Strict: UTF-8, no comments, no key twice.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "objects/value_tree.h"

namespace karst::objects {

// Values one after another, as `kubectl get -o json` and streams of objects print them. Errors:
// kInvalid "line N: what is wrong".
base::Result<std::vector<TreeValue>> read_json_documents(std::string_view text);

}  // namespace karst::objects
