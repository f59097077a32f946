// What pools' limits leave while claims are exchanged for others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "scheduling/packer.h"
#include "scheduling/prepared.h"

namespace karst::scheduling {

class SpareLimits {
 public:
  // `pools` outlives it. What is left beside the packer's claims.
  SpareLimits(const PoolTables& pools, const Packer& packer);

  // What an exchange of claims takes of a pool's limits; negative: gives back.
  struct Taken {
    std::vector<std::int64_t> amounts;  // as PoolTable::remaining; empty: none
    std::int64_t nodes = 0;
  };
  using Change = std::map<std::size_t, Taken>;  // by pool, an index into PoolTables::pools
  // One claim of the pool comes (`times` 1) or goes (-1) that holds so much.
  static void add(Change& change, std::size_t pool, const std::vector<std::int64_t>& held,
                  std::int64_t times);
  // A pool that is over a limit already gets nothing, not even what takes none of that.
  bool allow(const Change& change) const;
  // A claim of the pool that holds so much (empty: only its node counts), beside the change.
  bool allow_one_more(const Change& change, std::size_t pool,
                      const std::vector<std::int64_t>& held) const;
  void take(const Change& change);

  const std::vector<std::vector<std::int64_t>>& amounts() const { return left_; }
  const std::vector<std::int64_t>& nodes() const { return nodes_left_; }

 private:
  const PoolTables& pools_;
  std::vector<std::vector<std::int64_t>> left_;  // by pool
  std::vector<std::int64_t> nodes_left_;         // by pool, where nodes are limited
};

// By pool: its limits keep machines out of reach, and a pod that is left over may be kept off it by
// these alone.
std::vector<bool> pools_wanted(Prepared& prepared, const Packer& packer);

}  // namespace karst::scheduling
