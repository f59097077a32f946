// What clouds offer and what they run: instance types with their offerings and prices, instances,
// interruptions. Prices are nano-dollars per hour: 1 dollar is 1,000,000,000.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/ids.h"
#include "model/labels.h"
#include "model/requirements.h"
#include "model/resources.h"

namespace karst::model {

struct Offering {
  std::string zone;
  std::string capacity_type;  // on-demand, spot, reserved
  std::int64_t price_nanos_per_hour = 0;
  bool available = true;
  std::string reservation;             // the capacity reservation's id; empty: none
  std::int64_t reservation_count = 0;  // machines that it has left
  // What only such machines carry, the provider's own (zone id and the like). An empty value: they
  // do not carry it, and whoever asks for the label gets none of them.
  Labels labels;
  friend bool operator==(const Offering&, const Offering&) = default;
};

struct InstanceType {
  std::string name;
  std::vector<RequirementSpec>
      requirements;  // labels every such machine has: arch, os, instance-type, provider's own
  Resources capacity;
  Resources allocatable;
  std::vector<Offering> offerings;
  std::string facts;  // the provider's own columns, from which it works out what depends on a class
  Labels attach_limits;  // volumes that a machine can attach beside its root volume, as decimal
                         // text by CSI driver; absent: not limited
  friend bool operator==(const InstanceType&, const InstanceType&) = default;
};

// Everything that one provider offers, sorted by type name.
struct Catalogue {
  std::string provider;
  std::vector<InstanceType> types;
  friend bool operator==(const Catalogue&, const Catalogue&) = default;
};

// One sellable thing: a type in a zone as a capacity type, with the price it was chosen at.
struct Offer {
  std::string instance_type;
  std::string zone;
  std::string capacity_type;
  std::int64_t price_nanos_per_hour = 0;
  std::string reservation;  // as in Offering
  friend auto operator<=>(const Offer&, const Offer&) = default;
};

struct PriceUpdate {
  std::string provider;
  std::vector<Offer> prices;
  friend bool operator==(const PriceUpdate&, const PriceUpdate&) = default;
};

enum class InstanceState { kPending = 0, kRunning = 1, kShuttingDown = 2, kTerminated = 3 };

struct Instance {
  ProviderId provider_id;
  ClaimUid claim;  // from the claim tag
  std::uint32_t attempt = 0;
  std::string command_tag;  // CommandId text of the launch
  Offer offer;
  InstanceState state = InstanceState::kPending;
  Resources capacity;
  Resources allocatable;
  std::string image;
  std::int64_t launch_millis = 0;  // unix, the cloud's word
  // Of a machine that karst did not launch and so carries no claim's uid: the claim that
  // Karpenter's tags name, if they name this cluster too.
  ClaimName claim_name;
  // Where it stands, as the cloud lists it; empty: not known, as after a launch.
  std::string subnet;
  std::vector<std::string> security_groups;  // sorted
  friend bool operator==(const Instance&, const Instance&) = default;
};

enum class InterruptionKind {
  kSpotInterruption = 0,
  kRebalanceRecommendation = 1,
  kScheduledChange = 2,
  kInstanceStopping = 3,
  kInstanceTerminated = 4,
  kOther = 5,                    // nothing to do; kept for the record
  kReservationInterruption = 6,  // whoever lent the capacity takes it back
};
inline constexpr int kInterruptionKinds = 7;
std::string_view interruption_kind_name(InterruptionKind kind);

struct Interruption {
  MessageId message;
  InterruptionKind kind = InterruptionKind::kOther;
  ProviderId provider_id;
  std::int64_t deadline_millis = 0;  // unix; when the machine goes; 0: unknown
  std::int64_t sent_millis = 0;      // unix; when the cloud sent it
  std::string reason;                // why it is kOther; printable ASCII
  friend bool operator==(const Interruption&, const Interruption&) = default;
};

// What one machine may take of a subnet's addresses, if it comes to be there.
struct AddressUse {
  std::string subnet;
  std::string zone;
  std::int64_t each = 0;
  friend bool operator==(const AddressUse&, const AddressUse&) = default;
};

template <class Archive>
void fields(Archive& a, AddressUse& u) {
  a(u.subnet, u.zone, u.each);
}
template <class Archive>
void fields(Archive& a, Offering& o) {
  a(o.zone, o.capacity_type, o.price_nanos_per_hour, o.available, o.reservation,
    o.reservation_count, o.labels);
}
template <class Archive>
void fields(Archive& a, InstanceType& t) {
  a(t.name, t.requirements, t.capacity, t.allocatable, t.offerings, t.facts, t.attach_limits);
}
template <class Archive>
void fields(Archive& a, Catalogue& c) {
  a(c.provider, c.types);
}
template <class Archive>
void fields(Archive& a, Offer& o) {
  a(o.instance_type, o.zone, o.capacity_type, o.price_nanos_per_hour, o.reservation);
}
template <class Archive>
void fields(Archive& a, PriceUpdate& p) {
  a(p.provider, p.prices);
}
template <class Archive>
void fields(Archive& a, Instance& i) {
  a(i.provider_id, i.claim, i.attempt, i.command_tag, i.offer, i.state, i.capacity, i.allocatable,
    i.image, i.launch_millis, i.claim_name, i.subnet, i.security_groups);
}
template <class Archive>
void fields(Archive& a, Interruption& i) {
  a(i.message, i.kind, i.provider_id, i.deadline_millis, i.sent_millis, i.reason);
}

}  // namespace karst::model
