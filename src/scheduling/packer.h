// Places pods one after the other: onto existing nodes, into claims opened before, into new claims;
// preferences are given up stage by stage. One Packer is one attempt under one strategy; it changes
// nothing of what was prepared but its caches. Work is bounded: every pod looks at each node and
// claim at most once per stage and round, and a round that places nothing is the last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduling/claim_queue.h"
#include "scheduling/prepared.h"
#include "scheduling/reservations.h"
#include "scheduling/strategy.h"

namespace karst::scheduling {

inline constexpr std::size_t kNarrowingsMax = 256;  // combinations of domains tried for one pod
inline constexpr std::size_t kNone = SIZE_MAX;
// Claims that would become dearer, looked at for one pod.
inline constexpr std::size_t kDearerLooksMax = 16;
// Pods after each of which those in trouble are tried again; later rows are placed as a whole.
inline constexpr std::size_t kStepsMax = 5'000;

// Nodes and claims to look at for those in trouble between two others; then they wait their turn.
inline constexpr std::size_t kTroubledWorkMax = 500'000;
// Nodes and claims looked at for who brings company, and copied for each place that is tried.
inline constexpr std::size_t kCompanyWorkMax = 20'000;
// Rows that one keeps away or that keep it away; more are not thought of.
inline constexpr std::size_t kRivalsMax = 128;

// Whether somebody is let in by pods of the group whose domain is decided.
inline bool goes_by_sure(const TopologyGroup& group) {
  return group.key != kHostKey && (group.is_spread || group.attracts);
}

// Nothing is left to choose: every key that somebody asks for has one domain.
inline bool has_one_domain_each(const Topology& topology, const View& view) {
  for (std::size_t key = 0; key < view.domains.size(); ++key)
    if (topology.is_key_asked(key) &&
        (view.domains[key].size() != 1 || view.is_unlabelled[key] != 0))
      return false;
  return true;
}

struct Claim {
  std::size_t pool = 0;  // index into PoolTables::pools
  const View* view = nullptr;
  std::size_t machine = 0;  // the cheapest of the view that fits; what the limits hold for it
  Row content;
  std::int64_t pods = 0;
  std::vector<Share> shares;  // Share::group is an index into Prepared::rows
  std::vector<model::HostPort> ports;
  std::vector<std::string> volumes;  // shared ones, mounted here
  bool is_reserved = false;
  std::vector<std::int64_t> held;   // of the pool's limits
  bool min_values_relaxed = false;  // from the start
  std::vector<int> counted_keys;    // topology keys of groups that count pods of it
  std::vector<Turn> waiting;        // turns to be told once its domains are decided
};

class Packer {
 public:
  Packer(Prepared& prepared, Strategy strategy);
  void run();

  const std::vector<Claim>& claims() const { return claims_; }
  const std::vector<Turn>& order() const { return order_; }  // groups as rows
  Reservations& reservations() { return reservations_; }
  const std::vector<std::int64_t>& left() const { return left_; }  // pods not placed, by row
  bool deferred(std::size_t row) const { return deferred_[row]; }
  const std::vector<std::vector<std::int64_t>>& limits_left() const { return limits_; }
  std::int64_t nodes_left(std::size_t pool) const { return nodes_left_[pool]; }
  std::int64_t price() const;

  // Domains that its claims have decided on.
  const std::vector<Made>& made() const { return made_; }
  // A claim under that view would be where no claim is, over a key that somebody's spread goes by,
  // and spreads count what is made.
  bool would_add_domain(const View& view) const;
  // Pods of the row that have a place, and could not be bound there once every claim is a node: a
  // claim that came later is in a domain that their spread did not count yet.
  std::int64_t held_up(std::size_t row) const;
  // What a spread of the row counts now.
  std::vector<int> counted_domains(GroupId group, const PodRow& row) const;

  // For reasons: the state as it is at the end.
  const Counts& counts() const { return counts_; }
  // What keeps a pod of the row off a new claim of this pool once its preferences are given up: the
  // furthest that any of its ways gets.
  enum class Obstacle {
    kNoTypes,
    kNodeLimit,
    kLimit,
    kTaints,
    kRequirements,
    kVolumes,
    kTopology,
    kMachines,
    kMinValues,
    kReserved,
    kNothing
  };
  struct Probe {
    Obstacle obstacle = Obstacle::kNoTypes;
    RequirementId strict = kImpossible;    // the way; kImpossible: there is none
    RequirementId together = kImpossible;  // pool and pod, as far as they go together
  };
  Probe probe(std::size_t row, std::size_t pool);
  // Whether the machine has room for `sum`, its pool's limits for the machine, and the ports are
  // free: on a new claim (nullptr), or on that one beside the row's pod.
  bool machine_fits(const Claim* claim, const PoolTable& table, const View& view,
                    const Machine& machine, const PodRow& row, const Row& sum) const;
  // After kTopology: what cannot be met beside what comes before it.
  struct Blocking {
    ConstraintKind kind = ConstraintKind::kAntiAffinity;
    GroupId group = 0;
    bool is_anothers = false;  // somebody else's anti-affinity keeps the pod away
  };
  Blocking blocking(std::size_t row, std::size_t pool, const Probe& probe);
  // Whether the constraint by itself lets a pod of the row be in the domain; over hosts: on a new
  // one.
  bool allows(std::size_t row, const Constraint& constraint, RequirementId strict, int domain);
  // Places one pod of this row, if it can.
  bool place_only(std::size_t row) { return place_one(row); }
  // Places one there and nowhere else. A Packer that was filled so is at its
  // end after place_the_rest(), which places whoever it still can.
  struct Target {
    enum class Kind { kNode, kClaim, kNewClaim };
    Kind kind = Kind::kNode;
    std::size_t index = 0;  // into Problem::nodes, claims(), PoolTables::pools
  };
  // `nth`: under the next best domains, counted from 0, where spreads or affinities leave a choice.
  bool place_at(std::size_t row, const Target& target, std::size_t nth = 0);
  void place_the_rest();
  // For who made them cheaper: the same pods on other claims, and what limits leave beside those.
  // It is at its end then.
  void replace(std::vector<Claim> claims, std::vector<Turn> order,
               std::vector<std::vector<std::int64_t>> limits,
               std::vector<std::int64_t> nodes_left) {
    claims_ = std::move(claims);
    order_ = std::move(order);
    limits_ = std::move(limits);
    nodes_left_ = std::move(nodes_left);
  }
  // Some were placed by what the fewest pods on the hosts are that there are in the end: with other
  // hosts they could not stay.
  bool leans_on_hosts() const { return leans_on_hosts_; }

 private:
  // What pods use of a node beside its room.
  struct InUse {
    std::vector<model::HostPort> ports;
    std::vector<std::string> volumes;
  };
  // A place found for a pod on a claim, old or new.
  struct Fit {
    std::size_t pool = 0;
    const View* view = nullptr;
    std::size_t machine = kNone;
    std::int64_t price = 0;
    bool is_reserved = false;
    std::vector<int> reservations;   // that it may use, one of them
    bool needs_all = false;          // not one: all of them
    std::vector<std::int64_t> hold;  // of the pool's limits
    bool min_values_relaxed = false;
  };
  // The fewest pods of a group in any of the domains that count, as of so many changes of the
  // counts; for a row where those are its own.
  struct Low {
    std::uint64_t changes = 0;
    std::size_t row = kNone;
    std::int32_t pods = 0;
    int domains = 0;
  };
  enum class Found { kYes, kNo, kReservedOut };
  bool place_on_new(std::size_t row, Found found, const Fit& fit);

  // packer.cc
  bool spreads_over_hosts(const PodRow& row) const;
  std::vector<std::size_t> order_of_rows() const;
  void place_rounds(const std::vector<std::size_t>& order);
  bool place_row(std::size_t row);
  bool place_in_steps(std::size_t row);
  void try_troubled(std::size_t but_for);
  bool place_one(std::size_t row);
  void settle_hosts(std::vector<std::size_t> order);
  void finish();
  void finish_order();
  bool has_no_ties(const PodRow& row) const;
  bool place_on_claim(std::size_t row, const Stage& stage);
  bool place_emptiest(std::size_t row, const Stage& stage);
  bool place_cheapest(std::size_t row, const Stage& stage);
  bool may_share_lane(const View& view, const PodRow& row, const Stage& stage);
  void refuse(const ClaimQueue::First& first, const PodRow& row, const Stage& stage);
  std::int64_t least_growth(const Claim& claim, const Row& request, std::int64_t most);
  void queue_claims(std::size_t row, const Stage& stage);
  void queue_claim(std::size_t at);
  void note_slack(std::size_t at);
  void queue_if_larger(std::size_t at, const Row& request, std::int64_t most);
  void queue_dearer(std::int64_t most, const PodRow& row, const Stage& stage);
  bool place_as_planned(std::size_t row, const Stage& stage);
  bool find_at(std::size_t row, const Stage& stage, const Target& target, Fit& fit);

  // packer_company.cc
  void note_company(std::size_t troubled, GroupId group);
  bool place_with_company(std::size_t row);
  bool would_place(std::size_t row, const Target& target, std::size_t nth);
  bool is_beside(std::size_t row, int host) const;
  Target beside(const Target& target) const;
  std::int64_t place_followers(const Target& target);

  // packer_nodes.cc
  bool place_on_node(std::size_t row, const Stage& stage);
  void note_most_free();
  std::size_t next_with_room(std::size_t row, std::size_t at) const;
  std::size_t node_count() const { return prepared_.problem.nodes.size(); }
  std::int64_t* room_of(std::size_t node);
  InUse& in_use(std::size_t node);
  void put_on_node(std::size_t row, std::size_t node);
  void count_on_node(std::size_t row, std::size_t node);
  bool node_takes(std::size_t row, const Stage& stage, std::size_t node);
  bool has_volumes_left(const PodRow& pod, std::size_t node);
  // What a spread or an anti-affinity over domains says of existing nodes, by domain; for as long
  // as nothing is placed.
  enum class Verdict : std::int8_t { kUnknown, kNo, kYes };
  struct Asked {
    const Constraint* constraint = nullptr;
    int key = 0;
    std::size_t first = 0;  // into verdicts_: of its domain 0
  };
  void forget_verdicts(const Stage& stage);
  bool is_out(const PodRow& row, std::size_t node);

  // claim_fit.cc
  bool fits_claim(const Claim& claim, std::size_t row, const Stage& stage, Fit& fit);
  Found fits_new(std::size_t row, const Stage& stage, Fit& fit);
  Found fits_pool(std::size_t pool, std::size_t row, const Stage& stage, Fit& fit);
  bool gives_up_reserved(std::size_t pool, RequirementId wanted, const PodRow& row,
                         const Stage& stage, const Row& sum, const Fit& fit);
  Found find_machine(const Claim* claim, std::size_t pool, const View& view, const PodRow& row,
                     const Row& sum, Fit& fit);
  Found find_reserved(const Claim* claim, const PoolTable& table, const View& view,
                      const PodRow& row, const Row& sum, bool minded, Fit& fit);
  bool choose_reservations(const Claim* claim, const PoolTable& table, const View& view,
                           const std::vector<std::size_t>& fitting, Fit& fit);
  std::size_t number_of(const Claim* claim) const;
  std::size_t cheapest_machine(const Claim* claim, const PoolTable& table, const View& view,
                               const PodRow& row, const Row& sum);
  std::size_t first_step(const Claim* claim, const View& view, const Row& content,
                         const Row& request, std::size_t from, std::size_t to);
  bool meets_min_values(const Claim* claim, const PoolTable& table, const View& view,
                        const PodRow& row, const Row& sum, Fit& fit);
  void sum_with(const Claim* claim, const PodRow& row, Row& sum) const;
  void join(std::size_t claim, std::size_t row, const Fit& fit);
  void open(std::size_t row, const Fit& fit);
  void tell(std::size_t claim, std::size_t row);
  void tell_waiting(std::size_t claim);

  // packer_wishes.cc
  void note_wishes();
  Wish wish_of(const PodRow& row, GroupId group);
  void add_rival(std::size_t row, const Wish& wish);
  void note_wish(std::size_t troubled, const Constraint& constraint,
                 const std::vector<Wish>& rivals);
  void note_balance(std::size_t troubled, const Constraint& constraint);
  void note_rivals();
  std::vector<int> turns_for_troubled() const;
  std::int64_t contested(const PodRow& row, int key, int domain) const;
  bool is_meant(const Wish& wish, int domain) const;
  bool would_do(const Wish& wish, int domain) const;
  const Wish* open_wish(const PodRow& row, int key) const;
  bool wishes_allow(const PodRow& row, std::size_t node) const;

  // packer_lowest.cc
  std::int32_t lowest(const Constraint& constraint, const PodRow& row, RequirementId strict);
  std::int32_t lowest_of_way(const Constraint& constraint, RequirementId strict) const;
  std::int32_t lowest_host(const Constraint& constraint);
  Low look_at_hosts(GroupId group);
  Low look_at_domains(GroupId group, const PodRow& row) const;

  // packer_made.cc
  std::vector<int> made_elsewhere(GroupId group, const std::vector<int>& reach) const;
  bool counts_elsewhere(GroupId group, const Made& made, const std::vector<int>& reach) const;
  std::map<int, std::int64_t> placed_by_domain(std::size_t row, int key) const;
  void note_made(const Claim& claim);

  // domain_choice.cc
  bool host_allows(const PodRow& row, const Stage& stage, int host, RequirementId strict);
  bool node_topology_allows(const PodRow& row, const Stage& stage, std::size_t node,
                            RequirementId strict);
  bool choose_domains(const Claim* claim, std::size_t pool, RequirementId base, const PodRow& row,
                      const Stage& stage, RequirementId strict, std::vector<RequirementId>& out);
  // `strict`: the alternative of the pod that is tried; kAnyWay: whichever lets it in.
  static constexpr RequirementId kAnyWay = kImpossible;
  bool domain_allowed(const Claim* claim, const Constraint& constraint, const PodRow& row,
                      RequirementId strict, int domain);
  // Domains of one key that a claim may be narrowed to: to all of them together, or to one, the
  // best first. Scratch space, kept from pod to pod.
  struct Domains {
    std::vector<int> domains;
    bool one_each = false;
  };
  struct Rank {
    std::int64_t pods = 0, contested = 0, price = 0;
    std::size_t machines = 0;
    std::string_view name;
    int domain = 0;
  };
  void domains_for(const Claim* claim, std::size_t pool, RequirementId base, const PodRow& row,
                   const Stage& stage, RequirementId strict, int key, bool fix);
  void one_by_one(const Claim* claim, std::size_t pool, RequirementId base, const PodRow& row,
                  int key);
  void narrow(RequirementId base, int key, std::size_t has, bool is_sure,
              std::vector<RequirementId>& next);
  void note_keys(const Claim* claim, const PodRow& row, const Stage& stage, bool has_turn);
  bool stays_where_it_is(const View& view, const PodRow& row, const Stage& stage,
                         RequirementId strict);
  bool may_be_first(const Constraint& constraint, RequirementId strict) const;
  bool goes_before_others(const Stage& stage, RequirementId strict) const;
  std::int32_t waiting_matches(const Claim* claim, GroupId group);
  void count(std::size_t claim, std::size_t row, std::int32_t sign);
  void count_told(std::size_t claim, std::size_t row, std::int32_t sign);
  void count_all(std::size_t claim, std::int32_t sign);
  RequirementId in_domain(int key, int domain);
  RequirementId in_one_of(int key, const std::vector<int>& domains);

  Prepared& prepared_;
  Strategy strategy_;
  std::map<std::size_t, InUse> in_use_;  // by node; of those that were asked about
  // The nodes' room, in the order in which they are tried, side by side; and of so many of them
  // after the other no less than the most that one has.
  static constexpr std::size_t kBlockNodes = 32;
  std::vector<std::int64_t> free_;
  std::vector<std::int64_t> most_free_;
  Row nothing_;
  Row content_and_limits_, request_and_limits_;  // of first_step
  std::vector<Claim> claims_;
  ClaimQueue queue_;  // of pods of the size of this row, as they are at this stage:
  std::size_t queued_row_ = kNone;
  const Stage* queued_stage_ = nullptr;
  std::vector<Made> made_;
  // Claims that may become larger are in the queue when that costs up to so much; of the others
  // those that were looked at, with what it costs at least.
  std::int64_t dearer_up_to_ = INT64_MIN;
  std::vector<ClaimQueue::Entry> put_off_;
  std::vector<std::int64_t> slack_;        // by claim and column: room that its machine has left
  std::vector<std::int64_t> next_growth_;  // by claim: what the next machine costs more
  Counts counts_;
  Reservations reservations_;
  std::vector<std::vector<std::int64_t>> limits_;  // what is left, by pool
  std::vector<std::int64_t> nodes_left_;           // by pool, where nodes are limited
  std::vector<std::int64_t> left_;
  std::vector<std::size_t> first_node_;  // by row: where to begin in the order of nodes
  std::vector<bool> deferred_;
  std::vector<Turn> order_;
  // Nobody gets a new claim any more: hosts are those that there are.
  bool hosts_are_final_ = false;
  bool leans_on_hosts_ = false;
  std::uint64_t changes_ = 1;
  std::vector<Low> lows_;  // by group
  // By row, for the sake of those in trouble: keys whose domain is chosen at once, rows that want
  // to be beside it, and rows that it keeps away or that keep it away.
  std::vector<std::vector<int>> fixed_keys_;
  std::vector<std::vector<Wish>> wishes_;
  std::vector<std::vector<Wish>> rivals_;
  // By row: spreads of those in trouble that it keeps, and whether it is placed pod by pod, so that
  // those can go where its pods let them before the next one comes.
  std::vector<std::vector<Balance>> balances_;
  std::vector<bool> in_steps_;
  std::size_t steps_ = 0;
  std::size_t troubled_work_ = 0;
  std::vector<std::vector<std::size_t>> company_;  // by row: those in trouble that follow its hosts
  std::size_t company_work_ = 0;
  std::size_t skip_ = 0;     // choices of domains that would do, to be passed over
  std::size_t planned_ = 0;  // pods that the plan was asked about
  std::vector<std::vector<RequirementId>> in_domain_;                 // by key and domain
  std::vector<std::map<std::vector<int>, RequirementId>> in_one_of_;  // by key
  // Scratch space: nothing is allocated for a claim that is looked at.
  std::vector<RequirementId> narrowed_, narrowed_new_, next_narrowed_;
  Row sum_, sum_new_, sum_ranked_, more_volumes_;
  Domains choice_;
  std::vector<int> keys_;
  std::vector<const GroupCounts*> spreads_;
  std::vector<Rank> ranks_;
  std::vector<Asked> asked_;
  std::vector<Verdict> verdicts_;
};

}  // namespace karst::scheduling
