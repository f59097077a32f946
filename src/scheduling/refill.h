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

#include "scheduling/alternatives.h"
#include "scheduling/host_ties.h"
#include "scheduling/ladder.h"
#include "scheduling/packer.h"
#include "scheduling/prepared.h"

namespace karst::scheduling {

inline constexpr int kFillMachinesMax = 4;  // machines per claim: the cheapest,
inline constexpr int kFillLargerMax = 4;    // and larger ones, far apart
// Looks, and pods dealt out, each time an answer is improved: once, or once for each way to fill
// the nodes as if they were new.
inline constexpr std::int64_t kRefillLooksMax = 40'000'000;
inline constexpr std::size_t kEvenMachinesMax = 8;   // sizes tried for all claims of a sector
inline constexpr std::int64_t kEvenPodsMax = 2'000;  // in sectors of so many pods, as larger ones

// Claims that are open to change, and what they may come up as: machines of one view, or of like
// views of several pools.
struct Sector {
  std::vector<Face> faces;
  // Claims with pods that stay: which, what these ask for, and where they may be.
  struct Staying {
    std::size_t claim = 0;
    Row content;
    std::vector<Share> shares;   // rows
    const View* view = nullptr;  // a face's; nullptr: any
  };
  std::vector<Staying> staying;
  std::vector<Share> loose;  // rows whose pods are to be dealt out
};

// The sector's claims may have as few alternatives as this one had: those of its own pool's face,
// or, where that is not among the faces, all.
void keep_as_open_as(const Claim& claim, Alternatives& alternatives, Sector& sector);

struct Refilled {
  struct Filled {
    std::size_t claim = kNone;  // index as in Staying; kNone: a new one
    Rung rung;
    Row content;                // everything on it
    std::vector<Share> shares;  // rows that were dealt to it
  };
  std::vector<Filled> claims;
  std::int64_t price = 0;
};

// The cheapest way found, however much the sector costs now. `ties` by row; `looks` is what is
// left of the budget.
std::optional<Refilled> refill(const Prepared& prepared, const std::vector<HostTies>& ties,
                               const Sector& sector, Alternatives& alternatives,
                               std::int64_t& looks);

}  // namespace karst::scheduling
