// What pools' limits leave while claims are exchanged for others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "scheduling/packer.h"

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
  bool allow(const Change& change) const;
  void take(const Change& change);

  const std::vector<std::vector<std::int64_t>>& amounts() const { return left_; }
  const std::vector<std::int64_t>& nodes() const { return nodes_left_; }

 private:
  const PoolTables& pools_;
  std::vector<std::vector<std::int64_t>> left_;  // by pool
  std::vector<std::int64_t> nodes_left_;         // by pool, where nodes are limited
};

}  // namespace karst::scheduling
