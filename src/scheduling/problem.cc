#include "scheduling/problem.h"

#include <charconv>

#include "model/labels.h"

namespace karst::scheduling {
namespace {

void demand(Offering& offering, std::string_view key, const std::string& value) {
  if (!value.empty())
    offering.requirements.push_back({std::string(key), model::Operator::kIn, {value}, 0});
}

}  // namespace

const std::map<std::string, std::string, std::less<>>& known_label_aliases() {
  static const std::map<std::string, std::string, std::less<>> kAliases = {
      {"beta.kubernetes.io/arch", "kubernetes.io/arch"},
      {"beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"},
      {"beta.kubernetes.io/os", "kubernetes.io/os"},
      {"failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"},
      {"failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"},
      {"topology.ebs.csi.aws.com/zone", "topology.kubernetes.io/zone"},
  };
  return kAliases;
}

InstanceType instance_type_of(const model::InstanceType& type) {
  InstanceType result{type.name, type.requirements, type.capacity, type.allocatable, {}, {}};
  for (const model::Offering& source : type.offerings) {
    Offering offering;
    demand(offering, model::kZoneLabel, source.zone);
    demand(offering, model::kCapacityTypeLabel, source.capacity_type);
    offering.price_nanos_per_hour = source.price_nanos_per_hour;
    offering.available = source.available;
    offering.reservation_capacity = source.reservation_count;
    for (const auto& [key, value] : source.labels) demand(offering, key, value);
    result.offerings.push_back(std::move(offering));
  }
  for (const auto& [driver, limit] : type.attach_limits)
    if (std::int64_t count = 0;
        std::from_chars(limit.data(), limit.data() + limit.size(), count).ec == std::errc())
      result.attach_limits[driver] = count;
  return result;
}

std::vector<InstanceType> instance_types_of(const std::vector<model::InstanceType>& types) {
  std::vector<InstanceType> result;
  for (const model::InstanceType& type : types) result.push_back(instance_type_of(type));
  return result;
}

std::string_view value_of(const Offering& offering, std::string_view key) {
  for (const model::RequirementSpec& spec : offering.requirements)
    if (spec.key == key && spec.op == model::Operator::kIn && spec.values.size() == 1)
      return spec.values.front();
  return {};
}

}  // namespace karst::scheduling
