// What of an EC2NodeClass changes the machines that a pool can have: image family, disks, kubelet
// settings. Which subnets its selectors find is not known without the account: all zones are taken.
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "model/resources.h"

namespace karst::providers::aws {

enum class Family {
  kAl2,
  kAl2023,
  kBottlerocket,
  kCustom,
  kWindows2019,
  kWindows2022,
  kWindows2025
};

bool is_windows(Family family);
// The label node.kubernetes.io/windows-build; empty for Linux.
std::string_view windows_build(Family family);

// An eviction threshold: an amount, or a share of the capacity.
struct Threshold {
  std::int64_t bytes = 0;
  std::optional<std::int64_t> percent_millis;  // 10 % is 10,000; of the capacity
};

// Of the class's networkInterfaces.
struct InterfaceCounts {
  std::int64_t cards = 0;  // that they need
  std::int64_t efa_only = 0;
  std::int64_t efa_only_of_pods = 0;  // on the card that pods use
};

inline constexpr std::int64_t kMemoryOverheadPpm = 75'000;  // VM_MEMORY_OVERHEAD_PERCENT 0.075

struct NodeClassSettings {
  Family family = Family::kAl2023;
  std::optional<std::int64_t> max_pods;
  std::optional<std::int64_t> pods_per_core;
  std::optional<std::int64_t> reserved_cpu_millis;  // kubeReserved, where given
  std::optional<std::int64_t> reserved_memory_bytes;
  std::optional<std::int64_t> reserved_ephemeral_bytes;
  model::Resources system_reserved;
  std::optional<Threshold> evict_memory;
  std::optional<Threshold> evict_ephemeral;
  std::optional<std::int64_t> disk_bytes;  // of the volume that pods use; none: the family's
  bool raid = false;                       // instance stores become the pods' disk
  bool nested_virtualization = false;
  std::optional<InterfaceCounts> interfaces;  // none: one for pods, and EFA as pods ask for it
  bool connection_tracking = false;           // how long connections are remembered
  // Of the whole cluster (resolved.h), not of the class.
  std::int64_t memory_overhead_ppm = kMemoryOverheadPpm;  // of the memory: what hypervisors keep
  std::int64_t reserved_interfaces = 0;                   // RESERVED_ENIS: not for pods
};

// `spec_json` as model::NodeClass has it. Errors: kInvalid with the field. What kubelet would not
// take counts as not given: check_kubelet() says what that is.
base::Result<NodeClassSettings> read_node_class(std::string_view spec_json);

}  // namespace karst::providers::aws
