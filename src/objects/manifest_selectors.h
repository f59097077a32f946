// Which pods Services and workloads count as theirs, from manifests. Pure functions.
#pragma once

#include <optional>
#include <string>

#include "objects/manifest.h"
#include "objects/value_tree.h"

namespace karst::objects {

ManifestService service_of(const TreeValue& object);

// Of a Deployment, ReplicaSet, StatefulSet or ReplicationController (a plain map there, for which
// its template's labels stand in); nothing of other kinds.
std::optional<model::LabelSelector> selector_of(const TreeValue& workload, const std::string& kind);

}  // namespace karst::objects
