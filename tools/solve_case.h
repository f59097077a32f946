// A scheduling problem as a JSON document (docs/oracle.md has the format), and the answer to it in
// the same style. For the subcommand `solve`. Plain values, no thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "objects/json.h"
#include "scheduling/problem.h"
#include "tools/talk.h"

namespace karst::tools {

inline constexpr std::size_t kCaseBytesMax = 512u << 20;  // of one document

// A problem whose things have names.
struct NamedProblem {
  std::string name;
  scheduling::Problem problem;
  std::vector<std::vector<std::string>> pods;  // by group: "namespace/name", as many as its count
};

// Errors: kInvalid with the path of the first wrong field.
base::Result<NamedProblem> read_case(simdjson::dom::element document);

// newNodeClaims, existingNodes, unschedulable, order, and what the format does not know: why pods
// are left over, and what would help.
Json answer_json(const NamedProblem& named, const scheduling::Answer& answer);

// The same as tables for people on stdout: which pod goes where, on which type, at what price; what
// is left over, why, and what would help.
void print_answer(const NamedProblem& named, const scheduling::Answer& answer);

}  // namespace karst::tools
