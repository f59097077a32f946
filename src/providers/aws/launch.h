// A launch order of EC2 as bytes: the launch templates that must be there, and one instant
// CreateFleet for up to model::kLaunchItemsMax equal claims. The bytes are JSON, and they are what
// is logged and sent: the same arguments give the same bytes, and a second sending finds the
// first's instances by its ClientToken. What can be known before sending to be in vain (no image,
// broken user data) is in them as a refusal. Rules of choice are Karpenter's (v1.14). Pure.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateFleet.html
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/cloud.h"
#include "providers/aws/node_class_spec.h"
#include "providers/aws/request.h"
#include "providers/aws/resolved.h"
#include "providers/provider.h"

namespace karst::providers::aws {

inline constexpr std::size_t kLaunchTypesMax = 60;        // of one order, as Karpenter's
inline constexpr std::size_t kClaimsPerTag = 6;           // "uid:attempt", 256 characters in all
inline constexpr std::size_t kTemplatesPerFleetMax = 50;  // EC2's limit

// LaunchOrder::refusal.
inline constexpr std::string_view kNoCapacity = "InsufficientCapacity";
inline constexpr std::string_view kNodeClassNotReady = "NodeClassNotReady";

inline constexpr std::string_view kCommandTag = "karst.sh/command-id";
inline constexpr std::string_view kTokenTag = "karst.sh/launch-token";
inline constexpr std::string_view kClaimsTag = "karst.sh/claims.";  // and a number from 0
inline constexpr std::string_view kNodeClaimTag = "karpenter.sh/nodeclaim";

struct LaunchInput {
  const model::Catalogue* catalogue = nullptr;  // as it is logged (class_types.h)
  // Not empty, equal but for their names; their `resolved` is resolved.h's JSON.
  std::span<const LaunchSubject> subjects;
  std::span<const model::Offer> offers;  // what the claims allow, cheapest first
  std::string token;
  std::string command_tag;
};

std::string encode_launch(const LaunchInput& input);

// Claims are named in tags, for which a class with many tags of its own leaves less room.
std::size_t claims_per_order(const NodeClassSpec& spec);

// What a machine of the order takes of its subnets: as Karpenter, as many addresses as the least
// pods of the types that it may be there. Empty: the bytes name no subnet.
std::vector<model::AddressUse> addresses_of(std::string_view bytes);

// What the bytes say.
struct LaunchOrder {
  std::vector<Request> templates;  // CreateLaunchTemplate; each must be there before the fleet
  Request fleet;
  std::string capacity_type;
  std::string command_tag;
  std::map<std::string, std::string> zones;  // by subnet
  std::set<std::string> zones_with_more;     // where another subnet has addresses left, too
  struct Size {
    model::Resources capacity;
    model::Resources allocatable;
  };
  std::map<std::string, Size> sizes;  // by instance type
  // The reservation that is used, by instance type and zone; empty unless it is a reserved order.
  std::map<std::pair<std::string, std::string>, std::string> reservations;
  // When there is nothing to send.
  std::string refusal;  // Karpenter's reason, e.g. AMINotFound; empty: send
  std::string message;
};

// Errors: kInvalid when they are not what encode_launch writes.
base::Result<LaunchOrder> read_launch(std::string_view bytes);

}  // namespace karst::providers::aws
