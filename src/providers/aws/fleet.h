// What CreateFleet answered to a launch order: instances for its claims, offers without room, and
// what it means when there are too few. Also the other calls about instances, and what
// DescribeInstances says. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/cloud.h"
#include "model/command.h"
#include "providers/aws/request.h"

namespace karst::providers::aws {

inline constexpr std::size_t kInstancesPerCallMax = 500;  // ids in one call
inline constexpr std::size_t kIdsPerFilterMax = 200;      // EC2's limit

struct FleetAnswer {
  // Sorted by id; the first belongs to the order's first claim, and so on. Fewer than the order
  // has claims: the last claims got none. More: the rest is the last claim's, beside its own.
  std::vector<model::Instance> instances;
  std::vector<model::Offer> exhausted;    // sorted, each once; also beside instances
  std::vector<std::string> full_subnets;  // ids without an address left; the same
  // What the claims without an instance are told; kNone: all have one.
  model::RefusalCode code = model::RefusalCode::kNone;
  std::string reason;   // of condition Launched
  std::string message;  // for people, at most model::kOutcomeMessageMax
};

// Errors: kUnclear: it is no answer of CreateFleet; it may have launched.
base::Result<FleetAnswer> decode_fleet(std::string_view xml, const model::Launch& launch);

// The same for an error of the call itself.
FleetAnswer decode_fleet_error(std::string_view code, std::string_view message);

// One instance of DescribeInstances, with what ownership is judged by.
struct FoundInstance {
  model::Instance instance;
  std::string token;                     // of the launch order; empty: not ours
  std::vector<model::LaunchItem> items;  // of the order, names empty
  std::string node_claim;                // tag karpenter.sh/nodeclaim
  std::string pool;                      // tag karpenter.sh/nodepool
  // The one that the tags kubernetes.io/cluster/NAME=owned and, if it is there,
  // eks:eks-cluster-name agree on; empty: none does, or several.
  std::string cluster;
};

// Of all pages, sorted by id, each once: as it was shown last. Errors: kInvalid: a page is none, or
// an instance of it has no id, so that nothing is proven absent. Instances of one order are given
// to its claims as decode_fleet gives them, so the answer must hold all of the order.
base::Result<std::vector<FoundInstance>> decode_instances(std::span<const std::string> pages);

// All instances that we, or a Karpenter of this cluster, launched; terminated ones too while EC2
// shows them, since the order of an order's instances counts.
Request list_instances(std::string_view cluster);
Request describe_instances(const std::vector<std::string>& ids);
// The same, but one that is not known does not fail the call. At most kIdsPerFilterMax.
Request filter_instances(const std::vector<std::string>& ids);
Request terminate_instances(const std::vector<std::string>& ids);
// "aws:///us-east-1a/i-1" → "i-1"; empty for another cloud's.
std::string instance_id(const model::ProviderId& id);

}  // namespace karst::providers::aws
