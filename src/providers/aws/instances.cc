// Instances as DescribeInstances shows them, and the calls about them.
#include <algorithm>
#include <charconv>
#include <map>

#include "base/time.h"
#include "providers/aws/fleet.h"
#include "providers/aws/launch.h"
#include "providers/aws/messages.h"
#include "providers/aws/xml.h"

namespace karst::providers::aws {
namespace {

model::InstanceState state_of(const std::string& name) {
  if (name == "pending") return model::InstanceState::kPending;
  if (name == "terminated") return model::InstanceState::kTerminated;
  if (name == "shutting-down") return model::InstanceState::kShuttingDown;
  return model::InstanceState::kRunning;  // a stopped one is there, and costs
}

std::string capacity_type_of(const pugi::xml_node& item) {
  if (!text_at(item, "spotInstanceRequestId").empty() ||
      text_at(item, "instanceLifecycle") == "spot")
    return "spot";
  const bool reserved = !text_at(item, "capacityReservationId").empty() &&
                        text_at(item,
                                "capacityReservationSpecification/"
                                "capacityReservationPreference") == "capacity-reservations-only";
  return reserved ? "reserved" : "on-demand";
}

// "uid:1 uid:2", over as many tags as it needs.
std::vector<model::LaunchItem> items_of(const model::Labels& tags) {
  std::vector<model::LaunchItem> items;
  for (std::size_t i = 0; i * kClaimsPerTag < model::kLaunchItemsMax; ++i) {
    std::string_view rest = model::label_value(tags, std::string(kClaimsTag) + std::to_string(i));
    if (rest.empty()) break;
    while (!rest.empty()) {
      const std::string_view word = rest.substr(0, rest.find(' '));
      rest.remove_prefix(std::min(word.size() + 1, rest.size()));
      const std::size_t colon = word.rfind(':');
      if (colon == std::string_view::npos) continue;
      model::LaunchItem item;
      item.claim = model::ClaimUid(word.substr(0, colon));
      std::from_chars(word.data() + colon + 1, word.data() + word.size(), item.attempt);
      items.push_back(std::move(item));
    }
  }
  return items;
}

std::string cluster_of(const model::Labels& tags) {
  constexpr std::string_view kOwner = "kubernetes.io/cluster/";
  const std::string_view eks = model::label_value(tags, "eks:eks-cluster-name");
  std::string cluster;
  for (const auto& [key, value] : tags) {
    if (!key.starts_with(kOwner) || value != "owned") continue;
    if (!cluster.empty()) return {};
    cluster = key.substr(kOwner.size());
  }
  return eks.empty() || eks == cluster ? cluster : std::string();
}

FoundInstance read_instance(const pugi::xml_node& item) {
  FoundInstance found;
  const model::Labels tags = tags_of(item);
  const std::string zone = text_at(item, "placement/availabilityZone");
  model::Instance& one = found.instance;
  one.provider_id = model::ProviderId("aws:///" + zone + "/" + text_at(item, "instanceId"));
  one.offer = {text_at(item, "instanceType"), zone, capacity_type_of(item), 0, ""};
  if (one.offer.capacity_type == "reserved")
    one.offer.reservation = text_at(item, "capacityReservationId");
  one.state = state_of(text_at(item, "instanceState/name"));
  one.image = text_at(item, "imageId");
  one.launch_millis = base::parse_rfc3339(text_at(item, "launchTime")).value_or(0);
  one.command_tag = model::label_value(tags, kCommandTag);
  found.token = model::label_value(tags, kTokenTag);
  found.node_claim = model::label_value(tags, kNodeClaimTag);
  found.pool = model::label_value(tags, model::kNodePoolLabel);
  found.cluster = cluster_of(tags);
  found.items = items_of(tags);
  one.subnet = text_at(item, "subnetId");
  each_item(item, "groupSet", [&](const pugi::xml_node& group) {
    one.security_groups.push_back(text_at(group, "groupId"));
  });
  std::sort(one.security_groups.begin(), one.security_groups.end());
  return found;
}

// Instances of one order, sorted by id, belong to its claims in their order; any beyond them to the
// last one, which has its machine already: so it is an orphan of a known claim, and is removed.
void give_to_claims(std::vector<FoundInstance>& all) {
  std::map<std::string, std::size_t> given;  // of each order
  for (FoundInstance& one : all) {
    if (one.token.empty() || one.items.empty()) continue;
    const std::size_t place = std::min(given[one.token]++, one.items.size() - 1);
    one.instance.claim = one.items[place].claim;
    one.instance.attempt = one.items[place].attempt;
  }
}

Request by_ids(const char* action, const std::vector<std::string>& ids) {
  Request request{"ec2", action, Tree::object()};
  request.parameters["InstanceId"] = ids;
  return request;
}

}  // namespace

base::Result<std::vector<FoundInstance>> decode_instances(std::span<const std::string> pages) {
  std::vector<FoundInstance> all;
  for (const std::string& page : pages) {
    const auto document = read_xml(page);
    if (!document) return base::fail(document.error());
    const pugi::xml_node root = document->child("DescribeInstancesResponse");
    if (!root.child("reservationSet"))
      return base::fail(base::Kind::kInvalid, "DescribeInstances: an answer that is none of its");
    each_item(root, "reservationSet", [&](const pugi::xml_node& reservation) {
      each_item(reservation, "instancesSet",
                [&](const pugi::xml_node& item) { all.push_back(read_instance(item)); });
    });
  }
  const auto id_of = [](const FoundInstance& one) { return instance_id(one.instance.provider_id); };
  std::stable_sort(all.begin(), all.end(), [&](const FoundInstance& a, const FoundInstance& b) {
    return id_of(a) < id_of(b);
  });
  if (!all.empty() && id_of(all.front()).empty())
    return base::fail(base::Kind::kInvalid, "DescribeInstances: an instance without an id");
  // One that comes twice is as it was shown last.
  const auto kept = std::unique(
      all.rbegin(), all.rend(),
      [&](const FoundInstance& a, const FoundInstance& b) { return id_of(a) == id_of(b); });
  all.erase(all.begin(), kept.base());
  give_to_claims(all);
  return all;
}

Request list_instances(std::string_view cluster) {
  Request request{"ec2", "DescribeInstances", Tree::object()};
  request.parameters["MaxResults"] = "1000";
  add_filter(request, "tag-key", {"karpenter.sh/nodepool"});
  add_filter(request, "tag-key", {"karpenter.k8s.aws/ec2nodeclass"});
  add_filter(request, "tag:eks:eks-cluster-name", {std::string(cluster)});
  return request;
}

Request describe_instances(const std::vector<std::string>& ids) {
  return by_ids("DescribeInstances", ids);
}

Request filter_instances(const std::vector<std::string>& ids) {
  Request request{"ec2", "DescribeInstances", Tree::object()};
  add_filter(request, "instance-id", ids);
  return request;
}

Request terminate_instances(const std::vector<std::string>& ids) {
  return by_ids("TerminateInstances", ids);
}

std::string instance_id(const model::ProviderId& id) {
  const std::string& text = id.str();
  if (!text.starts_with("aws:///")) return {};
  return text.substr(text.rfind('/') + 1);
}

}  // namespace karst::providers::aws
