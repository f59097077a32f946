// What a workload of a manifest makes: the pod of its template, and how many of them. Pure
// functions over the tree of an object that the schema has let pass.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "objects/manifest_kinds.h"
#include "objects/value_tree.h"

namespace karst::objects {

TreeValue map_value();  // a map without fields

// A text of metadata; empty when it is not there.
std::string_view metadata_text(const TreeValue& object, std::string_view key);

// Pods and jobs may leave the end of their name to the API server: then its beginning.
std::string name_of(const TreeValue& object);

// The object with all that reducers ask for: name, namespace, and a uid.
TreeValue completed(const TreeValue& object, const std::string& kind, bool namespaced);

// The pod of a workload's template as the workload makes it: with its labels and owner, and named
// after it.
TreeValue templated(const TreeValue& workload, const std::string& kind);

// How many pods of it there are to be. A Job that is suspended or has ended starts none
// (https://kubernetes.io/docs/concepts/workloads/controllers/job/#terminal-job-conditions).
std::int64_t replicas_of(const TreeValue& object, Role role);

}  // namespace karst::objects
