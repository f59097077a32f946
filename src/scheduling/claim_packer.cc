#include "scheduling/claim_packer.h"

#include <algorithm>
#include <tuple>

#include "base/check.h"

namespace karst::scheduling {
namespace {

Row room_beside(const TypeRow& type, const Row& content) {
  Row room = type.room;
  add_times(room, content, -1);
  return room;
}

// The price of serving all of `demand` with nodes of this room, as if nodes could be bought in
// parts.
Wide cost_of(std::int64_t price, const Row& room, const Row& request, const Row& demand,
             std::int64_t count, std::int64_t each) {
  Wide cost = (static_cast<Wide>(price) * count + each - 1) / each;
  for (std::size_t i = 0; i < request.size(); ++i)
    if (request[i] > 0)
      cost = std::max(cost, (static_cast<Wide>(price) * demand[i] + room[i] - 1) / room[i]);
  return std::max<Wide>(cost, price);
}

}  // namespace

ClaimPacker::ClaimPacker(const Problem& problem, RequirementTable& requirements,
                         std::vector<PoolTable>& pools, const std::vector<GroupRow>& groups,
                         std::vector<std::int64_t>& left)
    : problem_(problem),
      requirements_(requirements),
      pools_(pools),
      groups_(groups),
      left_(left),
      ways_(groups.size(), std::vector<std::optional<std::vector<Way>>>(pools.size())) {
  make_demand();
}

const std::vector<ClaimPacker::Way>& ClaimPacker::ways(std::size_t group, std::size_t pool) {
  auto& known = ways_[group][pool];
  if (known) return *known;
  known.emplace();
  const GroupRow& row = groups_[group];
  const auto& taints = pools_[pool].spec().taints;
  if (model::first_untolerated(taints, row.source->shape.tolerations) != nullptr) return *known;
  for (const RequirementId wanted : row.alternatives)
    if (const auto both = requirements_.combine(pools_[pool].base(), wanted))
      known->push_back({wanted, *both});
  return *known;
}

Bits ClaimPacker::offers_for(const Way& way, std::size_t group, std::size_t pool) {
  Bits offers = pools_[pool].offers_for(way.with_pool, requirements_);
  const auto& ports = groups_[group].source->shape.host_ports;
  if (ports.empty()) return offers;
  for (const TypeRow& type : pools_[pool].types())
    for (const std::size_t daemon : type.daemons)
      if (ports_conflict(ports, problem_.daemons[daemon].shape.host_ports))
        for (std::size_t bit = type.first_offer; bit < type.last_offer; ++bit) offers.clear(bit);
  return offers;
}

void ClaimPacker::make_demand() {
  std::vector<Row> requests;
  for (const GroupRow& group : groups_) requests.push_back(group.request);
  for (std::size_t pool = 0; pool < pools_.size(); ++pool) {
    std::vector<Bits> offers;
    for (std::size_t group = 0; group < groups_.size(); ++group) {
      Bits all(pools_[pool].offers().size());
      if (groups_[group].unsupported.empty())
        for (const Way& way : ways(group, pool)) all |= offers_for(way, group, pool);
      offers.push_back(std::move(all));
    }
    demand_.emplace_back(offers, requests, left_);
  }
}

std::int64_t ClaimPacker::most_per_node(std::size_t group) const {
  const std::int64_t most = groups_[group].per_node;
  return most > 0 ? std::min(most, left_[group]) : left_[group];
}

bool ClaimPacker::meets_conflict(const ClaimRow& row, std::size_t group) const {
  if (!groups_[group].has_conflicts) return false;
  for (const Share& share : row.shares)
    if (groups_[share.group].has_conflicts &&
        conflicts(*groups_[share.group].source, *groups_[group].source))
      return true;
  return false;
}

void ClaimPacker::note_placed(std::size_t group, std::int64_t count) {
  left_[group] -= count;
  for (Demand& demand : demand_) demand.placed(group, groups_[group].request, count);
}

void ClaimPacker::place(std::size_t group) {
  alone_cost_.reset();
  fill(group, false);
  open(group);
  fill(group, true);
}

void ClaimPacker::fill(std::size_t group, bool grow) {
  for (std::size_t row = 0; row < rows_.size() && left_[group] > 0; ++row)
    if (const auto join = try_join(rows_[row], group, grow)) apply(row, group, *join);
}

std::optional<ClaimPacker::Join> ClaimPacker::try_join(const ClaimRow& row, std::size_t group,
                                                       bool grow) {
  const PoolTable& pool = pools_[row.pool];
  const Row& request = groups_[group].request;
  const Row room = room_beside(pool.types()[row.target], row.content);
  if (!grow && fit_count(room, request, 1) == 0) return std::nullopt;
  if (meets_conflict(row, group)) return std::nullopt;
  for (const Way& way : ways(group, row.pool)) {
    const auto both = requirements_.combine(row.requirements, way.alternative);
    if (!both) continue;
    Join join;
    join.requirements = *both;
    join.offers =
        pool.offers_for_both(row.offers, offers_for(way, group, row.pool), requirements_.at(*both));
    if (keeps_target(row, group, join) || finds_target(row, group, grow, join)) return join;
  }
  return std::nullopt;
}

// More pods in the room of the same type, if that does not become dearer than new nodes would be.
bool ClaimPacker::keeps_target(const ClaimRow& row, std::size_t group, Join& join) {
  const PoolTable& pool = pools_[row.pool];
  const TypeRow& type = pool.types()[row.target];
  const auto price = pool.cheapest(type, join.offers);
  if (!price || !pool.within_limits(type, row.held)) return false;
  join.target = row.target;
  join.each =
      fit_count(room_beside(type, row.content), groups_[group].request, most_per_node(group));
  return join.each > 0 &&
         worth(static_cast<Wide>(*price) - *pool.cheapest(type, row.offers), join.each, group);
}

// Another type that holds the content and more pods: the most pods, then the lowest price. When
// `grow`, at any price.
bool ClaimPacker::finds_target(const ClaimRow& row, std::size_t group, bool grow, Join& join) {
  const PoolTable& pool = pools_[row.pool];
  const std::int64_t price_before = pool.cheapest(pool.types()[row.target], row.offers).value_or(0);
  join.each = 0;
  std::int64_t best_price = 0;
  for (std::size_t i = 0; i < pool.types().size(); ++i) {
    const TypeRow& type = pool.types()[i];
    const auto price = pool.cheapest(type, join.offers);
    if (!price || !pool.within_limits(type, row.held)) continue;
    if (fit_count(type.room, row.content, 1) == 0) continue;
    const std::int64_t each =
        fit_count(room_beside(type, row.content), groups_[group].request, most_per_node(group));
    if (each < join.each || each == 0 || (each == join.each && *price >= best_price)) continue;
    if (!grow && !worth(static_cast<Wide>(*price) - price_before, each, group)) continue;
    join.target = i;
    join.each = each;
    best_price = *price;
  }
  return join.each > 0;
}

// Whether `count` more pods are worth a claim that is dearer by this much: not more than they would
// cost on their own.
bool ClaimPacker::worth(Wide dearer, std::int64_t count, std::size_t group) {
  if (dearer <= 0) return true;
  if (!alone_cost_) {
    alone_cost_ = 0;
    Row demand(groups_[group].request.size(), 0);
    add_times(demand, groups_[group].request, left_[group]);
    for (std::size_t pool = 0; pool < pools_.size() && *alone_cost_ == 0; ++pool)
      for (const Way& way : ways(group, pool))
        if (const auto choice = choose(group, pool, offers_for(way, group, pool), demand)) {
          alone_cost_ = choice->cost;
          break;
        }
  }
  return dearer * left_[group] <= *alone_cost_ * count;
}

void ClaimPacker::apply(std::size_t at, std::size_t group, const Join& join) {
  const std::int64_t copies = std::min(rows_[at].copies, left_[group] / join.each);
  KARST_CHECK(copies > 0, "a join places at most what is left");
  if (copies < rows_[at].copies) {
    ClaimRow rest = rows_[at];
    rest.copies -= copies;
    rows_.insert(rows_.begin() + static_cast<std::ptrdiff_t>(at) + 1, std::move(rest));
  }
  ClaimRow& row = rows_[at];
  row.copies = copies;
  row.requirements = join.requirements;
  row.offers = join.offers;
  row.target = join.target;
  add_times(row.content, groups_[group].request, join.each);
  const bool known = !row.shares.empty() && row.shares.back().group == group;
  if (known)
    row.shares.back().count += join.each;
  else
    row.shares.push_back({group, join.each});
  hold(row);
  note_placed(group, copies * join.each);
}

// Reserves the capacity of the type that the content needs at least; what is over is handed out
// when the types are listed.
void ClaimPacker::hold(ClaimRow& row) {
  PoolTable& pool = pools_[row.pool];
  if (!pool.is_limited()) return;
  const TypeRow* best = nullptr;
  std::int64_t best_price = 0;
  for (const TypeRow& type : pool.types()) {
    const auto price = pool.cheapest(type, row.offers);
    if (!price || (best != nullptr && *price >= best_price)) continue;
    if (!pool.within_limits(type, row.held) || fit_count(type.room, row.content, 1) == 0) continue;
    best = &type;
    best_price = *price;
  }
  KARST_CHECK(best != nullptr, "a claim keeps a type that fits and that the limits allow");
  for (std::size_t i = 0; i < pool.remaining.size(); ++i)
    pool.remaining[i] -= best->limited[i] - (row.held.empty() ? 0 : row.held[i]);
  row.held = best->limited;
}

void ClaimPacker::open(std::size_t group) {
  for (std::size_t way = 0; way < groups_[group].alternatives.size(); ++way) {
    const RequirementId alternative = groups_[group].alternatives[way];
    for (std::size_t pool = 0; pool < pools_.size(); ++pool) {
      for (const Way& possible : ways(group, pool)) {
        if (possible.alternative != alternative) continue;
        const Bits offers = offers_for(possible, group, pool);
        while (left_[group] > 0) {
          const auto choice = choose(group, pool, offers, demand_[pool].for_group(group));
          if (!choice) break;
          add_row(group, pool, possible.with_pool, offers, *choice);
        }
      }
    }
  }
}

// The type whose nodes serve the demand at the lowest price, of equal ones the dearest, which needs
// the fewest nodes; nullopt when no type takes a pod of the group.
std::optional<ClaimPacker::Choice> ClaimPacker::choose(std::size_t group, std::size_t at,
                                                       const Bits& offers,
                                                       const Row& demand) const {
  const PoolTable& pool = pools_[at];
  if (pool.nodes_remaining && *pool.nodes_remaining <= 0) return std::nullopt;
  std::optional<Choice> best;
  std::int64_t best_price = 0;
  for (std::size_t i = 0; i < pool.types().size(); ++i) {
    const TypeRow& type = pool.types()[i];
    const auto price = pool.cheapest(type, offers);
    if (!price || !pool.within_limits(type, {})) continue;
    const Row& request = groups_[group].request;
    const std::int64_t each = fit_count(type.room, request, most_per_node(group));
    if (each == 0) continue;
    const Wide cost = cost_of(*price, type.room, request, demand, left_[group], each);
    if (best && (cost > best->cost || (cost == best->cost && *price <= best_price))) continue;
    best = Choice{i, each, cost};
    best_price = *price;
  }
  return best;
}

void ClaimPacker::add_row(std::size_t group, std::size_t at, RequirementId requirements,
                          Bits offers, const Choice& choice) {
  PoolTable& pool = pools_[at];
  ClaimRow row;
  row.pool = at;
  row.requirements = requirements;
  row.offers = std::move(offers);
  row.target = choice.type;
  row.content.assign(groups_[group].request.size(), 0);
  add_times(row.content, groups_[group].request, choice.each);
  row.shares.push_back({group, choice.each});
  row.copies = pool.is_limited() ? 1 : left_[group] / choice.each;
  hold(row);
  if (pool.nodes_remaining) *pool.nodes_remaining -= row.copies;
  note_placed(group, row.copies * choice.each);
  rows_.push_back(std::move(row));
}

}  // namespace karst::scheduling
