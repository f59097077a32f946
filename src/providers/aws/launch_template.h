// The launch template of an order as a CreateLaunchTemplate call. Its name is a hash of all that is
// in it, so that an equal one is there already ("AlreadyExists" means done), and nothing in it is
// of one claim. Pure.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateLaunchTemplate.html
#pragma once

#include <string>

#include "base/result.h"
#include "model/cluster.h"
#include "providers/aws/node_class_spec.h"
#include "providers/aws/request.h"
#include "providers/aws/resolved.h"

namespace karst::providers::aws {

inline constexpr std::string_view kTemplatePrefix = "karst.sh/";

// What types must share to be launched from one template.
struct TemplateKey {
  std::string image;
  std::int64_t max_pods = 0;
  std::int64_t efa = 0;     // interfaces of that kind; 0: none was asked for
  bool enclaves = false;    // asked for
  std::string reservation;  // its id, for a reserved launch
  friend auto operator<=>(const TemplateKey&, const TemplateKey&) = default;
};

struct TemplateInput {
  const NodeClassSpec* spec = nullptr;
  const Resolved* resolved = nullptr;
  const model::NodeClaim* claim = nullptr;  // one of the order's equal ones
  std::string capacity_type;
  std::string tenancy = "default";
};

// Errors: kInvalid: the user data cannot be made.
base::Result<Request> launch_template(const TemplateKey& key, const TemplateInput& input);

// Of whatever a launch of this claim makes: the class's own, and those that our rights rest on.
model::Labels launch_tags(const TemplateInput& input);

// [{"Key": …, "Value": …}]
Tree tag_list(const model::Labels& tags);

}  // namespace karst::providers::aws
