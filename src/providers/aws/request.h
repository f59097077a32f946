// One call of an AWS service without its transport: service, action, and the parameters as one
// ordered tree with the names that go over the wire, singular as EC2 Query writes them:
//   {"InstanceId": ["i-1"], "Filter": [{"Name": "tag-key", "Value": ["a"]}]}
// Values are text. The hands (src/cloud/aws) flatten, sign, send and page. Pure.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace karst::providers::aws {

using Tree = nlohmann::ordered_json;

struct Request {
  std::string service;  // ec2, iam, ssm; of REST: eks, arc-zonal-shift
  std::string action;
  Tree parameters = Tree::object();
  std::vector<std::string> path = {};  // REST alone, a GET: its parts, not encoded
  friend bool operator==(const Request&, const Request&) = default;
};

// Adds one to the list "Filter".
void add_filter(Request& request, std::string_view name, const std::vector<std::string>& values);

}  // namespace karst::providers::aws
