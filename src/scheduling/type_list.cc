#include "scheduling/type_list.h"

#include <charconv>
#include <deque>

#include "model/labels.h"

namespace karst::scheduling {
namespace {

void demand(Offering& offering, std::string_view key, const std::string& value) {
  if (!value.empty())
    offering.requirements.push_back({std::string(key), model::Operator::kIn, {value}, 0});
}

}  // namespace

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

// Offerings of one catalogue have few different demands: each is read once.
struct TypeList::Body {
  std::vector<InstanceType> types;
  std::deque<model::Requirements> read;
  std::vector<const model::Requirements*> of_types;                   // by type
  std::vector<std::vector<const model::Requirements*>> of_offerings;  // by type, then offering
};

TypeList::TypeList(std::vector<InstanceType> types) {
  auto body = std::make_shared<Body>();
  body->types = std::move(types);
  std::map<std::vector<model::RequirementSpec>, const model::Requirements*> known;
  const auto read = [&](const std::vector<model::RequirementSpec>& specs) {
    const auto [at, is_new] = known.try_emplace(specs, nullptr);
    if (is_new) at->second = &body->read.emplace_back(specs);
    return at->second;
  };
  for (const InstanceType& type : body->types) {
    body->of_types.push_back(read(type.requirements));
    auto& of_type = body->of_offerings.emplace_back();
    for (const Offering& offering : type.offerings) of_type.push_back(read(offering.requirements));
  }
  body_ = std::move(body);
}

const std::vector<InstanceType>& TypeList::items() const {
  static const std::vector<InstanceType> kNoTypes;
  return body_ == nullptr ? kNoTypes : body_->types;
}

const model::Requirements& TypeList::requirements(std::size_t type) const {
  return *body_->of_types[type];
}

const model::Requirements& TypeList::requirements(std::size_t type, std::size_t offering) const {
  return *body_->of_offerings[type][offering];
}

}  // namespace karst::scheduling
