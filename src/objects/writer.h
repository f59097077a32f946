// Model values as the JSON that the API server takes.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "model/cluster.h"
#include "model/command.h"
#include "model/resources.h"

namespace karst::objects {

// A quantity that parses to the same amount: "1500m" for cpu, "16Gi" where it is exact, digits
// otherwise.
std::string quantity(std::string_view resource, std::int64_t amount);

// The whole karpenter.sh/v1 NodeClaim without status: labels, annotations, the owner reference to
// its NodePool, the termination finalizer, spec.
std::string node_claim_json(const model::NodeClaim& claim);

// Merge patch of the labels and annotations, tied to the claim's uid; empty: there are none.
std::string claim_metadata_patch(const model::MirrorClaim& mirror);
// JSON patch of what the mirror says of the status, computed from the claim as it was just read. It
// tests the version of that read: conditions are one list, which holds those of others, too.
std::string claim_status_patch(const nlohmann::json& claim, const model::MirrorClaim& mirror);

// The same two for a NodePool: its hash annotations, and its status.
std::string pool_annotations_patch(const model::MirrorPool& mirror);
std::string pool_status_patch(const nlohmann::json& pool, const model::MirrorPool& mirror);
// REQUIRES: fields_json is a JSON object or empty.
std::string status_patch(const nlohmann::json& object, const model::MirrorStatus& mirror);

}  // namespace karst::objects
