// Claims that only one pod of the cluster may use (ReadWriteOncePod): the kube-scheduler keeps
// every other pod that names such a claim waiting, and so no room is made for it. Of one moment.
// Internal to provisioning.
#pragma once

#include <map>
#include <string>

#include "reconcilers/queries.h"

namespace karst::reconcilers {

class OncePerPod {
 public:
  explicit OncePerPod(const ClusterState& state) : state_(state) {}
  // Whether pods of this shape must be looked at one by one.
  bool concerns(const std::string& namespace_name, const model::PodShape& shape) const;
  // The claim, as NAMESPACE/NAME, that another pod has already; empty: none, and from now on this
  // pod has all of its own.
  std::string taken(const std::string& namespace_name, const projections::PodRow& pod);

 private:
  bool is_once(const std::string& namespace_name, const std::string& name) const;
  void note_users();

  const ClusterState& state_;
  bool noted_ = false;
  std::map<std::string, std::string> users_;  // uid of a pod by claim
};

}  // namespace karst::reconcilers
