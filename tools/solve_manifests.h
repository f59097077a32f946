// A scheduling problem out of plain manifests: pools with the types of their cloud's catalogue,
// nodes with what is bound to them, pods that wait, daemons, volumes. For `karst solve -f`. What is
// not in the files at all is not held against a pod (notes say what was assumed); what contradicts
// them is. Plain values, no thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "objects/manifest.h"
#include "scheduling/problem.h"

namespace karst::tools {

inline constexpr std::size_t kManifestFilesMax = 10'000;

// Pods as people know them: the workload that makes them, or themselves.
struct PodsName {
  std::string kind;  // "Deployment", "Pod", …
  std::string namespace_name;
  std::string name;
};

// Pods that were not put to the solver, and why.
struct RefusedPods {
  PodsName name;
  std::int64_t count = 0;
  std::string why;
};

struct ManifestProblem {
  scheduling::Problem problem;
  std::vector<PodsName> groups;      // by Problem::pods
  std::vector<std::string> daemons;  // by Problem::daemons, "namespace/name"
  std::vector<RefusedPods> refused;
  std::vector<std::string> notes;  // what was left out or assumed, a line each
};

// Files, folders (their *.yaml, *.yml and *.json, and those of the folders below, by name), and "-"
// for stdin. Errors: kInvalid, for a file that is not there too.
base::Result<std::vector<objects::ManifestText>> read_manifest_files(
    const std::vector<std::string>& paths);

// `zones`: where EC2's machines may be; empty: as the files say (solve_place.h). Errors: kInvalid,
// as read_manifests, or about zones, or about a pool whose node class has no catalogue.
// `default_spread`: for pods without a topology spread of their own (tools/solve_spread.h).
base::Result<ManifestProblem> problem_of_manifests(
    const std::vector<objects::ManifestText>& texts, const std::vector<std::string>& zones,
    const std::vector<model::SpreadConstraint>& default_spread);

}  // namespace karst::tools
