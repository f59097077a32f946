#include "kube/rights.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace karst::kube {
namespace {

constexpr const char* kRole = "ClusterRole karst";

std::string role_of_cloud(const std::string& cloud) {
  return "ClusterRole karst-" + cloud;
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

std::vector<Right> rights_to_follow(const std::vector<Watched>& watched, const std::string& cloud) {
  std::vector<Right> rights;
  for (const Watched& one : watched) {
    const ResourceName name = resource_of_path(one.path);
    const std::string role = one.kind == WatchedKind::kNodeClass ? role_of_cloud(cloud) : kRole;
    for (const char* verb : {"list", "watch"})
      rights.push_back({verb, name.group, name.resource, "", "", "", role});
  }
  return rights;
}

std::vector<Right> rights_to_act(const events::Config& config) {
  constexpr const char* kGroup = "karpenter.sh";
  const std::string& cloud = config.provider;
  std::vector<Right> rights = {
      {"get", "", "namespaces", "", "", "kube-system", kRole},
      {"create", "", "pods", "eviction", "", "", kRole},
      {"delete", "", "pods", "", "", "", kRole},
      {"patch", kGroup, "nodeclaims", "status", "", "", kRole},
      {"get", kGroup, "nodepools", "", "", "", kRole},
      {"patch", kGroup, "nodepools", "", "", "", kRole},
      {"patch", kGroup, "nodepools", "status", "", "", kRole},
      {"create", "", "events", "", "", "", kRole},
  };
  for (const char* verb : {"get", "patch", "delete"}) {
    rights.push_back({verb, "", "nodes", "", "", "", kRole});
    rights.push_back({verb, kGroup, "nodeclaims", "", "", "", kRole});
  }
  rights.push_back({"create", kGroup, "nodeclaims", "", "", "", kRole});
  // A status is read before it is written.
  const auto explain = [&](const char* group, const char* resource, const std::string& role) {
    rights.push_back({"get", group, resource, "", "", "", role});
    rights.push_back({"patch", group, resource, "status", "", "", role});
  };
  if (config.node_overlay) explain(kGroup, "nodeoverlays", kRole);
  if (config.capacity_buffer) explain("autoscaling.x-k8s.io", "capacitybuffers", kRole);
  if (cloud == "aws") {
    explain("karpenter.k8s.aws", "ec2nodeclasses", role_of_cloud(cloud));
    rights.push_back(
        {"patch", "karpenter.k8s.aws", "ec2nodeclasses", "", "", "", role_of_cloud(cloud)});
  }
  if (cloud == "kwok") rights.push_back({"create", "", "nodes", "", "", "", role_of_cloud(cloud)});
  return rights;
}

std::vector<Right> rights_to_lead(const std::string& namespace_name, const std::string& name) {
  constexpr const char* kGroup = "coordination.k8s.io";
  const std::string role = "Role karst-lease";
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
