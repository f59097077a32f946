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
// Every pod of a PodList. Errors: kInvalid, also when the list is not complete or one pod cannot be
// read.
base::Result<std::vector<model::ReadBackPod>> read_back_pods(std::string_view body);

}  // namespace karst::kube
