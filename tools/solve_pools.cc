#include "tools/solve_pools.h"

#include <algorithm>

#include "model/labels.h"
#include "providers/aws/catalogue.h"
#include "providers/kwok/catalogue.h"
#include "scheduling/overlay.h"
#include "scheduling/pool_offers.h"
#include "tools/solve_place.h"

namespace karst::tools {
namespace {

using model::NodePool;
using scheduling::PoolTypes;

constexpr std::string_view kKwokGroup = "karpenter.kwok.sh";
constexpr std::string_view kKwokKind = "KWOKNodeClass";

bool is_aws(const model::NodeClassRef& ref) {
  return ref.group == providers::aws::kNodeClassGroup && ref.kind == providers::aws::kNodeClassKind;
}

bool is_kwok(const model::NodeClassRef& ref) {
  return ref.group == kKwokGroup && ref.kind == kKwokKind;
}

std::string shown(const model::NodeClassRef& ref) {
  return ref.kind + " " + ref.name;
}

base::Result<std::vector<model::InstanceType>> aws_types(const model::NodeClassRef& ref,
                                                         const providers::aws::Place& place,
                                                         const objects::Manifests& manifests,
                                                         std::vector<std::string>& notes) {
  const auto at = std::find_if(manifests.node_classes.begin(), manifests.node_classes.end(),
                               [&](const auto& one) { return one.ref == ref; });
  if (at == manifests.node_classes.end()) {
    notes.push_back(shown(ref) +
                    " is not in the files: reckoned with AL2023, its default disk and kubelet");
    return providers::aws::make_catalogue({}, place).types;
  }
  const auto settings = providers::aws::read_node_class(at->spec_json);
  if (!settings)
    return base::fail(base::Kind::kInvalid, shown(ref) + ": spec." + settings.error().message);
  return providers::aws::make_catalogue(*settings, place).types;
}

base::Result<std::vector<model::InstanceType>> types_of(const NodePool& pool,
                                                        const providers::aws::Place& place,
                                                        const objects::Manifests& manifests,
                                                        std::vector<std::string>& notes) {
  if (is_aws(pool.node_class)) return aws_types(pool.node_class, place, manifests, notes);
  if (is_kwok(pool.node_class)) return providers::kwok::make_catalogue().types;
  return base::fail(base::Kind::kInvalid,
                    "NodePool " + pool.name.str() +
                        ": there is no catalogue of instance types for " + pool.node_class.kind +
                        " (" + pool.node_class.group +
                        "); there are those of EC2NodeClass (karpenter.k8s.aws) and KWOKNodeClass "
                        "(karpenter.kwok.sh)");
}

// What the type table cannot say: ids of zones, and how many volumes a machine attaches.
void complete_aws(bool with_volumes, scheduling::InstanceType& type) {
  for (scheduling::Offering& offering : type.offerings) {
    const std::string id(
        providers::aws::zone_id_of(scheduling::value_of(offering, model::kZoneLabel)));
    if (!id.empty())
      offering.requirements.push_back(
          {std::string(providers::aws::kZoneIdLabel), model::Operator::kIn, {id}, 0});
  }
  if (!with_volumes) return;
  if (const std::int64_t most = providers::aws::attachable_volumes(type.name); most > 0)
    type.attach_limits[std::string(providers::aws::kVolumeDriver)] = most;
}

// Capacity of the pool's claims, and of its nodes that no claim stands for.
void add_used(const objects::Manifests& manifests, scheduling::Pool& out) {
  const std::string& name = out.pool.name.str();
  std::int64_t nodes = 0;
  model::Resources used;
  const auto count = [&](const model::Resources& capacity) {
    ++nodes;
    used += capacity;
  };
  std::vector<std::string> counted;  // provider ids
  for (const model::NodeClaim& claim : manifests.claims) {
    if (claim.pool.str() != name) continue;
    count(claim.capacity);
    if (!claim.provider_id.empty()) counted.push_back(claim.provider_id.str());
  }
  for (const model::Node& node : manifests.nodes) {
    if (model::label_value(node.labels, model::kNodePoolLabel) != name) continue;
    if (std::find(counted.begin(), counted.end(), node.provider_id.str()) == counted.end())
      count(node.capacity);
  }
  for (const auto& [resource, limit] : out.pool.limits)
    out.used.emplace_back(resource, resource == "nodes" ? nodes : used.amount(resource));
}

}  // namespace

base::Result<std::vector<scheduling::Pool>> read_pools(const objects::Manifests& manifests,
                                                       const std::vector<std::string>& zones,
                                                       bool with_volumes,
                                                       std::vector<std::string>& notes) {
  const bool any_aws = std::any_of(manifests.pools.begin(), manifests.pools.end(),
                                   [](const NodePool& pool) { return is_aws(pool.node_class); });
  base::Result<providers::aws::Place> place = providers::aws::Place{};
  if (any_aws) place = place_of(manifests, zones, notes);
  if (!place) return base::fail(std::move(place.error()));
  std::vector<scheduling::Pool> pools;
  std::vector<PoolTypes> types;
  for (const NodePool& given : manifests.pools) {
    scheduling::Pool pool;
    pool.pool = given;
    add_used(manifests, pool);
    pools.push_back(std::move(pool));
    types.push_back({&given, {}});
    if (given.replicas || given.deletion_millis != 0) {
      notes.push_back("NodePool " + given.name.str() +
                      (given.replicas ? " is static (replicas)" : " is being deleted") +
                      ": it gets no new nodes for pods");
      continue;
    }
    auto found = types_of(given, *place, manifests, notes);
    if (!found) return base::fail(std::move(found.error()));
    types.back().types = std::move(*found);
  }
  if (any_aws)
    notes.push_back(
        "prices are those of us-east-1 in July 2026, from the embedded catalogue; it has none for "
        "spot, which counts at the on-demand price");
  for (const std::string& name : scheduling::apply_overlays(manifests.overlays, types))
    notes.push_back("NodeOverlay " + name +
                    " conflicts with another of its weight and was left out");
  for (std::size_t i = 0; i < pools.size(); ++i) {
    std::vector<scheduling::InstanceType> given = scheduling::instance_types_of(types[i].types);
    if (is_aws(pools[i].pool.node_class))
      for (scheduling::InstanceType& type : given) complete_aws(with_volumes, type);
    constexpr std::string_view kPlaces[] = {model::kZoneLabel, providers::aws::kZoneIdLabel};
    scheduling::fit_to_pool(pools[i].pool, kPlaces, given);
    pools[i].types = std::move(given);
  }
  return pools;
}

}  // namespace karst::tools
