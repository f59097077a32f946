// Which claim holds which reservation: each claim one of those it could use, each reservation no
// more claims than it has machines. A claim gives way to another when it can use something else, so
// that as many claims as possible hold one. Owned by one packing. Which
// capacity types a claim then allows follows Karpenter 1.14 (its gate ReservedCapacity).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "scheduling/pool_table.h"

namespace karst::scheduling {

class Reservations {
 public:
  explicit Reservations(const std::vector<PoolTables::Reservation>& reservations);

  // The claim may use any of `options` (sorted) from now on, and holds one of them. False, and
  // nothing changes, when others cannot make room.
  bool hold(std::size_t claim, const std::vector<int>& options);
  // Whether hold() would succeed for a claim that does not exist yet.
  bool could_hold(const std::vector<int>& options);
  // Whether hold() would succeed for one that does.
  bool could_hold(std::size_t claim, const std::vector<int>& options);

  // Where one is not enough: the claim holds all of `chosen` (not empty) from now on, nothing else,
  // and gives way to nobody. Each must be one that it may_take().
  void hold_all(std::size_t claim, const std::vector<int>& chosen);
  // Held by it already, or free. `claim`: any that does not exist yet holds nothing.
  bool may_take(std::size_t claim, int reservation) const;

  // For the end: what the claim holds, and one more of a reservation that nobody needs.
  std::vector<int> held(std::size_t claim) const;
  bool take_free(int reservation);

 private:
  struct Holder {
    int held = kNotReserved;
    std::vector<int> options;
    std::vector<int> also;  // held besides
  };
  int let_go(Holder& holder);
  void take(Holder& holder, int reservation);
  bool find_room(const std::vector<int>& options, std::vector<char>& seen, int& found, bool apply);

  std::vector<std::int64_t> free_;
  std::vector<Holder> holders_;  // by claim
};

}  // namespace karst::scheduling
