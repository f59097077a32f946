#include "kube/rights.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace karst::kube {
namespace {

std::string role_of(const events::Config& config) {
  return config.shadow ? "ClusterRole karst-shadow" : "ClusterRole karst";
}

// Of the cloud's node classes and machines. kwok's are in the shadow's one role.
std::string role_of_cloud(const events::Config& config) {
  const bool in_one = config.shadow && config.provider == "kwok";
  return in_one ? role_of(config) : role_of(config) + "-" + config.provider;
}

}  // namespace

std::string Right::text() const {
  std::string text = verb + " " + resource;
  if (!subresource.empty()) text += "/" + subresource;
  if (!group.empty()) text += "." + group;
  if (!name.empty())
    text += " " + (namespace_name.empty() ? "" : namespace_name + "/") + name;
  else if (!namespace_name.empty())
    text += " in " + namespace_name;
  return text;
}

ResourceName resource_of_path(const std::string& path) {
  std::vector<std::string> parts;
  for (std::size_t from = 1; from <= path.size();) {
    const std::size_t end = std::min(path.find('/', from), path.size());
    parts.push_back(path.substr(from, end - from));
    from = end + 1;
  }
  if (parts.size() == 3 && parts[0] == "api") return {"", parts[1], parts[2]};
  if (parts.size() == 4 && parts[0] == "apis") return {parts[1], parts[2], parts[3]};
  return {};
}

std::string roles_file(bool shadow) {
  return shadow ? "deploy/manifests/shadow/rbac.yaml" : "deploy/manifests/karst/rbac.yaml";
}

std::vector<Right> rights_to_follow(const std::vector<Watched>& watched,
                                    const events::Config& config) {
  std::vector<Right> rights = {{"get", "", "namespaces", "", "", "kube-system", role_of(config)}};
  for (const Watched& one : watched) {
    const ResourceName name = resource_of_path(one.path);
    const std::string role =
        one.kind == WatchedKind::kNodeClass ? role_of_cloud(config) : role_of(config);
    for (const char* verb : {"list", "watch"})
      rights.push_back({verb, name.group, name.resource, "", "", "", role});
  }
  return rights;
}

std::vector<Right> rights_to_act(const events::Config& config) {
  constexpr const char* kGroup = "karpenter.sh";
  const std::string& cloud = config.provider;
  const std::string role = role_of(config), cloud_role = role_of_cloud(config);
  std::vector<Right> rights = {
      {"create", "", "pods", "eviction", "", "", role},
      {"delete", "", "pods", "", "", "", role},
      {"patch", kGroup, "nodeclaims", "status", "", "", role},
      {"get", kGroup, "nodepools", "", "", "", role},
      {"patch", kGroup, "nodepools", "", "", "", role},
      {"patch", kGroup, "nodepools", "status", "", "", role},
      {"create", "", "events", "", "", "", role},
  };
  for (const char* verb : {"get", "patch", "delete"}) {
    rights.push_back({verb, "", "nodes", "", "", "", role});
    rights.push_back({verb, kGroup, "nodeclaims", "", "", "", role});
  }
  rights.push_back({"create", kGroup, "nodeclaims", "", "", "", role});
  // A status is read before it is written.
  const auto explain = [&](const char* group, const char* resource, const std::string& by) {
    rights.push_back({"get", group, resource, "", "", "", by});
    rights.push_back({"patch", group, resource, "status", "", "", by});
  };
  if (config.node_overlay) explain(kGroup, "nodeoverlays", role);
  if (config.capacity_buffer) explain("autoscaling.x-k8s.io", "capacitybuffers", role);
  if (cloud == "aws") {
    explain("karpenter.k8s.aws", "ec2nodeclasses", cloud_role);
    rights.push_back({"patch", "karpenter.k8s.aws", "ec2nodeclasses", "", "", "", cloud_role});
  }
  if (cloud == "kwok") rights.push_back({"create", "", "nodes", "", "", "", cloud_role});
  return rights;
}

std::vector<Right> rights_to_lead(const std::string& namespace_name, const std::string& name) {
  constexpr const char* kGroup = "coordination.k8s.io";
  constexpr const char* kNamespace = "karpenter";  // of the shipped Role
  std::string role = "Role karst-lease";
  if (namespace_name != kNamespace)
    role += std::string(" (the file has it in ") + kNamespace + "; write " + namespace_name +
            " there, or set LEADER_ELECTION_NAMESPACE=" + kNamespace + ")";
  return {{"get", kGroup, "leases", "", namespace_name, name, role},
          {"update", kGroup, "leases", "", namespace_name, name, role},
          {"create", kGroup, "leases", "", namespace_name, "", role}};
}

std::string access_review(const Right& right) {
  nlohmann::json attributes = {{"verb", right.verb}, {"resource", right.resource}};
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) attributes[key] = value;
  };
  add("group", right.group);
  add("subresource", right.subresource);
  add("namespace", right.namespace_name);
  add("name", right.name);
  return nlohmann::json{{"apiVersion", "authorization.k8s.io/v1"},
                        {"kind", "SelfSubjectAccessReview"},
                        {"spec", {{"resourceAttributes", attributes}}}}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace karst::kube
