// Packs groups into new claims. Equal claims are one row with a count of copies, as equal pods are,
// so that work grows with what differs and not with how much there is. Owned by one solve call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "scheduling/bits.h"
#include "scheduling/columns.h"
#include "scheduling/demand.h"
#include "scheduling/group_table.h"
#include "scheduling/pool_table.h"
#include "scheduling/problem.h"

namespace karst::scheduling {

struct ClaimRow {
  std::size_t pool = 0;            // index into the pool tables
  RequirementId requirements = 0;  // of the pool and the pods
  Bits offers;                     // that the requirements leave
  std::size_t target =
      0;        // type whose room is filled; the answer lists every type that fits the content
  Row content;  // of the pods of one copy
  std::vector<Share> shares;  // per copy; Share::group is an index into the group rows here
  std::vector<std::int64_t>
      held;  // of the pool's limits by one copy; rows of limited pools have one copy
  std::int64_t copies = 1;
};

class ClaimPacker {
 public:
  // `pools` in the order of preference. `left`: pods to place, as `groups`.
  ClaimPacker(const Problem& problem, RequirementTable& requirements, std::vector<PoolTable>& pools,
              const std::vector<GroupRow>& groups, std::vector<std::int64_t>& left);

  // Places what it can of one group: into claims with room, then into new ones, then into whatever
  // claim can grow.
  void place(std::size_t group);

  const std::vector<ClaimRow>& rows() const { return rows_; }

 private:
  // A way for a group into a pool: one alternative of its requirements.
  struct Way {
    RequirementId alternative = 0;
    RequirementId with_pool = 0;
  };
  struct Join {
    RequirementId requirements = 0;
    Bits offers;
    std::size_t target = 0;
    std::int64_t each = 0;  // pods per copy
  };
  struct Choice {
    std::size_t type = 0;
    std::int64_t each = 0;
    Wide cost = 0;  // nano-dollars an hour, for all the demand looked at
  };

  const std::vector<Way>& ways(std::size_t group, std::size_t pool);
  Bits offers_for(const Way& way, std::size_t group, std::size_t pool);
  void make_demand();

  void fill(std::size_t group, bool grow);
  std::optional<Join> try_join(const ClaimRow& row, std::size_t group, bool grow);
  bool keeps_target(const ClaimRow& row, std::size_t group, Join& join);
  bool finds_target(const ClaimRow& row, std::size_t group, bool grow, Join& join);
  bool worth(Wide dearer, std::int64_t count, std::size_t group);
  void apply(std::size_t row, std::size_t group, const Join& join);

  void open(std::size_t group);
  std::optional<Choice> choose(std::size_t group, std::size_t pool, const Bits& offers,
                               const Row& demand) const;
  void add_row(std::size_t group, std::size_t pool, RequirementId requirements, Bits offers,
               const Choice& choice);
  void hold(ClaimRow& row);
  void note_placed(std::size_t group, std::int64_t count);

  std::int64_t most_per_node(std::size_t group) const;
  bool meets_conflict(const ClaimRow& row, std::size_t group) const;

  const Problem& problem_;
  RequirementTable& requirements_;
  std::vector<PoolTable>& pools_;
  const std::vector<GroupRow>& groups_;
  std::vector<std::int64_t>& left_;
  std::vector<ClaimRow> rows_;
  std::vector<Demand> demand_;                                      // by pool
  std::vector<std::vector<std::optional<std::vector<Way>>>> ways_;  // by group and pool
  std::optional<Wide> alone_cost_;  // of the group being placed, on nodes of its own
};

}  // namespace karst::scheduling
