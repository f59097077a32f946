// The embedded facts of EC2's instance types: hardware, zones and on-demand prices of us-east-1 as
// of July 2026. The data is data/instance_types.inc, made by tools/dev/aws_catalogue.py; one line a
// type, columns as the fields below, '-' for unknown. Pure, immutable.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace karst::providers::aws {

struct Accelerator {
  char kind = 0;  // g GPU, n Neuron device, i other inference device
  std::string_view name;
  std::string_view manufacturer;
  std::int64_t count = 0;   // 0: a fraction of one
  std::int64_t detail = 0;  // g: MiB of each; n: cores of each
};

struct TypeFacts {
  std::string_view name;
  std::int64_t cpus = 0;
  std::int64_t memory_mib = 0;
  bool arm = false;
  std::string_view cpu_maker;  // intel, amd, aws
  std::optional<std::int64_t> clock_mhz;
  std::string_view hypervisor;  // nitro, xen; empty on bare metal
  bool encrypts_in_transit = false;
  bool enclaves = false;
  bool nested_virtualization = false;  // as EC2 tells; the table does not know
  bool spot = false;
  bool on_demand = false;
  std::int64_t interfaces = 0;  // of the card that pods use
  std::int64_t addresses_per_interface = 0;
  std::int64_t branch_interfaces = 0;  // 0: none, or it cannot trunk
  std::int64_t efa = 0;
  std::optional<std::int64_t> ebs_mbps;      // where it is on by default
  std::optional<std::int64_t> network_mbps;  // of Karpenter's label
  std::int64_t storage_gb = 0;               // of instance store, 10^9 bytes
  bool nvme = false;                         // that store is NVMe
  std::int64_t attachments = 0;              // of EBS volumes; 0: unknown
  std::optional<std::int64_t> price_micros;  // millionths of a dollar per hour, on demand
  std::string_view zones;                    // letters; empty: not sold, or unknown
  std::vector<Accelerator> accelerators;
  std::uint64_t regions = 0;  // bit i: sold in regions()[i]
};

// Whose zones and prices the table has.
inline constexpr std::string_view kRegion = "us-east-1";

// Sorted.
const std::vector<std::string_view>& regions();

// Sorted by name.
const std::vector<TypeFacts>& type_facts();

// The id of a zone of kRegion by its letter; empty for another letter.
std::string_view zone_id(char letter);

}  // namespace karst::providers::aws
