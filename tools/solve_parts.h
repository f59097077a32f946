// Parts that the recorded cases have in common, as JSON (docs/oracle.md): options, instance types,
// what the scheduler sees of a node. What is wrong is told to the context.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "objects/json.h"
#include "scheduling/problem.h"

namespace karst::tools {

// The elements of an array of any length; none where there is no such key. Anything else is told.
template <class F>
void each(const simdjson::dom::element& parent, std::string_view key, objects::Context& context,
          F&& f) {
  simdjson::dom::element value;
  simdjson::dom::array array;
  if (parent.at_key(key).get(value) != simdjson::SUCCESS || value.is_null()) return;
  objects::Context::Scope scope(context, {key, 0});
  if (value.get(array) != simdjson::SUCCESS) return context.fail("expected a list");
  std::size_t index = 0;
  for (const simdjson::dom::element element : array) {
    objects::Context::Scope inner(context, {{}, index++});
    f(element);
  }
}

// An empty object where the parent has none of that key.
simdjson::dom::element child(const simdjson::dom::element& parent, std::string_view key);

std::vector<model::RequirementSpec> read_requirements(const objects::Object& parent);
std::vector<model::Taint> read_taints(const objects::Object& parent);
// What a machine offers; an overcommitted node's is negative.
model::Resources read_room(const objects::Object& parent, std::string_view key);

void read_case_options(const objects::Object& root, scheduling::Options& options);
void read_case_namespaces(const simdjson::dom::element& document, objects::Context& context,
                          std::map<std::string, model::Labels>& namespaces);
// The catalogue of the pool of that name.
std::vector<scheduling::InstanceType> read_case_types(const simdjson::dom::element& catalogues,
                                                      std::string_view pool,
                                                      objects::Context& context);
// `node` of a node: the Node object.
void read_node_object(const objects::Object& object, scheduling::Node& node);
// `state` of a node; `drivers`: those of the case's volumes.
void read_node_state(const objects::Object& state, const std::set<std::string>& drivers,
                     scheduling::Node& node);

}  // namespace karst::tools
