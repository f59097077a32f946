// A large scheduling problem, made up: many Deployments on EC2's whole catalogue, beside nodes that
// are half full. Same numbers, same problem. For benchmarks only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/labels.h"
#include "providers/aws/catalogue.h"
#include "scheduling/pool_offers.h"
#include "scheduling/problem.h"

namespace karst::bench {

struct LargeSize {
  std::int64_t pods = 100'000;
  std::int64_t shapes = 1'000;
  std::int64_t nodes = 5'000;
  std::int64_t types = 1'400;
};

// A number that looks like chance and is always the same.
inline std::int64_t mixed(std::int64_t number, std::int64_t below) {
  auto x = static_cast<std::uint64_t>(number) * 0x9E3779B97F4A7C15u;
  x ^= x >> 31;
  x *= 0xBF58476D1CE4E5B9u;
  x ^= x >> 29;
  return static_cast<std::int64_t>(x % static_cast<std::uint64_t>(below));
}

// The embedded table's types, again under other names until there are so many; spot at 60 to 79 %
// of the price, by type and zone.
inline std::vector<scheduling::InstanceType> large_types(std::int64_t count) {
  std::vector<scheduling::InstanceType> types = scheduling::instance_types_of(
      providers::aws::make_catalogue(providers::aws::NodeClassSettings{}).types);
  for (std::size_t from = 0; static_cast<std::int64_t>(types.size()) < count; ++from) {
    scheduling::InstanceType twin = types[from];
    twin.name += ".b";
    for (model::RequirementSpec& spec : twin.requirements)
      if (spec.key == model::kInstanceTypeLabel) spec.values = {twin.name};
    types.push_back(std::move(twin));
  }
  types.resize(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < types.size(); ++i)
    for (std::size_t k = 0; k < types[i].offerings.size(); ++k) {
      scheduling::Offering& offering = types[i].offerings[k];
      if (value_of(offering, model::kCapacityTypeLabel) == "spot")
        offering.price_nanos_per_hour = offering.price_nanos_per_hour / 100 *
                                        (60 + mixed(static_cast<std::int64_t>(i * 100 + k), 20));
    }
  return types;
}

inline scheduling::PodGroup large_group(std::int64_t number, std::int64_t count,
                                        const std::vector<std::string>& zones) {
  const std::int64_t cpus[] = {50, 100, 200, 250, 500, 750, 1000, 1500, 2000, 4000};
  const std::int64_t sizes[] = {64, 128, 256, 512, 1024, 2048, 4096, 8192};
  scheduling::PodGroup group;
  group.namespace_name = "default";
  group.count = count;
  const std::string app = "app-" + std::to_string(number);
  group.labels = {{"app", app}};
  model::PodShape& shape = group.shape;
  shape.requests.cpu_millis = cpus[mixed(number, 10)] + 10 * mixed(number + 7, 9);
  shape.requests.memory_bytes = (sizes[mixed(number + 13, 8)] + mixed(number + 17, 64)) << 20;
  shape.requests.pods = 1;
  shape.owner_kind = model::OwnerKind::kReplicaSet;
  const auto selector = [&] {
    model::LabelSelector own;
    own.expressions = {{"app", model::Operator::kIn, {app}, 0}};
    return own;
  };
  switch (number % 10) {
    case 0:
      model::set_label(shape.node_selector, model::kZoneLabel,
                       zones[static_cast<std::size_t>(number / 10) % zones.size()]);
      break;
    case 1:
    case 2: {
      model::SpreadConstraint spread;
      spread.topology_key = std::string(model::kZoneLabel);
      spread.selector = selector();
      shape.spread.push_back(spread);
      break;
    }
    case 3: {
      model::SpreadConstraint spread;
      spread.topology_key = std::string(model::kHostnameLabel);
      spread.max_skew = 5;
      spread.selector = selector();
      shape.spread.push_back(spread);
      break;
    }
    case 4:
      model::set_label(shape.node_selector, model::kArchLabel, "arm64");
      break;
    default:
      break;
  }
  return group;
}

inline scheduling::Problem large_problem(const LargeSize& size) {
  scheduling::Problem problem;
  scheduling::Pool pool;
  pool.pool.name = model::PoolName("default");
  pool.pool.node_class = {"karpenter.k8s.aws", "EC2NodeClass", "default"};
  pool.types = large_types(size.types);
  std::vector<std::string> zones;
  for (const scheduling::Offering& offering : pool.types[0].offerings)
    if (std::string zone(value_of(offering, model::kZoneLabel));
        std::find(zones.begin(), zones.end(), zone) == zones.end())
      zones.push_back(std::move(zone));
  for (std::int64_t i = 0; i < size.nodes; ++i) {
    scheduling::Node node;
    node.name = "node-" + std::to_string(10'000 + i);
    node.labels = {
        {std::string(model::kZoneLabel), zones[static_cast<std::size_t>(i) % zones.size()]}};
    model::set_label(node.labels, model::kHostnameLabel, node.name);
    model::set_label(node.labels, model::kNodePoolLabel, "default");
    model::set_label(node.labels, model::kArchLabel, i % 4 == 0 ? "arm64" : "amd64");
    model::set_label(node.labels, model::kOsLabel, "linux");
    node.available.cpu_millis = mixed(i, 2000);
    node.available.memory_bytes = mixed(i + 3, 4096) << 20;
    node.available.pods = 20;
    problem.nodes.push_back(std::move(node));
  }
  problem.pools.push_back(std::move(pool));
  for (std::int64_t i = 0; i < size.shapes; ++i)
    problem.pods.push_back(large_group(i, size.pods / size.shapes, zones));
  return problem;
}

}  // namespace karst::bench
