// What is still to be placed, pool by pool, so that a node is chosen for all the pods that could
// share it and not just for those at hand. An estimate that steers prices, never a constraint.
// Owned by one solve call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "scheduling/bits.h"
#include "scheduling/columns.h"

namespace karst::scheduling {

class Demand {
 public:
  // `offers[g]`: the offerings of the pool that group g may use (empty set: none); `requests[g]`:
  // of one pod; `counts[g]`: pods to place.
  Demand(const std::vector<Bits>& offers, const std::vector<Row>& requests,
         const std::vector<std::int64_t>& counts);

  // Everything left that asks for the same kinds of resources as `group` and may use one of its
  // offerings.
  Row for_group(std::size_t group) const;
  void placed(std::size_t group, const Row& request, std::int64_t count);

 private:
  struct Kind {
    Bits offers;
    Row sum;
    std::vector<std::size_t>
        neighbours;  // kinds that share an offering and the kinds of resources, itself included
  };
  std::vector<Kind> kinds_;
  std::vector<std::size_t> kind_of_;
};

}  // namespace karst::scheduling
