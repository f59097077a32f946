#include "providers/aws/allocatable.h"

#include <algorithm>

namespace karst::providers::aws {
namespace {

constexpr std::int64_t kMi = std::int64_t{1} << 20;
constexpr std::int64_t kGi = std::int64_t{1} << 30;
constexpr std::int64_t kGigabyte = 1'000'000'000;
constexpr std::int64_t kArmMib = 64;  // that arm64 machines keep from the start
constexpr std::int64_t kWindowsPods = 110;
constexpr std::int64_t kEvictMemoryBytes = 100 * kMi;
constexpr std::int64_t kEvictDiskPercentMillis = 10'000;

// Pods by addresses: each interface of the card gives all its addresses but its own.
std::int64_t pods_by_addresses(const TypeFacts& facts, const NodeClassSettings& settings,
                               std::int64_t reserved_interfaces) {
  const std::int64_t interfaces = facts.interfaces - reserved_interfaces -
                                  settings.interfaces.value_or(InterfaceCounts{}).efa_only_of_pods;
  if (interfaces <= 0) return 0;
  return interfaces * (facts.addresses_per_interface - 1) + 2;
}

std::int64_t pods_of(const TypeFacts& facts, const NodeClassSettings& settings) {
  std::int64_t pods = is_windows(settings.family)
                          ? kWindowsPods
                          : pods_by_addresses(facts, settings, settings.reserved_interfaces);
  if (settings.max_pods) pods = *settings.max_pods;
  if (settings.pods_per_core.value_or(0) > 0 && settings.family != Family::kBottlerocket)
    pods = std::min(pods, *settings.pods_per_core * facts.cpus);
  return pods;
}

std::int64_t memory_mib(const TypeFacts& facts, const NodeClassSettings& settings) {
  constexpr std::int64_t kMillion = 1'000'000;
  const std::int64_t base = facts.memory_mib - (facts.arm ? kArmMib : 0);
  return base - (base * settings.memory_overhead_ppm + kMillion - 1) / kMillion;
}

std::int64_t disk_bytes(const TypeFacts& facts, const NodeClassSettings& settings) {
  if (settings.raid && facts.storage_gb > 0) return facts.storage_gb * kGigabyte;
  if (settings.disk_bytes) return *settings.disk_bytes;
  return (is_windows(settings.family) ? 50 : 20) * kGi;
}

void add_devices(const TypeFacts& facts, const NodeClassSettings& settings, model::Resources& out) {
  const auto add = [&](std::string_view name, std::int64_t amount) {
    if (amount > 0) out.set_amount(name, out.amount(name) + amount);
  };
  for (const Accelerator& one : facts.accelerators) {
    if (one.kind == 'n') {
      add("aws.amazon.com/neuron", one.count);
      add("aws.amazon.com/neuroncore", one.count * one.detail);
    } else if (one.kind == 'g' && one.manufacturer == "nvidia") {
      add("nvidia.com/gpu", one.count);
    } else if (one.kind == 'g' && one.manufacturer == "amd") {
      add("amd.com/gpu", one.count);
    } else if (one.kind == 'g' && one.manufacturer == "habana") {
      add("habana.ai/gaudi", one.count);
    }
  }
  add(kEfaResource, settings.interfaces ? settings.interfaces->efa_only : facts.efa);
  add("vpc.amazonaws.com/pod-eni", facts.branch_interfaces);
  if (is_windows(settings.family))
    add("vpc.amazonaws.com/PrivateIPv4Address", facts.addresses_per_interface - 1);
}

// What kubelet and the container runtime keep of the cores: 6 % of the first, 1 % of the second,
// half a percent of the next two, a quarter beyond; each band cut to whole millicores.
std::int64_t reserved_cpu(std::int64_t cpus) {
  struct Band {
    std::int64_t from, to, per_ten_thousand;
  };
  constexpr Band kBands[] = {
      {0, 1000, 600}, {1000, 2000, 100}, {2000, 4000, 50}, {4000, std::int64_t{1} << 40, 25}};
  std::int64_t reserved = 0;
  for (const Band& band : kBands)
    reserved += std::max<std::int64_t>(0, std::min(cpus * 1000, band.to) - band.from) *
                band.per_ten_thousand / 10'000;
  return reserved;
}

// Most families reserve for as many pods as there could be addresses, whatever maxPods and
// RESERVED_ENIS say.
std::int64_t reserved_memory(const TypeFacts& facts, const NodeClassSettings& settings,
                             std::int64_t pods) {
  const bool by_pods = settings.family == Family::kBottlerocket || is_windows(settings.family);
  return (11 * (by_pods ? pods : pods_by_addresses(facts, settings, 0)) + 255) * kMi;
}

std::int64_t bytes_of(const Threshold& threshold, std::int64_t capacity) {
  if (!threshold.percent_millis) return threshold.bytes;
  __extension__ typedef __int128 Wide;
  const Wide share = static_cast<Wide>(capacity) * *threshold.percent_millis;
  return static_cast<std::int64_t>((share + 99'999) / 100'000);
}

}  // namespace

model::Resources capacity_of(const TypeFacts& facts, const NodeClassSettings& settings,
                             std::int64_t seen_memory_bytes) {
  model::Resources out;
  out.cpu_millis = facts.cpus * 1000;
  out.memory_bytes = seen_memory_bytes > 0 ? seen_memory_bytes : memory_mib(facts, settings) * kMi;
  out.ephemeral_bytes = disk_bytes(facts, settings);
  out.pods = pods_of(facts, settings);
  add_devices(facts, settings, out);
  return out;
}

model::Resources allocatable_of(const TypeFacts& facts, const NodeClassSettings& settings,
                                std::int64_t seen_memory_bytes) {
  const model::Resources capacity = capacity_of(facts, settings, seen_memory_bytes);
  model::Resources out = capacity;
  out.cpu_millis -= settings.reserved_cpu_millis.value_or(reserved_cpu(facts.cpus));
  out.memory_bytes -=
      settings.reserved_memory_bytes.value_or(reserved_memory(facts, settings, capacity.pods));
  out.memory_bytes -= bytes_of(settings.evict_memory.value_or(Threshold{kEvictMemoryBytes, {}}),
                               capacity.memory_bytes);
  out.ephemeral_bytes -= settings.reserved_ephemeral_bytes.value_or(kGi);
  out.ephemeral_bytes -=
      bytes_of(settings.evict_ephemeral.value_or(Threshold{0, kEvictDiskPercentMillis}),
               capacity.ephemeral_bytes);
  out -= settings.system_reserved;
  for (std::int64_t* amount : {&out.cpu_millis, &out.memory_bytes, &out.ephemeral_bytes})
    *amount = std::max<std::int64_t>(*amount, 0);
  return out;
}

}  // namespace karst::providers::aws
