// What a node class's selectors found in the account, and the facts of the cluster that launches
// need: plain values and their one JSON form, which is logged and handed to types_for and
// encode_launch. The same values give the same bytes. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/requirements.h"
#include "providers/aws/node_class.h"

namespace karst::providers::aws {

// Of the cluster, from settings and from EKS. Not secret.
struct Cluster {
  std::string name;
  std::string uid;
  std::string endpoint;
  std::string ca;            // base64
  std::string dns_ip;        // empty: not known
  std::string service_cidr;  // empty: not known
  std::string version;       // "1.34"
  std::string region;
  bool ipv6 = false;
  std::int64_t memory_overhead_ppm = kMemoryOverheadPpm;  // VM_MEMORY_OVERHEAD_PERCENT
  std::int64_t reserved_interfaces = 0;                   // RESERVED_ENIS
  // Whether it is said of each machine which capacity reservation it takes, or that it takes none
  // (feature gate ReservedCapacity).
  bool uses_reservations = true;
  // False: instance profiles are taken to be there, and neither looked up nor made. Not in JSON.
  bool may_make_profiles = true;
  // The version is asked of EKS again and again (EKS_CONTROL_PLANE). Not in JSON.
  bool version_of_eks = false;
  // Whether zonal shifts are heeded (ENABLE_ZONAL_SHIFT), which are asked for by the ARN, as EKS
  // says it. Not in JSON.
  bool heeds_shifts = false;
  std::string arn;
  // Whether EC2 is asked, by dry runs, if a class's machines may be made. Not in JSON.
  bool tries_launches = false;
  // How long what was found of images and subnets is used again (AMI_REFRESH_INTERVAL,
  // SUBNET_REFRESH_INTERVAL); 0: they are asked for each time. Not in JSON.
  std::int64_t image_refresh_millis = 0;
  std::int64_t subnet_refresh_millis = 0;
  friend bool operator==(const Cluster&, const Cluster&) = default;
};

struct Subnet {
  std::string id;
  std::string zone;
  std::string zone_id;
  std::int64_t free_addresses = 0;  // exact below 64
  friend bool operator==(const Subnet&, const Subnet&) = default;
};

struct SecurityGroup {
  std::string id;
  std::string name;
  friend bool operator==(const SecurityGroup&, const SecurityGroup&) = default;
};

struct Image {
  std::string id;
  std::string name;
  std::string created;  // RFC 3339
  bool deprecated = false;
  std::vector<model::RequirementSpec> requirements;  // sorted
  friend bool operator==(const Image&, const Image&) = default;
};

inline constexpr std::string_view kExpiring = "expiring";  // of Reservation::state

struct Reservation {
  std::string id;
  std::string zone;
  std::string instance_type;
  std::string owner;
  std::string match_criteria;
  std::string type = "default";  // or capacity-block
  std::string state;             // active, expiring
  std::string end;               // RFC 3339; empty: open
  std::int64_t available = 0;
  bool interruptible = false;
  friend bool operator==(const Reservation&, const Reservation&) = default;
};

struct PlacementGroup {
  std::string id;
  std::string name;
  std::string strategy;
  std::int64_t partitions = 0;
  friend bool operator==(const PlacementGroup&, const PlacementGroup&) = default;
};

struct Resolved {
  Cluster cluster;
  std::vector<Subnet> subnets;                 // most free addresses first, then by id
  std::vector<SecurityGroup> security_groups;  // by id
  std::vector<Image> images;                   // newest first, deprecated last
  std::vector<Reservation> reservations;       // by id
  PlacementGroup placement_group;              // id empty: none
  std::string instance_profile;
  std::vector<std::string> shifted_zones;  // that traffic is shifted away from; sorted
  friend bool operator==(const Resolved&, const Resolved&) = default;
};

std::string to_json(const Resolved& resolved);

// Of such JSON; empty of anything else.
std::vector<std::string> shifted_zones(std::string_view json);

// Ids of the reservations whose machines are taken back soon, of such JSON; sorted.
std::vector<std::string> ending_reservations(std::string_view json);

// Errors: kInvalid when it is not what to_json writes.
base::Result<Resolved> read_resolved(std::string_view json);

}  // namespace karst::providers::aws
