// The cluster's storage as the solver asks for it, and what holds a leaving node's volumes.
// Internal to provisioning and termination.
#pragma once

#include <string>

#include "reconcilers/queries.h"
#include "scheduling/storage.h"

namespace karst::reconcilers {

// Of one moment; `state` outlives it.
class StateStorage final : public scheduling::Storage {
 public:
  explicit StateStorage(const ClusterState& state) : state_(state) {}
  const model::VolumeClaim* claim(const std::string& namespace_name,
                                  const std::string& name) const override {
    return state_.object<model::VolumeClaim>(namespace_name, name);
  }
  const model::PersistentVolume* volume(const std::string& name) const override {
    return state_.object<model::PersistentVolume>("", name);
  }
  const model::StorageClass* storage_class(const std::string& name) const override {
    return state_.object<model::StorageClass>("", name);
  }
  const model::StorageClass* default_class() const override;
  bool has_host(const std::string& host) const override;

 private:
  const ClusterState& state_;
};

// The volumes of the group's claims, each by its name, for they may be mounted somewhere or be
// shared; or why one of them cannot be reached.
void resolve_volumes(const scheduling::Storage& storage, scheduling::PodGroup& pods);

// How many volumes each node of the problem can attach; nothing where no pod asks for one.
void add_attach_limits(const ClusterState& state, scheduling::Problem& problem);

}  // namespace karst::reconcilers
