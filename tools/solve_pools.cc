#include "tools/solve_pools.h"

#include <algorithm>
#include <set>

#include "base/nearest.h"
#include "model/labels.h"
#include "objects/schema.h"
#include "providers/aws/catalogue.h"
#include "providers/aws/class_types.h"
#include "providers/aws/node_class_spec.h"
#include "providers/kwok/catalogue.h"
#include "providers/provider.h"
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

// Several pools may have the same to say.
void note(std::string text, std::vector<std::string>& notes) {
  if (std::find(notes.begin(), notes.end(), text) == notes.end()) notes.push_back(std::move(text));
}

// What the class's status says of capacity reservations.
std::vector<providers::aws::Reservation> reservations_of(const model::NodeClassRef& ref,
                                                         const objects::Manifests& manifests,
                                                         std::vector<std::string>& notes) {
  std::vector<providers::aws::Reservation> reservations;
  for (const objects::ManifestReservation& given : manifests.reservations) {
    if (given.node_class != ref.name) continue;
    if (given.expiring) {
      note("reservation " + given.id + " is about to end: left out", notes);
      continue;
    }
    providers::aws::Reservation one;
    one.id = given.id;
    one.zone = given.zone;
    one.instance_type = given.instance_type;
    one.type = given.type;
    one.interruptible = given.interruptible;
    one.available = given.available.value_or(1);
    if (!given.available)
      note("reservation " + given.id +
               ": the files do not say how many machines are left (availableInstanceCount); "
               "reckoned with 1",
           notes);
    reservations.push_back(std::move(one));
  }
  return reservations;
}

base::Result<std::vector<model::InstanceType>> aws_types(const model::NodeClassRef& ref,
                                                         const providers::aws::Place& place,
                                                         const objects::Manifests& manifests,
                                                         std::vector<std::string>& notes) {
  const auto at = std::find_if(manifests.node_classes.begin(), manifests.node_classes.end(),
                               [&](const auto& one) { return one.ref == ref; });
  if (at == manifests.node_classes.end()) {
    note(shown(ref) + " is not in the files: reckoned with AL2023, its default disk and kubelet",
         notes);
    return providers::aws::make_catalogue({}, place).types;
  }
  const auto refused = [&](const std::string& message) {  // "kubelet.maxPods: expected …"
    const std::size_t colon = message.find(": ");
    const bool has_field = colon != std::string::npos;
    return base::fail(base::Kind::kInvalid,
                      objects::located(manifests, shown(ref),
                                       has_field ? "spec." + message.substr(0, colon) : "spec",
                                       has_field ? message.substr(colon + 2) : message));
  };
  const auto settings = providers::aws::read_node_class(at->spec_json);
  if (!settings) return refused(settings.error().message);
  // Nothing is launched from a class that is not valid.
  if (const auto spec = providers::aws::read_node_class_spec(at->spec_json))
    if (const auto found = providers::aws::check_node_class(*spec)) return refused(found->message);
  std::vector<model::InstanceType> types = providers::aws::make_catalogue(*settings, place).types;
  const auto reservations = reservations_of(ref, manifests, notes);
  for (model::InstanceType& type : types) providers::aws::add_reserved(reservations, type);
  return types;
}

// Keys of the cloud's own domain must be ones that its machines have: others, which are mostly
// misspelt, make the pool invalid.
base::Status check_own_keys(const providers::Provider& provider, const NodePool& pool,
                            const objects::Manifests& manifests) {
  const auto keys = provider.own_labels();
  const std::vector<std::string_view> known(keys.begin(), keys.end());
  const std::string of(provider.label_domain());
  const auto check = [&](const std::string& key, const std::string& field) -> base::Status {
    const std::string_view domain = std::string_view(key).substr(0, key.find('/'));
    if (key.find('/') == key.npos || !domain.ends_with(of) ||
        std::find(known.begin(), known.end(), key) != known.end())
      return {};
    const std::string_view near = base::nearest(key, known);
    return base::fail(
        base::Kind::kInvalid,
        objects::located(manifests, "NodePool " + pool.name.str(), "spec.template." + field,
                         "label domain \"" + of + "\" is restricted, and \"" + key +
                             "\" is not one of its labels" +
                             (near.empty() ? "" : "; did you mean " + std::string(near) + "?")));
  };
  for (std::size_t i = 0; i < pool.requirements.size(); ++i)
    KARST_TRY(check(pool.requirements[i].key, "spec.requirements[" + std::to_string(i) + "].key"));
  for (const auto& [key, value] : pool.template_labels)
    KARST_TRY(check(key, "metadata.labels[" + key + "]"));
  return {};
}

base::Result<std::vector<model::InstanceType>> types_of(const NodePool& pool,
                                                        const providers::aws::Place& place,
                                                        const objects::Manifests& manifests,
                                                        std::vector<std::string>& notes) {
  for (const char* name : {"aws", "kwok"})
    if (const auto* provider = providers::find_provider(name);
        provider->understands(pool.node_class))
      KARST_TRY(check_own_keys(*provider, pool, manifests));
  if (is_aws(pool.node_class)) return aws_types(pool.node_class, place, manifests, notes);
  if (is_kwok(pool.node_class)) return providers::kwok::make_catalogue().types;
  return base::fail(
      base::Kind::kInvalid,
      objects::located(
          manifests, "NodePool " + pool.name.str(), "spec.template.spec.nodeClassRef",
          "there is no catalogue of instance types for " + pool.node_class.kind + " (" +
              pool.node_class.group +
              "); there are those of EC2NodeClass (karpenter.k8s.aws) and KWOKNodeClass "
              "(karpenter.kwok.sh)"));
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

// What a claim without a machine yet must be counted with: of each resource the most that any type
// which it may come up as has, or at least what it asks for.
model::Resources most_of(const model::NodeClaim& claim, const scheduling::TypeList& types) {
  const model::Requirements wanted(claim.requirements);
  model::Resources most = claim.requests;
  for (std::size_t type = 0; type < types.size(); ++type) {
    const std::vector<scheduling::Offering>& offerings = types[type].offerings;
    bool is_sold = false;
    for (std::size_t i = 0; i < offerings.size() && !is_sold; ++i)
      is_sold = offerings[i].available && wanted.intersects(types.requirements(type, i));
    if (is_sold && wanted.intersects(types.requirements(type)) &&
        model::fits(claim.requests, types[type].allocatable))
      most = model::max_of(most, types[type].capacity);
  }
  return most;
}

// Capacity of the pool's claims, and of its nodes that no claim stands for.
void add_used(const objects::Manifests& manifests, scheduling::Pool& out) {
  const std::string& name = out.pool.name.str();
  const model::Resources none;
  std::int64_t nodes = 0;
  model::Resources used;
  std::set<const model::Node*> counted;  // looked up only
  for (const model::NodeClaim& claim : manifests.claims) {
    if (claim.pool.str() != name) continue;
    const auto node =
        std::find_if(manifests.nodes.begin(), manifests.nodes.end(), [&](const model::Node& one) {
          return (!claim.provider_id.empty() && one.provider_id == claim.provider_id) ||
                 (!claim.node_name.empty() && one.name == claim.node_name);
        });
    ++nodes;
    const bool has_node = node != manifests.nodes.end();
    if (has_node) counted.insert(&*node);
    if (claim.capacity != none)
      used += claim.capacity;
    else
      used += has_node && node->capacity != none ? node->capacity : most_of(claim, out.types);
  }
  for (const model::Node& node : manifests.nodes) {
    if (model::label_value(node.labels, model::kNodePoolLabel) != name || counted.contains(&node))
      continue;
    ++nodes;
    used += node.capacity;
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
  if (!manifests.reservations.empty())
    notes.push_back("reserved machines count as paid for: next to nothing an hour");
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
    add_used(manifests, pools[i]);
  }
  return pools;
}

}  // namespace karst::tools
