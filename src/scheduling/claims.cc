#include "scheduling/claims.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/check.h"
#include "scheduling/alternatives.h"
#include "scheduling/min_values.h"
#include "scheduling/room_bits.h"

namespace karst::scheduling {
namespace {

// A machine that holds the claim's pods, within what the limits leave.
bool may_become(const Prepared& prepared, const PoolTable& pool, const Claim& claim,
                const Machine& machine, const std::vector<std::int64_t>& limits_left) {
  if (claim.is_reserved != (machine.reservation != kNotReserved) ||
      !fits(claim.content, machine.room))
    return false;
  const auto& limited = pool.types[machine.type].limited;
  for (std::size_t i = 0; i < limited.size(); ++i)
    if (limited[i] > claim.held[i] + limits_left[i]) return false;
  return std::none_of(
      machine.overhead->daemons.begin(), machine.overhead->daemons.end(), [&](std::size_t daemon) {
        return ports_conflict(prepared.problem.daemons[daemon].shape.host_ports, claim.ports);
      });
}

// What the claim holds, and what nobody needs of what it could use as well.
std::set<int> reservations_of(const Prepared& prepared, const PoolTable& pool, std::size_t at,
                              const std::vector<std::int64_t>& limits_left, Packer& packer) {
  const Claim& claim = packer.claims()[at];
  std::set<int> reservations;
  if (!claim.is_reserved) return reservations;
  for (const int held : packer.reservations().held(at)) reservations.insert(held);
  for (const Machine& machine : claim.view->machines)
    if (may_become(prepared, pool, claim, machine, limits_left) &&
        !reservations.contains(machine.reservation) &&
        packer.reservations().take_free(machine.reservation))
      reservations.insert(machine.reservation);
  return reservations;
}

std::size_t types_max(const Prepared& prepared) {
  return std::max<std::size_t>(prepared.problem.options.instance_types_max, 1);
}

template <class Keep>
void keep_if(Bits& bits, const Keep& keep) {
  for (std::size_t word = 0; word < bits.size(); ++word)
    for (std::uint64_t left = bits[word]; left != 0; left &= left - 1)
      if (!keep(word * 64 + static_cast<std::size_t>(std::countr_zero(left))))
        bits[word] &= ~(left & -left);
}

// Of the view's machines, cheapest first: a bit for each one that the claim may come up as. Where
// nothing but the price decides, dearer types than are listed are left out.
Bits machines_of(const Prepared& prepared, const PoolTable& pool, const Claim& claim,
                 const std::vector<std::int64_t>& limits_left, const std::set<int>& reservations,
                 const RoomBits& rooms) {
  const View& view = *claim.view;
  Bits bits = rooms.holding(claim.content);
  const bool room_decides =
      !claim.is_reserved && !view.has_reserved && !pool.is_limited() && !view.daemons_use_ports;
  if (!room_decides)
    keep_if(bits, [&](std::size_t i) {
      const Machine& machine = view.machines[i];
      return may_become(prepared, pool, claim, machine, limits_left) &&
             (!claim.is_reserved || reservations.contains(machine.reservation));
    });
  const std::size_t most = pool.min_values.empty() ? types_max(prepared) : pool.types.size();
  if (count_bits(bits) <= most) return bits;
  std::vector<bool> seen(pool.types.size(), false);
  std::size_t types = 0;
  keep_if(bits, [&](std::size_t i) {
    const std::size_t type = view.machines[i].type;
    if (seen[type]) return true;
    if (types == most) return false;
    ++types;
    seen[type] = true;
    return true;
  });
  return bits;
}

std::vector<const Machine*> machines_at(const View& view, const Bits& bits) {
  std::vector<const Machine*> machines;
  for (std::size_t i = 0; i < view.machines.size(); ++i)
    if ((bits[i / 64] >> i % 64 & 1) != 0) machines.push_back(&view.machines[i]);
  return machines;
}

// The types of the machines, cheapest first, at most `most` of them; where that would leave too few
// values for the pool's minValues, types that bring a new value come before cheaper ones, and as
// many as are needed.
std::vector<std::size_t> choose_types(const PoolTable& pool,
                                      const std::vector<const Machine*>& machines,
                                      std::size_t most) {
  std::vector<std::size_t> types;
  std::vector<bool> seen(pool.types.size(), false);
  for (const Machine* machine : machines) {
    if (!seen[machine->type]) types.push_back(machine->type);
    seen[machine->type] = true;
  }
  if (types.size() <= most) return types;
  std::vector<bool> chosen(pool.types.size(), false);
  std::size_t count = 0;
  for (std::size_t at = 0; at < pool.min_values.size(); ++at) {
    std::set<std::string> values;
    for (const std::size_t type : types) {
      const std::vector<std::string>& own = pool.types[type].counted[at];
      if (static_cast<int>(values.size()) >= pool.min_values[at].second) break;
      const std::size_t before = values.size();
      values.insert(own.begin(), own.end());
      if (values.size() == before || chosen[type]) continue;
      chosen[type] = true;
      ++count;
    }
  }
  std::vector<std::size_t> result;
  for (const std::size_t type : types) {
    if (!chosen[type] && count < most) {
      chosen[type] = true;
      ++count;
    }
    if (chosen[type]) result.push_back(type);
  }
  return result;
}

// The offers of the machines that are listed.
OfferList offers_of(const PoolTable& pool, const std::vector<const Machine*>& machines,
                    const std::vector<bool>& listed) {
  OfferList::Catalogue catalogue = pool.source->types.offers();
  Bits chosen(words_for(catalogue->size()), 0);
  for (const Machine* machine : machines)
    if (listed[machine->type])
      for (const std::size_t offer : machine->offers)
        set_bit(chosen, pool.types[machine->type].offers[offer].place);
  return {std::move(catalogue), std::move(chosen)};
}

std::vector<model::RequirementSpec> claim_requirements(
    const model::Requirements& requirements, const std::string& reservation_label,
    const std::vector<std::string>& reservations) {
  std::vector<model::RequirementSpec> specs;
  for (model::RequirementSpec& spec : requirements.specs()) {
    if (spec.key == model::kHostnameLabel || spec.key == model::kRegisteredLabel ||
        spec.key == model::kInitializedLabel)
      continue;
    if (!reservations.empty() &&
        (spec.key == model::kCapacityTypeLabel || spec.key == reservation_label))
      continue;
    specs.push_back(std::move(spec));
  }
  if (!reservations.empty()) {
    specs.push_back(
        {std::string(model::kCapacityTypeLabel), model::Operator::kIn, {"reserved"}, 0});
    specs.push_back({reservation_label, model::Operator::kIn, reservations, 0});
    std::sort(specs.begin(), specs.end());
  }
  return specs;
}

std::vector<Share> shares_of(const Claim& claim, const std::vector<PodRow>& rows) {
  std::map<std::size_t, std::int64_t> counts;
  for (const Share& share : claim.shares) counts[rows[share.group].group] += share.count;
  std::vector<Share> shares;
  for (const auto& [group, count] : counts) shares.push_back({group, count});
  return shares;
}

// What claims that may come up as the same machines have in common.
struct Choice {
  SharedList<std::size_t> types;
  OfferList offers;
  model::Resources max_capacity;
  Row overhead;  // per column the least of the machines'
  bool min_values_relaxed = false;
};

Choice make_choice(const PoolTable& pool, const std::vector<const Machine*>& machines,
                   const std::vector<std::size_t>& types) {
  Choice choice;
  choice.overhead = machines.front()->overhead->amounts;
  choice.min_values_relaxed = !meets_min_values(pool, types);
  std::vector<bool> listed(pool.types.size(), false);
  for (const std::size_t type : types) listed[type] = true;
  for (const Machine* machine : machines)
    for (std::size_t i = 0; listed[machine->type] && i < choice.overhead.size(); ++i)
      choice.overhead[i] = std::min(choice.overhead[i], machine->overhead->amounts[i]);
  choice.offers = offers_of(pool, machines, listed);
  std::vector<std::size_t> indices;
  for (const std::size_t type : types) indices.push_back(pool.types[type].type);
  // The dearest first: it is seldom raised then.
  for (auto type = indices.rbegin(); type != indices.rend(); ++type)
    if (const model::Resources& capacity = pool.source->types[*type].capacity;
        !model::fits(capacity, choice.max_capacity))
      choice.max_capacity = model::max_of(choice.max_capacity, capacity);
  choice.types = std::move(indices);
  return choice;
}

// What many claims say alike is written once.
struct Written {
  std::map<std::pair<std::size_t, Bits>, Choice> choices;  // by view and machines
  // By what the view requires, of claims without reservations.
  std::map<RequirementId, SharedList<model::RequirementSpec>> requirements;
};

SharedList<model::RequirementSpec> requirements_of(const Prepared& prepared, RequirementId id,
                                                   const std::vector<std::string>& reservations,
                                                   Written& written) {
  const auto write = [&] {
    return SharedList(claim_requirements(
        prepared.requirements.at(id), prepared.problem.options.reservation_id_label, reservations));
  };
  if (!reservations.empty()) return write();
  const auto [known, is_new] = written.requirements.try_emplace(id);
  if (is_new) known->second = write();
  return known->second;
}

NewClaim make_claim(Prepared& prepared, const PoolTable& pool, const Claim& packed,
                    const std::vector<std::int64_t>& limits_left, const std::set<int>& reservations,
                    Written& written) {
  const View& view = *packed.view;
  const auto [place, is_new] = written.choices.try_emplace(
      {view.index, machines_of(prepared, pool, packed, limits_left, reservations,
                               prepared.pools.room_bits(view))});
  if (is_new) {
    const std::vector<const Machine*> machines = machines_at(view, place->first.second);
    KARST_CHECK(!machines.empty(), "a claim keeps a machine that fits");
    place->second = make_choice(pool, machines, choose_types(pool, machines, types_max(prepared)));
  }
  const Choice& choice = place->second;
  NewClaim claim;
  claim.pool = pool.pool;
  for (const int reservation : reservations)
    claim.reservations.push_back(
        prepared.pools.reservations()[static_cast<std::size_t>(reservation)].id);
  claim.requirements =
      requirements_of(prepared, packed.view->requirements, claim.reservations, written);
  claim.pods = shares_of(packed, prepared.rows);
  claim.min_values_relaxed = choice.min_values_relaxed;
  claim.types = choice.types;
  claim.offers = choice.offers;
  claim.max_capacity = choice.max_capacity;
  Row sum = choice.overhead;
  add_times(sum, packed.content, 1);
  claim.requests = prepared.columns.resources(sum);
  return claim;
}

void take_from_limits(const PoolTable& pool, const Claim& packed, const NewClaim& claim,
                      std::vector<std::int64_t>& left) {
  for (std::size_t i = 0; i < left.size(); ++i)
    left[i] -= claim.max_capacity.amount(pool.limited_names[i]) - packed.held[i];
}

// The claims of the answer, pool by pool.
class Lists {
 public:
  Lists(Prepared& prepared, Packer& packer)
      : prepared_(prepared), packer_(packer), claims_(packer.claims().size()) {}

  std::vector<NewClaim> all() {
    std::vector<std::vector<std::size_t>> of_pool(prepared_.pools.pools().size());
    for (std::size_t at = 0; at < claims_.size(); ++at)
      of_pool[packer_.claims()[at].pool].push_back(at);
    for (std::size_t pool = 0; pool < of_pool.size(); ++pool) list(pool, of_pool[pool]);
    return std::move(claims_);
  }

 private:
  // Who gets what the limits leave: one claim after the other as much as it can use, or each an
  // equal part.
  enum class Spare { kInTurn, kInParts };

  // In turn; where that leaves little for some, in parts.
  void list(std::size_t pool, const std::vector<std::size_t>& own) {
    std::vector<NewClaim> in_turn = listed(pool, own, Spare::kInTurn);
    if (const std::size_t shortest = shortest_of(in_turn);
        shortest < kAlternativesMin && own.size() > 1 && may_share(pool, own)) {
      std::vector<NewClaim> shared = listed(pool, own, Spare::kInParts);
      if (shortest_of(shared) > shortest) in_turn = std::move(shared);
    }
    for (std::size_t i = 0; i < own.size(); ++i) claims_[own[i]] = std::move(in_turn[i]);
  }

  bool may_share(std::size_t pool, const std::vector<std::size_t>& own) const {
    return prepared_.pools.pools()[pool].is_limited() &&
           std::none_of(own.begin(), own.end(),
                        [&](std::size_t at) { return packer_.claims()[at].is_reserved; });
  }

  static std::size_t shortest_of(const std::vector<NewClaim>& claims) {
    std::size_t shortest = SIZE_MAX;
    for (const NewClaim& claim : claims) shortest = std::min(shortest, claim.types.size());
    return shortest;
  }

  std::vector<NewClaim> listed(std::size_t pool, const std::vector<std::size_t>& own, Spare spare) {
    const PoolTable& table = prepared_.pools.pools()[pool];
    std::vector<std::int64_t> left = packer_.limits_left()[pool];
    std::vector<NewClaim> claims;
    for (std::size_t i = 0; i < own.size(); ++i) {
      const Claim& packed = packer_.claims()[own[i]];
      std::vector<std::int64_t> part = left;
      if (spare == Spare::kInParts)
        for (std::int64_t& amount : part) amount /= static_cast<std::int64_t>(own.size() - i);
      claims.push_back(make_claim(prepared_, table, packed, part,
                                  reservations_of(prepared_, table, own[i], part, packer_),
                                  written_));
      take_from_limits(table, packed, claims.back(), left);
    }
    return claims;
  }

  Prepared& prepared_;
  Packer& packer_;
  std::vector<NewClaim> claims_;
  Written written_;
};

// A value that the set allows; empty when only "no such label" is allowed.
std::string any_value(const model::ValueSet& set) {
  if (!set.complement) return set.values.empty() ? "" : *set.values.begin();
  std::int64_t number =
      set.at_least.value_or(set.at_most ? std::min<std::int64_t>(*set.at_most, 0) : 0);
  const auto tries = static_cast<std::int64_t>(set.values.size());
  for (std::int64_t i = 0; i <= tries; ++i, ++number)
    if (set.contains(std::to_string(number))) return std::to_string(number);
  return "";
}

}  // namespace

std::vector<NewClaim> list_claims(Prepared& prepared, Packer& packer) {
  return Lists(prepared, packer).all();
}

model::Labels claim_labels(const Pool& pool, const NewClaim& claim) {
  model::Labels labels = pool_labels(pool.pool);
  std::set<std::string, std::less<>> left_out = model::well_known_labels();
  left_out.emplace(model::kHostnameLabel);
  for (const InstanceType& type : pool.types)
    for (const model::RequirementSpec& spec : type.requirements) left_out.insert(spec.key);
  const auto template_keys = model::Requirements(pool.pool.requirements);
  const auto narrowed = model::Requirements(claim.requirements.items());
  for (const auto& [key, set] : narrowed.all()) {
    if (left_out.contains(key) || template_keys.find(key) == nullptr) continue;
    if (const std::string value = any_value(set); !value.empty())
      model::set_label(labels, key, value);
  }
  return labels;
}

}  // namespace karst::scheduling
