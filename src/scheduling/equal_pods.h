// The cheapest machines for pods that all ask for the same: exactly, as change is made for a sum.
// Internal to refill.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace karst::scheduling {

// Up to so many pods the answer is exact; of more, the rest is first put on the machines that cost
// least a pod.
inline constexpr std::int64_t kEqualPodsMax = 2'000;

struct Seats {
  std::int64_t pods = 0;   // that a machine has room for, more than 0
  std::int64_t price = 0;  // of one machine
};

// Indices into `machines`, one for each that is taken, those with most seats first: together the
// cheapest that hold so many pods, and of equally cheap ones the fewest. Empty: there are no
// machines. Takes kEqualPodsMax times machines.size() steps at most.
std::vector<std::size_t> cheapest_for(std::int64_t pods, const std::vector<Seats>& machines);

}  // namespace karst::scheduling
