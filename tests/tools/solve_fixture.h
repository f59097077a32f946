// For tests of `karst solve -f`: small manifests, and what became of them.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/tools/json.h"
#include "tests/tools/program.h"

namespace karst::tests {

inline constexpr const char* kPool = R"(
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
---
)";

inline std::string deployment(const std::string& name, int replicas, const std::string& pod_spec) {
  return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: " + name +
         "}\nspec:\n  replicas: " + std::to_string(replicas) +
         "\n  selector: {matchLabels: {app: " + name +
         "}}\n  template:\n    metadata: {labels: {app: " + name + "}}\n    spec: " + pod_spec +
         "\n---\n";
}

inline std::string asks(const std::string& requests) {
  return "{containers: [{name: c, image: i, resources: {requests: " + requests + "}}]}";
}

inline Ended solve(const std::string& manifests, const std::vector<std::string>& more = {}) {
  const TempFolder folder;
  const std::string path = folder / "all.yaml";
  write_file(path, manifests);
  std::vector<std::string> arguments = {"solve", "-f", path};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return karst(arguments);
}

inline Json solved(const std::string& manifests) {
  const Ended ended = solve(manifests, {"-o", "json"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  return Json::parse(ended.out, nullptr, false);
}

// Pods of each workload on each node, left over under "".
inline std::map<std::string, std::map<std::string, int>> places(const Json& report) {
  std::map<std::string, std::map<std::string, int>> all;
  for (const char* list : {"newNodes", "existingNodes"})
    for (const Json& node : report[list])
      for (const Json& pods : node["pods"])
        all[pods["name"]][node["node"]] += pods["count"].get<int>();
  for (const Json& pods : report["leftOver"]) all[pods["name"]][""] += pods["count"].get<int>();
  return all;
}

}  // namespace karst::tests
