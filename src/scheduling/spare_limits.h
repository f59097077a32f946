// What pools' limits leave while claims are exchanged for others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "scheduling/packer.h"

namespace karst::scheduling {

class SpareLimits {
 public:
  // `pools` outlives it. What is left beside the packer's claims.
  SpareLimits(const PoolTables& pools, const Packer& packer);

  // What an exchange of claims of one pool takes of its limits; negative: gives back.
  struct Change {
    std::size_t pool = 0;               // index into PoolTables::pools
    std::vector<std::int64_t> amounts;  // as PoolTable::remaining; empty: none
    std::int64_t nodes = 0;
  };
  // One claim comes (`times` 1) or goes (-1) that holds so much.
  static void add(Change& change, const std::vector<std::int64_t>& held, std::int64_t times);
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
