#include "scheduling/type_list.h"

#include <algorithm>
#include <charconv>
#include <deque>
#include <tuple>

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
    for (const auto& [key, value] : source.labels) {
      demand(offering, key, value);
      if (value.empty())
        offering.requirements.push_back({key, model::Operator::kDoesNotExist, {}, 0});
    }
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
  struct Sold {
    std::size_t demand = 0;  // into read
    std::size_t place = 0;   // into offers
  };
  std::vector<InstanceType> types;
  std::deque<model::Requirements> read;
  std::vector<std::size_t> of_types;            // into read, by type
  std::vector<std::vector<Sold>> of_offerings;  // by type, then offering
  std::vector<model::Offer> offers;             // in order

  void put_in_order();
};

void TypeList::Body::put_in_order() {
  struct Entry {
    std::int64_t price = 0;
    std::string_view type, zone, capacity_type;
    Sold* sold = nullptr;
  };
  std::vector<Entry> entries;
  for (std::size_t type = 0; type < types.size(); ++type)
    for (std::size_t i = 0; i < types[type].offerings.size(); ++i) {
      const Offering& offering = types[type].offerings[i];
      entries.push_back({offering.price_nanos_per_hour, types[type].name,
                         value_of(offering, model::kZoneLabel),
                         value_of(offering, model::kCapacityTypeLabel), &of_offerings[type][i]});
    }
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.price, a.type, a.zone, a.capacity_type) <
           std::tie(b.price, b.type, b.zone, b.capacity_type);
  });
  offers.reserve(entries.size());
  for (const Entry& entry : entries) {
    entry.sold->place = offers.size();
    offers.push_back({std::string(entry.type), std::string(entry.zone),
                      std::string(entry.capacity_type), entry.price, ""});
  }
}

TypeList::TypeList(std::vector<InstanceType> types) {
  auto body = std::make_shared<Body>();
  body->types = std::move(types);
  std::map<std::vector<model::RequirementSpec>, std::size_t> known;
  const auto read = [&](const std::vector<model::RequirementSpec>& specs) {
    const auto [at, is_new] = known.try_emplace(specs, body->read.size());
    if (is_new) body->read.emplace_back(specs);
    return at->second;
  };
  for (const InstanceType& type : body->types) {
    body->of_types.push_back(read(type.requirements));
    auto& of_type = body->of_offerings.emplace_back();
    for (const Offering& offering : type.offerings)
      of_type.push_back({read(offering.requirements), 0});
  }
  body->put_in_order();
  body_ = std::move(body);
}

const std::vector<InstanceType>& TypeList::items() const {
  static const std::vector<InstanceType> kNoTypes;
  return body_ == nullptr ? kNoTypes : body_->types;
}

const model::Requirements& TypeList::requirements(std::size_t type) const {
  return body_->read[body_->of_types[type]];
}

const model::Requirements& TypeList::requirements(std::size_t type, std::size_t offering) const {
  return body_->read[demand(type, offering)];
}

std::size_t TypeList::demand(std::size_t type, std::size_t offering) const {
  return body_->of_offerings[type][offering].demand;
}

std::size_t TypeList::demands() const {
  return body_ == nullptr ? 0 : body_->read.size();
}

const model::Requirements& TypeList::demanded(std::size_t demand) const {
  return body_->read[demand];
}

OfferList::Catalogue TypeList::offers() const {
  return {body_, &body_->offers};
}

std::size_t TypeList::place(std::size_t type, std::size_t offering) const {
  return body_->of_offerings[type][offering].place;
}

}  // namespace karst::scheduling
