// Node objects of the kwok cloud as instances. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/cloud.h"
#include "model/command.h"

namespace karst::cloud {

inline constexpr std::string_view kClaimUidAnnotation = "karst.sh/claim-uid";
inline constexpr std::string_view kLaunchTokenAnnotation = "karst.sh/launch-token";
inline constexpr std::string_view kAttemptAnnotation = "karst.sh/attempt";
inline constexpr std::string_view kKwokProviderPrefix = "kwok://";
inline constexpr std::string_view kKwokNodeSelector = "kwok.x-k8s.io/node=fake";

struct KwokInstance {
  model::Instance instance;
  std::string node_name;
  std::string node_uid;
  std::string launch_token;
  bool has_finalizer = false;
};

// One Node. Errors: kInvalid with the field.
base::Result<KwokInstance> read_instance(std::string_view node_json);

struct InstancePage {
  std::vector<KwokInstance> instances;  // those with a claim tag
  std::string more;                     // the token of the next page; empty: this was the last
  std::string version;
};
// A NodeList. A node that cannot be read makes the whole page an error: a list with a hole proves
// nothing absent.
base::Result<InstancePage> read_instance_page(std::string_view list_json);

inline constexpr std::int64_t kRegistrationDelayMax = 10 * 60 * 1000;  // ms; longer ones are cut

// The elements of a launch request, one Node object each. Errors: kInvalid.
struct NodeToCreate {
  std::string name;
  std::string body;               // JSON
  std::int64_t delay_millis = 0;  // until it joins
};
base::Result<std::vector<NodeToCreate>> split_request(std::string_view request);

// The node's name in a kwok provider id; nullopt if it is none.
std::optional<std::string> node_name_of(const model::ProviderId& id);

}  // namespace karst::cloud
