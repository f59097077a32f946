// JSON patches of Nodes, node classes and finalizers, computed from the object as it was just read.
// Pure. Each patch tests the uid and every list, or taint, that it replaces, so that it fails
// instead of undoing what somebody else did in between; what it does not touch may change meanwhile
// (heartbeats and others' taints do, all the time).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "model/command.h"

namespace karst::kube {

// The patch; nullopt when the object is already so.
std::optional<std::string> taint_patch(const nlohmann::json& node, const model::TaintNode& command);
// Gives no taints to a node that is registered already.
std::optional<std::string> sync_patch(const nlohmann::json& node, const model::SyncNode& command);
std::optional<std::string> class_patch(const nlohmann::json& object,
                                       const model::SyncNodeClass& command);
std::optional<std::string> finalizer_patch(const nlohmann::json& object, bool add);

// metadata.uid; empty when absent.
std::string uid_of(const nlohmann::json& object);
// metadata.annotations[key]; empty when absent.
std::string annotation_of(const nlohmann::json& object, std::string_view key);

}  // namespace karst::kube
