// Resolving a node class as a command: the bytes that ask for it, the bytes that were found (one
// JSON object: what resolved.h has, with the conditions and the generation that they are of), and
// the class's status made of them. The same values give the same bytes. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/cluster.h"
#include "providers/aws/selectors.h"

namespace karst::providers::aws {

// The question: the class with its spec.
std::string encode_resolve(const model::NodeClass& node_class);
// Errors: kInvalid: not what encode_resolve writes, or the spec is none.
base::Result<NodeClassSubject> read_resolve(std::string_view bytes);

// The answer. read_resolved() reads its first half.
std::string to_json(const Resolution& resolution, std::int64_t generation);

// Conditions of the class's status, sorted by type; without an answer they are Unknown.
std::vector<model::Condition> conditions_of(std::string_view resolution_json);
// The rest of its status as a JSON object, keys sorted; empty without an answer.
std::string status_fields(std::string_view resolution_json);

}  // namespace karst::providers::aws
