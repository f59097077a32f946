// What the kwok cloud offers, Karpenter's kwok list (v1.14) of 144 types: three families by memory
// per CPU (c 2 GiB, s 4 GiB, m 8 GiB), twelve sizes, two architectures, Linux and Windows; four
// zones, on demand and spot. Prices in nano-dollars per hour: on demand 0.025
// dollars a CPU and 0.001 dollars for 10^9 bytes of memory, spot 7/10 of it.
#pragma once

#include <cstdint>

#include "model/cloud.h"

namespace karst::providers::kwok {

inline constexpr std::string_view kSizeLabel = "karpenter.kwok.sh/instance-size";
inline constexpr std::string_view kFamilyLabel = "karpenter.kwok.sh/instance-family";
inline constexpr std::string_view kCpuLabel = "karpenter.kwok.sh/instance-cpu";
inline constexpr std::string_view kMemoryLabel = "karpenter.kwok.sh/instance-memory";

// What a machine keeps for itself.
inline constexpr std::int64_t kOverheadCpuMillis = 100;
inline constexpr std::int64_t kOverheadMemoryBytes = std::int64_t{10} << 20;

// Sorted by type name; offerings by zone, then capacity type.
model::Catalogue make_catalogue();

// Rounded to the nearest nano-dollar.
std::int64_t on_demand_price(std::int64_t cpus, std::int64_t memory_bytes);
std::int64_t spot_price(std::int64_t cpus, std::int64_t memory_bytes);

}  // namespace karst::providers::kwok
