// Claims of one sector filled anew: pods that may be on any of them are dealt out again, so that
// each claim's machine is as full as it can be, and the rest goes to as few new claims as it takes.
// A heuristic for packing in several dimensions: claim by claim, the machine and the pods beside
// those that stay which leave the least of the price unused, looked for among a counted number of
// combinations. Knows rows, machines and hosts; what may be moved at all is the caller's to say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "scheduling/host_ties.h"
#include "scheduling/packer.h"
#include "scheduling/prepared.h"

namespace karst::scheduling {

inline constexpr int kFillMachinesMax = 4;                   // machines per claim
inline constexpr std::int64_t kRefillLooksMax = 30'000'000;  // at pods of one size, per answer
// A claim may come up as so many types, or as many as the fewest before: spot needs alternatives.
// Of a small choice, as a quarter of it.
inline constexpr std::size_t kAlternativesMin = 15;
inline constexpr std::size_t kAlternativesShare = 4;
inline constexpr std::size_t kEvenMachinesMax = 8;   // sizes tried for all claims of a sector
inline constexpr std::int64_t kEvenPodsMax = 2'000;  // in sectors of so many pods

// Claims of one view, as far as they are open to change.
struct Sector {
  std::size_t pool = 0;  // index into PoolTables::pools
  const View* view = nullptr;
  // Claims with pods that stay: which, and what these ask for.
  struct Staying {
    std::size_t claim = 0;
    Row content;
    std::vector<Share> shares;  // rows
  };
  std::vector<Staying> staying;
  std::vector<Share> loose;      // rows whose pods are to be dealt out
  std::size_t fewest_types = 0;  // that a claim of the sector may come up as now
};

struct Refilled {
  struct Filled {
    std::size_t claim = kNone;  // index as in Staying; kNone: a new one
    std::size_t machine = 0;    // of the view
    Row content;                // everything on it
    std::vector<Share> shares;  // rows that were dealt to it
  };
  std::vector<Filled> claims;
  std::int64_t price = 0;
};

// How many types have at least the room that a machine has, up to kAlternativesMin; remembered.
class Alternatives {
 public:
  std::size_t of(const View& view, std::size_t machine);
  // So many a claim of the view should have.
  static std::size_t wanted(const View& view);

 private:
  std::vector<std::vector<std::size_t>> known_;  // by view and machine, one more than there are
};

// The cheapest way found, however much the sector costs now. `ties` by row; `looks` is what is
// left of the budget.
std::optional<Refilled> refill(const Prepared& prepared, const std::vector<HostTies>& ties,
                               const Sector& sector, Alternatives& alternatives,
                               std::int64_t& looks);

}  // namespace karst::scheduling
