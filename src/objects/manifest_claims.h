// What manifests say of volume claims beyond what decisions are logged with: claims that every pod
// has of its own. Internal to the manifest reader.
#pragma once

#include <vector>

#include "model/storage.h"
#include "objects/value_tree.h"

namespace karst::objects {

// A StatefulSet's claims, named for their template.
std::vector<model::VolumeClaim> claim_templates(const TreeValue& stateful_set);
// Those of a pod's ephemeral volumes, named for their volume.
std::vector<model::VolumeClaim> ephemeral_claims(const TreeValue& pod);

}  // namespace karst::objects
