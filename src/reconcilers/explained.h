// The status of objects that karst explains without owning them: node classes, NodeOverlays,
// CapacityBuffers. What it was last told is in the state (ClusterState::told), by uid, so that an
// object that came again under the same name is told anew. Internal to reconcilers.
#pragma once

#include "reconcilers/conditions.h"
#include "reconcilers/queries.h"

namespace karst::reconcilers {

// What the object was told; empty: nothing yet. `mirror` has its kind, name and uid.
const std::vector<model::Condition>& told_conditions(const ClusterState& state,
                                                     const model::MirrorStatus& mirror);

// Writes `conditions` and `mirror.fields_json` unless the object was told the same already, of the
// same generation. `again`: the API server shows something else.
void explain_status(const ClusterState& state, const Context& context, Plan& plan,
                    model::MirrorStatus mirror, const Conditions& conditions, Position cause,
                    bool again = false);

}  // namespace karst::reconcilers
