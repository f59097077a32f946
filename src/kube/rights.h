// What karst must be allowed to do at the API server, as data: asked for at the start
// (preflight.h), granted by the manifest that roles_file() names. Pure.
#pragma once

#include <string>
#include <vector>

#include "kube/fact_observer.h"

namespace karst::kube {

struct Right {
  std::string verb;
  std::string group;  // empty: core
  std::string resource;
  std::string subresource;
  std::string namespace_name;  // empty: all, or the resource has none
  std::string name;            // empty: all
  std::string role;            // which grants it, for people: "ClusterRole karst"

  std::string text() const;  // "patch nodeclaims/status.karpenter.sh"
};

// A collection's path taken apart: /apis/apps/v1/daemonsets is {"apps", "v1", "daemonsets"}.
struct ResourceName {
  std::string group;
  std::string version;
  std::string resource;
};
ResourceName resource_of_path(const std::string& path);

// The manifest with the roles: a shadow's hold no verb that writes.
std::string roles_file(bool shadow);

// To list and to watch each of these, and to learn which cluster it is.
std::vector<Right> rights_to_follow(const std::vector<Watched>& watched,
                                    const events::Config& config);
// To act: the writer's, the read-back's, the cloud's and those of the gates that are open.
std::vector<Right> rights_to_act(const events::Config& config);
// To hold the lease NAMESPACE/NAME.
std::vector<Right> rights_to_lead(const std::string& namespace_name, const std::string& name);

// The body of a SelfSubjectAccessReview.
std::string access_review(const Right& right);

}  // namespace karst::kube
