// A pool of the problem, prepared: its template's requirements, the instance types that these
// leave, and per set of requirements a View: what a node of this pool under these requirements
// could be, cheapest first, with its room under the DaemonSets that would run there. Owned by one
// solve call; views are made when asked for and live as long as the table.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "scheduling/columns.h"
#include "scheduling/problem.h"
#include "scheduling/requirement_table.h"
#include "scheduling/room_bits.h"

namespace karst::scheduling {

inline constexpr int kNotReserved = -1;

// DaemonSets that run on a machine, and what they take.
struct Overhead {
  std::vector<std::size_t> daemons;  // indices into Problem::daemons
  Row amounts;
};

// A kind of node to be had: an instance type with one size and, where reserved, one reservation.
// What it has several of lies in its view, beside that of the other machines.
struct Machine {
  std::size_t type = 0;                   // index into PoolTable::types
  int reservation = kNotReserved;         // index into PoolTables::reservations
  std::int64_t price = 0;                 // of its cheapest offering in the view
  std::span<const std::uint32_t> offers;  // indices into the type's offers
  const Overhead* overhead = nullptr;
  Amounts room;  // allocatable less overhead; what can be attached
};

// An hour of a machine, 10,000 dollars: what is said to cost more ("never this one") counts as so
// much, so that the sum over 900,000 claims stays below 2^63.
inline constexpr std::int64_t kPriceNanosMax = 10'000'000'000'000;

struct View {
  View() = default;
  View(View&&) = default;  // a copy's machines would refer to this one

  std::size_t index = 0;  // PoolTables::view_at() gives it
  std::size_t pool = 0;   // index into PoolTables::pools
  RequirementId requirements = 0;
  std::vector<Machine> machines;  // by price, then type name, then reservation
  // What these refer to, theirs one after the other.
  std::vector<std::uint32_t> offers;
  std::vector<std::int64_t> rooms;
  std::deque<Overhead> overheads;
  // Machines not reserved that no other of them has as much room as in every column: whether
  // something fits at all is decided by these.
  std::vector<std::size_t> largest;
  // Machines not reserved that no cheaper one of them has as much room as, for as little of what
  // the pool limits: the cheapest that fits, whatever is asked and left, is one of these. By price.
  std::vector<std::size_t> steps;
  std::vector<std::int64_t> step_prices;
  // Of steps: their room, then, where the pool has limits, kUnlimited less what each counts there:
  // as much as is left of the others' limits, seen from the other side.
  Rooms step_rooms;
  bool has_reserved = false;
  bool daemons_use_ports = false;
  // By topology key (index as Topology's keys): the values that a node may get, sorted.
  std::vector<std::vector<int>> domains;
  // By topology key: some machine has no such label, while another has; then a node is in a domain
  // only if it is demanded.
  std::vector<char> is_unlabelled;
};

struct OfferRow {
  std::size_t offering = 0;  // index into InstanceType::offerings
  const model::Requirements& demands;
  std::size_t demand = 0;  // TypeList::demand()
  std::size_t place = 0;   // into TypeList::offers()
  int reservation = kNotReserved;
};

struct TypeRow {
  std::size_t type = 0;  // index into Pool::types
  const model::Requirements& requirements;
  std::vector<std::int64_t> limited;  // capacity of what the pool limits, as PoolTable::remaining
  std::vector<OfferRow> offers;       // available ones
  // By PoolTable::min_values: the values that it adds to each.
  std::vector<std::vector<std::string>> counted;
};

struct PoolTable {
  std::size_t pool = 0;  // index into Problem::pools
  const Pool* source = nullptr;
  RequirementId base = 0;      // what every node of the pool has
  bool possible = true;        // its own requirements do not exclude each other
  std::vector<TypeRow> types;  // by name; those that the pool's requirements leave
  std::vector<std::string> limited_names;
  // What is left of the limits, resource by resource, at the start. Those that cannot be reached
  // are left out.
  std::vector<std::int64_t> remaining;
  bool limits_nodes = false;
  std::int64_t nodes_remaining = 0;
  std::vector<std::pair<std::string, int>> min_values;  // by label key

  const model::NodePool& spec() const { return source->pool; }
  const InstanceType& type(const Machine& machine) const {
    return source->types[types[machine.type].type];
  }
  bool is_limited() const { return !remaining.empty(); }  // by what its machines have
  bool has_limits() const { return is_limited() || limits_nodes; }
};

// Domains of topology keys as numbers; grows as values are met.
class DomainNames {
 public:
  // The keys, without hostname, which is not a matter of values.
  std::vector<std::string> keys;
  int id(std::size_t key, const std::string& value);
  const std::string& name(std::size_t key, int domain) const {
    return names_[key][static_cast<std::size_t>(domain)];
  }
  std::size_t size(std::size_t key) const { return names_.size() > key ? names_[key].size() : 0; }

 private:
  std::vector<std::map<std::string, int, std::less<>>> ids_;
  std::vector<std::deque<std::string>> names_;  // what name() gives stays where it is
};

// Which limits of pools are looked at: all that many of the largest machines could reach; or, of
// these, only those that a few of them could: who asks so has to check the answer.
enum class FarLimits { kLookedAt, kChecked };
// Limits are far when so many times fewer machines than there are pods keep them.
inline constexpr std::int64_t kFarLimitsFactor = 16;

class PoolTables {
 public:
  PoolTables(const Problem& problem, const Columns& columns, RequirementTable& requirements,
             DomainNames& domains, FarLimits far_limits);

  // In the order of asking: weight descending, then name descending.
  const std::vector<PoolTable>& pools() const { return pools_; }
  const View& view(std::size_t pool, RequirementId requirements);
  const View& view_at(std::size_t index) const { return views_[index]; }
  // Of the view's machines; made when it is first asked for.
  const RoomBits& room_bits(const View& view);
  // Machines of the view that hold such a pod alone, and the least price of one. Asked often, so
  // remembered by the size class.
  struct Fitting {
    std::int64_t price = INT64_MAX;
    std::size_t machines = 0;
    bool is_known = false;
  };
  const Fitting& fitting(const View& view, std::size_t size_class, const Row& request);

  struct Reservation {
    std::string id;
    std::int64_t capacity = 0;  // the least that any offering says
  };
  const std::vector<Reservation>& reservations() const { return reservations_; }
  // DaemonSets (indices into Problem::daemons) that nodes of the pool under these requirements may
  // have, and what they demand that fits the requirements.
  using DaemonDemands = std::vector<std::pair<std::size_t, RequirementId>>;
  DaemonDemands daemons_under(const PoolTable& table, RequirementId requirements) const;
  // Which of them run on such a machine.
  std::vector<std::size_t> daemons_on(const TypeRow& type, const DaemonDemands& daemons) const;
  Row overhead_of(const std::vector<std::size_t>& daemons) const;

  // So much less of the pool's limits (an index into Problem::pools) is used up: one node's;
  // negative `nodes`: as much more.
  void give_back(std::size_t pool, const model::Resources& capacity, std::int64_t nodes);
  // Limits were left out that could be reached.
  bool must_check_limits() const { return must_check_limits_; }

 private:
  // What machines of a view will refer to, while they are looked for.
  struct Draft {
    enum class Allowed : char { kUnknown, kNo, kYes };
    std::vector<Allowed> allowed;  // by TypeList::demand()
    std::vector<std::uint32_t> offers;
    std::vector<std::size_t> counts;  // of offers, by machine
    std::vector<std::int64_t> rooms;
    // Of one type: by offer the machine, by machine its first offer.
    std::vector<std::size_t> machine_of, firsts;
  };
  void add_pool(std::size_t pool);
  void add_type(PoolTable& table, std::size_t type, const model::Requirements& base);
  void drop_far_limits(PoolTable& table);
  void note_reservations();
  int reservation_of(const Offering& offering) const;
  View make_view(const PoolTable& table, RequirementId requirements);
  bool allows(const model::Requirements& wanted, const OfferRow& offer);
  void add_machines(const PoolTable& table, std::size_t type, const model::Requirements& wanted,
                    const DaemonDemands& daemons, View& view);
  const Overhead& overhead_in(View& view, std::vector<std::size_t> daemons) const;
  void lay_out(View& view);
  void add_domains(const PoolTable& table, const model::Requirements& wanted, View& view);

  const Problem& problem_;
  const Columns& columns_;
  RequirementTable& requirements_;
  DomainNames& domains_;
  FarLimits far_limits_;
  bool must_check_limits_ = false;
  Draft draft_;
  std::vector<PoolTable> pools_;
  std::vector<Reservation> reservations_;  // by id
  std::deque<View> views_;
  std::map<std::size_t, RoomBits> room_bits_;   // by view
  std::vector<std::vector<Fitting>> fittings_;  // by view and size class
  // order never shows: look-ups only, by pool
  std::vector<boost::unordered_flat_map<RequirementId, const View*>> view_of_;
};

// Takes from a machine's room what its DaemonSets need. One too small for its own DaemonSets has no
// room for any pod.
void take_overhead(const Row& overhead, Row& room);

// The label that says which node class a node came from: key "<group>/<kind in lower case>".
std::pair<std::string, std::string> node_class_label(const model::NodeClassRef& ref);

// The values of a label that count for minValues: the type's own, or where it says nothing those of
// its available offerings.
std::vector<std::string> values_counted(const TypeList& types, std::size_t type,
                                        std::string_view key);

// The labels that every node of the pool has: template, pool and node class.
model::Labels pool_labels(const model::NodePool& pool);

// A pool that may get new nodes on its own: not static, not being deleted.
bool is_dynamic(const model::NodePool& pool);

}  // namespace karst::scheduling
