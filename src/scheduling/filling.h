// One way to deal out the loose pods of a sector, claim by claim, until none is left or the budget
// ends. Begun again for each way that is tried; what it needs for that it keeps, so that a way
// allocates only what the largest before it did not need. Part of refill.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "scheduling/dive.h"
#include "scheduling/host_ties.h"
#include "scheduling/ladder.h"
#include "scheduling/prepared.h"
#include "scheduling/refill.h"
#include "scheduling/size_classes.h"

namespace karst::scheduling {

// Classes or machines that are passed over one after the other: so many count as one look.
inline constexpr std::size_t kGlancesALook = 8;

class Filling {
 public:
  // All outlive it. `looks`: what is left of the budget.
  Filling(const Prepared& prepared, const std::vector<HostTies>& ties, const Sector& sector,
          const Ladder& ladder, std::int64_t& looks);

  const Row& sum() const { return sum_; }          // of everything in the sector
  const SizeClasses& all() const { return all_; }  // the loose pods; nobody gave them a worth

  // All of `classes` is to be dealt out, and nothing is found yet. They are the loose pods, in the
  // order in which they are to be tried; fill_staying() and fill_new() want them as all() has them.
  void begin(const SizeClasses& classes);
  std::int64_t pods_left() const { return left_[kPodsColumn]; }
  bool may_look() const { return looks_ > 0; }
  // The claims with pods that stay, the largest first, each on one of the first machines that it
  // fits on, or of so many more that are far apart. False: one fits on none, or the budget ended.
  bool fill_staying(int larger_max);
  // One claim more, on the machine with which all that is left would be cheapest. False: no machine
  // takes any of it.
  bool fill_new();
  // One claim more, of that size, with as many as fit. False: nobody does.
  bool fill_with(const Rung& rung);
  // All claims with pods that stay come first, in the order of staying().
  Refilled& found() { return found_; }
  // What is found in place of `best`; found() is of no use until the next begin().
  void keep_in(std::optional<Refilled>& best);
  const Sector::Staying& staying(std::size_t place) const { return sector_.staying[order_[place]]; }

 private:
  Refilled::Filled& add_claim(std::size_t claim, const Rung& rung, const Row& content);
  Refilled::Filled& open_claim(const Rung& rung);
  void look_at(const Sector::Staying* staying, const Refilled::Filled& claim);
  const Row& room_beside(const Row& content, const Rung& rung);
  bool fill_claim(std::size_t place, int larger_max);
  void top_up(std::size_t place);
  bool deal(std::size_t at, Refilled::Filled& claim) { return deal(at, 1, claim) > 0; }
  std::int64_t deal(std::size_t at, std::int64_t most, Refilled::Filled& claim);
  void deal_up_to(std::int64_t most, std::size_t at, Refilled::Filled& claim);
  void deal_like_parts(Refilled::Filled& claim);
  void deal_what_fits(std::size_t from, Refilled::Filled& claim);
  Rung rung_for_rest();
  bool takes_any(const Rung& rung);

  const std::vector<HostTies>& ties_;
  const Sector& sector_;
  const Ladder& ladder_;
  std::int64_t& looks_;
  std::vector<std::size_t> order_;  // of the staying, the largest first
  Row sum_;
  SizeClasses all_;
  SizeClasses classes_;  // what is still to be dealt out
  Row loose_;            // what all_ asks for
  Row left_;             // what classes_ still ask for
  Dive dive_;
  HostState state_;
  std::vector<char> blocked_;
  std::vector<std::size_t> items_;
  Row room_, nothing_;
  std::size_t last_rung_ = 0;  // that was best for the rest
  Refilled found_;
  std::vector<Refilled::Filled> spares_;  // claims of ways that were given up, for their memory
};

}  // namespace karst::scheduling
