// The reads that a destructive step rests on, out of the API server's answers. What cannot be read
// is an error, never "nothing there".
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/command.h"

namespace karst::kube {

// `exists` is false when another node has the name now. Errors: kInvalid.
base::Result<model::NodeReadBack> read_back_node(std::string_view body, const model::NodeUid& uid);
// Every pod of a PodList; one that cannot be read holds the node. Errors: kInvalid, also when the
// list is not complete or nobody can tell what one of it is.
base::Result<std::vector<model::ReadBackPod>> read_back_pods(std::string_view body);

}  // namespace karst::kube
