#include "providers/kwok/catalogue.h"

#include <algorithm>
#include <string>

#include "model/labels.h"

namespace karst::providers::kwok {
namespace {

constexpr std::int64_t kGi = std::int64_t{1} << 30;
constexpr std::int64_t kEphemeralBytes = 20 * kGi;
constexpr std::int64_t kPodsPerCpu = 16;
constexpr std::int64_t kPodsMax = 1024;

constexpr std::int64_t kSizes[] = {1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256};
constexpr std::string_view kArchitectures[] = {"amd64", "arm64"};
constexpr std::string_view kSystems[] = {"linux", "windows"};
constexpr std::string_view kZones[] = {"test-zone-a", "test-zone-b", "test-zone-c", "test-zone-d"};

struct Family {
  std::string_view name;
  std::int64_t gi_per_cpu;
};
constexpr Family kFamilies[] = {{"c", 2}, {"m", 8}, {"s", 4}};

model::RequirementSpec is(std::string_view key, std::string_view value) {
  return {std::string(key), model::Operator::kIn, {std::string(value)}, 0};
}

model::InstanceType make_type(const Family& family, std::int64_t cpus, std::string_view arch,
                              std::string_view system) {
  const std::int64_t memory = cpus * family.gi_per_cpu * kGi;
  const std::string size = std::to_string(cpus);
  model::InstanceType type;
  type.name =
      std::string(family.name) + "-" + size + "x-" + std::string(arch) + "-" + std::string(system);
  type.requirements = {
      is(kCpuLabel, size),
      is(kFamilyLabel, family.name),
      is(kMemoryLabel, std::to_string(cpus * family.gi_per_cpu) + "Gi"),
      is(kSizeLabel, size),
      is(model::kArchLabel, arch),
      is(model::kOsLabel, system),
      is(model::kInstanceTypeLabel, type.name),
  };
  type.capacity = {
      cpus * 1000, memory, kEphemeralBytes, std::min(kPodsPerCpu * cpus, kPodsMax), {}};
  type.allocatable = type.capacity;
  type.allocatable.cpu_millis -= kOverheadCpuMillis;
  type.allocatable.memory_bytes -= kOverheadMemoryBytes;
  for (const std::string_view zone : kZones) {
    type.offerings.push_back({std::string(zone), "on-demand", on_demand_price(cpus, memory), true});
    type.offerings.push_back({std::string(zone), "spot", spot_price(cpus, memory), true});
  }
  return type;
}

// In nano-dollars times 1000, where it is a whole number.
std::int64_t exact_price(std::int64_t cpus, std::int64_t memory_bytes) {
  constexpr std::int64_t kPerCpu = 25'000'000'000;
  return kPerCpu * cpus + memory_bytes;
}

}  // namespace

std::int64_t on_demand_price(std::int64_t cpus, std::int64_t memory_bytes) {
  return (exact_price(cpus, memory_bytes) + 500) / 1000;
}

std::int64_t spot_price(std::int64_t cpus, std::int64_t memory_bytes) {
  return (7 * exact_price(cpus, memory_bytes) + 5000) / 10000;
}

model::Catalogue make_catalogue() {
  model::Catalogue catalogue;
  catalogue.provider = "kwok";
  for (const Family& family : kFamilies)
    for (const std::int64_t cpus : kSizes)
      for (const std::string_view arch : kArchitectures)
        for (const std::string_view system : kSystems)
          catalogue.types.push_back(make_type(family, cpus, arch, system));
  std::sort(catalogue.types.begin(), catalogue.types.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return catalogue;
}

}  // namespace karst::providers::kwok
