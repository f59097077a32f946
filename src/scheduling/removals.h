// What each constraint of a pool takes away of a pool's catalogue, counted one constraint at a
// time. A pool's catalogue is read once for all rows that are left over: there may be thousands.
// Owned by one explanation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "scheduling/packer.h"
#include "scheduling/prepared.h"
#include "scheduling/problem.h"

namespace karst::scheduling {

class Removals {
 public:
  // Both must outlive it; nothing may be placed meanwhile.
  Removals(Prepared& prepared, Packer& packer);

  // Fills types, offerings and removals of `reason`. Constraints that take nothing away are left
  // out.
  void count(std::size_t row, std::size_t pool, const Packer::Probe& probe, PoolReason& reason);
  // The labels of which too few values are left to the pod for the pool's minValues.
  std::vector<std::string> unmet_values(std::size_t row, std::size_t pool,
                                        const Packer::Probe& probe);

 private:
  // How much is lost.
  struct Lost {
    std::int64_t types = 0;
    std::int64_t offerings = 0;
  };
  // What types and offerings say of one label: each different set once, and which of them it is.
  struct Said {
    std::vector<const model::ValueSet*> sets;
    std::vector<std::size_t> types;  // kSaysNothing: nothing
    std::vector<std::size_t> offerings;
  };
  struct Catalogue {
    const PoolTable* table = nullptr;
    std::vector<std::size_t> first;  // by type: the first of its offerings, counted over all types
    std::int64_t offerings = 0;
    std::vector<Row> room;         // by offering, under the DaemonSets where the pool can use it
    std::vector<Removal> of_pool;  // what does not depend on the pod
    std::map<std::string, Said, std::less<>> labels;                 // by key
    std::map<std::pair<std::size_t, std::int64_t>, Lost> by_amount;  // column, and how much of it
  };
  void read(std::size_t pool);
  void read_room(std::size_t pool);
  void count_of_pool(std::size_t pool);
  const Said& said(Catalogue& catalogue, const std::string& key);
  Lost everything(const Catalogue& catalogue) const;
  template <class Keeps>
  Lost lost(const Catalogue& catalogue, const Keeps& keeps) const;
  void count_reservations(std::size_t pool);
  // Which of the sets of Said::sets are as wanted.
  using Meets = std::vector<char>;
  static bool is_met(const Said& said, const Meets& meets, std::size_t type, std::size_t at);
  static Meets overlaps(const Said& said, const std::string& key, const model::ValueSet& wanted);
  Lost by_label(Catalogue& catalogue, const std::string& key, const model::ValueSet& wanted);
  void remove_by_labels(Catalogue& catalogue, const std::string& whose,
                        const model::Requirements& wanted, std::vector<Removal>& removals);
  void remove_by_volumes(Catalogue& catalogue, const PodRow& pod, std::vector<Removal>& removals);
  void remove_by_topology(Catalogue& catalogue, std::size_t row, RequirementId strict,
                          std::vector<Removal>& removals);
  template <class Allows>
  Lost by_domain(Catalogue& catalogue, int key, bool needs_label, const Allows& allows);
  void remove_by_ports(Catalogue& catalogue, const PodRow& pod, std::vector<Removal>& removals);
  void remove_by_size(Catalogue& catalogue, const Row& request, std::vector<Removal>& removals);

  Prepared& prepared_;
  Packer& packer_;
  std::vector<Catalogue> catalogues_;  // by pool, read when first asked for
};

}  // namespace karst::scheduling
