// Nodes, node pools, node claims and node classes, reduced to what a decision can see.
#pragma once

#include <string_view>

#include "base/result.h"
#include "model/cluster.h"
#include "objects/json.h"

namespace karst::objects {

// All of them: kInvalid with the path of the first wrong field.
// v1 Node. Of its annotations only those of karst and Karpenter are kept.
base::Result<model::Node> reduce_node(simdjson::dom::element object);
// karpenter.sh/v1 NodePool. What is absent has the value that the CRD would have filled in.
base::Result<model::NodePool> reduce_node_pool(simdjson::dom::element object);
// The same of a document that has no uids; what is wrong is told to `root`'s context.
model::NodePool read_node_pool(const Object& root);
// karpenter.sh/v1 NodeClaim. All annotations are kept but kubectl's copy of the manifest.
base::Result<model::NodeClaim> reduce_node_claim(simdjson::dom::element object);
model::NodeClaim read_node_claim(const Object& root);
// Any node class; `group` and `kind` are what was asked for. The spec is kept whole, as canonical
// JSON.
base::Result<model::NodeClass> reduce_node_class(simdjson::dom::element object,
                                                 std::string_view group, std::string_view kind);

}  // namespace karst::objects
