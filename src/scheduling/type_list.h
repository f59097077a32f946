// What a pool can buy: instance types with their offerings, and what these demand, read once. Plain
// data first; a TypeList never changes and its copies share one body, so that whoever solves again
// and again pays once for a catalogue. Any thread may read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/cloud.h"
#include "model/requirements.h"
#include "model/resources.h"
#include "scheduling/offer_list.h"

namespace karst::scheduling {

// One way to buy an instance type.
struct Offering {
  std::vector<model::RequirementSpec> requirements;  // zone, capacity type, reservation id, …
  std::int64_t price_nanos_per_hour = 0;
  bool available = true;
  std::int64_t reservation_capacity = 0;        // of reserved offerings: machines still unused
  std::optional<model::Resources> allocatable;  // where it differs from the type's
  friend bool operator==(const Offering&, const Offering&) = default;
};

struct InstanceType {
  std::string name;
  // Labels that every such machine has. A key may occur more than once; all must hold.
  // DoesNotExist: its nodes do not carry the label.
  std::vector<model::RequirementSpec> requirements;
  model::Resources capacity;
  model::Resources allocatable;
  std::vector<Offering> offerings;
  // Volumes that a machine can attach, by CSI driver; absent: not limited.
  std::map<std::string, std::int64_t> attach_limits;
  friend bool operator==(const InstanceType&, const InstanceType&) = default;
};

InstanceType instance_type_of(const model::InstanceType& type);
std::vector<InstanceType> instance_types_of(const std::vector<model::InstanceType>& types);
// The single value that the offering demands of a label; empty when there is none.
std::string_view value_of(const Offering& offering, std::string_view key);

class TypeList {
 public:
  TypeList() = default;
  TypeList(std::vector<InstanceType> types);

  const std::vector<InstanceType>& items() const;
  auto begin() const { return items().begin(); }
  auto end() const { return items().end(); }
  std::size_t size() const { return items().size(); }
  bool empty() const { return items().empty(); }
  const InstanceType& operator[](std::size_t at) const { return items()[at]; }
  const InstanceType& at(std::size_t at) const { return items().at(at); }

  // What the type at that index demands, and one of its offerings: as long as a copy lives.
  const model::Requirements& requirements(std::size_t type) const;
  const model::Requirements& requirements(std::size_t type, std::size_t offering) const;
  // What an offering demands as a number below demands(): the same where the demands are.
  std::size_t demand(std::size_t type, std::size_t offering) const;
  std::size_t demands() const;
  // What that number stands for: a type's demands, or an offering's.
  const model::Requirements& demanded(std::size_t demand) const;
  // All offerings, those not available too, as offers: by price, then type, zone, capacity type.
  OfferList::Catalogue offers() const;
  // The place of an offering among them.
  std::size_t place(std::size_t type, std::size_t offering) const;

 private:
  struct Body;
  std::shared_ptr<const Body> body_;
};

}  // namespace karst::scheduling
