// Which pods on new claims may just as well be on others: of the same view, or of a like view of
// another pool. Part of improve.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "scheduling/host_ties.h"
#include "scheduling/prepared.h"

namespace karst::scheduling {

class Mobility {
 public:
  explicit Mobility(Prepared& prepared);

  std::size_t rows() const { return may_move_.size(); }
  const std::vector<HostTies>& host_ties() const { return host_ties_; }  // by row
  // Wherever such a pod is among the claims of the view, others over zones see it where they saw
  // it; who is on the host is all that matters. `row`: index into Prepared::rows.
  bool is_loose(std::size_t row, const View& view);
  // It has to do with nobody but on its host, and gives nothing up.
  bool is_free(std::size_t row) const;
  // The row's pods would find all that they demand on claims of the pool (an index into
  // PoolTables::pools) under these requirements.
  bool may_live(std::size_t row, std::size_t pool, RequirementId requirements);
  // Others over zones see a pod that is loose under the one view where they saw it, if it is under
  // the other.
  bool is_seen_alike(std::size_t row, const View& from, const View& to);
  // What the view's claims have got beyond their pool's own requirements, with another pool's;
  // kImpossible: they do not go together.
  RequirementId like_view(const View& view, std::size_t pool);

 private:
  // Whatever machine of the view a claim comes up as, it is sold in several domains of the key, so
  // that nobody knows the claim's own before.
  bool stays_open(const View& view, int key);
  bool is_sold_in_several(const View& view, const std::string& key) const;
  const PoolTable& pool_of(const View& view) const { return prepared_.pools.pools()[view.pool]; }

  Prepared& prepared_;
  std::vector<HostTies> host_ties_;
  // By row: other topology keys over which it has ties; those of them that it minds while they are
  // open.
  std::vector<std::vector<int>> keys_, minded_;
  enum class Open : char { kUnknown, kYes, kNo };
  std::vector<std::vector<Open>> open_;  // by view and key
  std::vector<bool> may_move_;           // by row, as far as its own claim goes
};

}  // namespace karst::scheduling
