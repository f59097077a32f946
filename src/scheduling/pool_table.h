// A pool of the problem, prepared: its template's requirements, the instance types that these
// leave, their room for pods under the pool's DaemonSets, and every available offering as one bit.
// Owned by one solve call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scheduling/bits.h"
#include "scheduling/columns.h"
#include "scheduling/problem.h"
#include "scheduling/requirement_table.h"

namespace karst::scheduling {

struct OfferRow {
  std::size_t offering = 0;  // index into the instance type's offerings
  std::int64_t price = 0;    // nano-dollars per hour
};

struct TypeRow {
  std::size_t type = 0;  // index into Pool::types
  model::Requirements requirements;
  Row overhead;                      // DaemonSet pods that will run there
  Row room;                          // allocatable less overhead
  std::vector<std::size_t> daemons;  // index into Problem::daemons
  std::vector<std::int64_t>
      limited;  // capacity of the resources that the pool limits, as PoolTable::limits
  std::size_t first_offer = 0;  // its offerings are the bits [first_offer, last_offer)
  std::size_t last_offer = 0;
  bool single_valued = true;  // every requirement is one value or DoesNotExist: masks may be and-ed
                              // without another look
};

class PoolTable {
 public:
  PoolTable(const Problem& problem, std::size_t pool, const Columns& columns,
            RequirementTable& requirements);

  std::size_t pool() const { return pool_; }  // index into Problem::pools
  const model::NodePool& spec() const { return source_->pool; }
  const InstanceType& source(const TypeRow& type) const { return source_->types[type.type]; }
  const Offering& source(const TypeRow& type, std::size_t bit) const {
    return source(type).offerings[offers_[bit].offering];
  }
  // Why this form cannot use the pool, which then has no types; empty: it can.
  const std::string& unsupported() const { return unsupported_; }
  RequirementId base() const { return base_; }                  // what every node of the pool has
  const std::vector<TypeRow>& types() const { return types_; }  // by name
  const std::vector<OfferRow>& offers() const { return offers_; }

  // The available offerings that `requirements` (which include the pool's own) leave.
  const Bits& offers_for(RequirementId requirements, const RequirementTable& table);
  // The same for two sets met: and-ed, with a second look at types where that is not exact.
  Bits offers_for_both(const Bits& a, const Bits& b, const model::Requirements& both) const;

  // The cheapest price among the type's bits in `mask`; nullopt when there is none.
  std::optional<std::int64_t> cheapest(const TypeRow& type, const Bits& mask) const;

  // What is left of the limits, resource by resource as TypeRow::limited; nullopt node_limit: none.
  std::vector<std::int64_t> remaining;
  std::optional<std::int64_t> nodes_remaining;
  bool is_limited() const { return !remaining.empty() || nodes_remaining.has_value(); }
  // The limits leave room for one more node of this type, when `held` of them is given back first.
  bool within_limits(const TypeRow& type, const std::vector<std::int64_t>& held) const;

 private:
  void add_type(const Problem& problem, std::size_t type, const Columns& columns,
                const model::Requirements& base, const RequirementTable& table);
  void read_limits();

  std::size_t pool_;
  const Pool* source_;
  RequirementId base_ = 0;
  std::string unsupported_;
  std::vector<std::string> limited_names_;
  std::vector<TypeRow> types_;
  std::vector<OfferRow> offers_;
  std::map<RequirementId, Bits> masks_;
};

// The label that says which node class a node came from: key "<group>/<kind in lower case>".
std::pair<std::string, std::string> node_class_label(const model::NodeClassRef& ref);

// The labels that every node of the pool has: template, pool and node class.
model::Labels pool_labels(const model::NodePool& pool);

// A pool that may get new nodes on its own: not static, not being deleted.
bool is_dynamic(const model::NodePool& pool);

}  // namespace karst::scheduling
