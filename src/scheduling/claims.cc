#include "scheduling/claims.h"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>

#include "base/check.h"

namespace karst::scheduling {
namespace {

struct Priced {
  std::int64_t price = 0;
  std::size_t row = 0;  // index into PoolTable::types(), which is by name
  friend auto operator<=>(const Priced&, const Priced&) = default;
};

// The types that hold the content, cheapest first, within what the claim may reserve.
std::vector<Priced> types_that_fit(const PoolTable& pool, const ClaimRow& row,
                                   const std::vector<std::int64_t>& allowed) {
  std::vector<Priced> priced;
  for (std::size_t i = 0; i < pool.types().size(); ++i) {
    const TypeRow& type = pool.types()[i];
    const auto price = pool.cheapest(type, row.offers);
    if (!price || fit_count(type.room, row.content, 1) == 0) continue;
    bool within = true;
    for (std::size_t k = 0; k < allowed.size(); ++k) within &= type.limited[k] <= allowed[k];
    if (within) priced.push_back({*price, i});
  }
  std::sort(priced.begin(), priced.end());
  return priced;
}

std::vector<model::Offer> offers_of(const PoolTable& pool, const Bits& mask,
                                    const std::vector<Priced>& types) {
  std::vector<model::Offer> offers;
  for (const Priced& priced : types) {
    const TypeRow& type = pool.types()[priced.row];
    for (std::size_t bit = type.first_offer; bit < type.last_offer; ++bit) {
      if (!mask.test(bit)) continue;
      const Offering& offering = pool.source(type, bit);
      offers.push_back({pool.source(type).name, std::string(value_of(offering, model::kZoneLabel)),
                        std::string(value_of(offering, model::kCapacityTypeLabel)),
                        offering.price_nanos_per_hour});
    }
  }
  std::sort(offers.begin(), offers.end(), [](const model::Offer& a, const model::Offer& b) {
    return std::tie(a.price_nanos_per_hour, a.instance_type, a.zone, a.capacity_type) <
           std::tie(b.price_nanos_per_hour, b.instance_type, b.zone, b.capacity_type);
  });
  return offers;
}

std::vector<model::RequirementSpec> claim_requirements(const model::Requirements& requirements) {
  std::vector<model::RequirementSpec> specs;
  for (model::RequirementSpec& spec : requirements.specs())
    if (spec.key != model::kInstanceTypeLabel && spec.key != model::kCapacityTypeLabel)
      specs.push_back(std::move(spec));
  return specs;
}

std::vector<Share> shares_of(const ClaimRow& row, const std::vector<GroupRow>& groups) {
  std::vector<Share> shares;
  for (const Share& share : row.shares) shares.push_back({groups[share.group].group, share.count});
  std::sort(shares.begin(), shares.end(),
            [](const Share& a, const Share& b) { return a.group < b.group; });
  return shares;
}

NewClaim make_claim(const Problem& problem, const Columns& columns, const PoolTable& pool,
                    const model::Requirements& requirements, const std::vector<GroupRow>& groups,
                    const ClaimRow& row, const std::vector<std::int64_t>& allowed) {
  std::vector<Priced> types = types_that_fit(pool, row, allowed);
  KARST_CHECK(!types.empty(), "a claim keeps a type that fits");
  types.resize(
      std::min(types.size(), std::max<std::size_t>(problem.options.instance_types_max, 1)));
  NewClaim claim;
  claim.pool = pool.pool();
  claim.requirements = claim_requirements(requirements);
  claim.offers = offers_of(pool, row.offers, types);
  claim.pods = shares_of(row, groups);
  Row overhead = pool.types()[types.front().row].overhead;
  for (const Priced& priced : types) {
    const TypeRow& type = pool.types()[priced.row];
    claim.types.push_back(type.type);
    claim.max_capacity = model::max_of(claim.max_capacity, pool.source(type).capacity);
    for (std::size_t i = 0; i < overhead.size(); ++i)
      overhead[i] = std::min(overhead[i], type.overhead[i]);
  }
  add_times(overhead, row.content, 1);
  claim.requests = columns.resources(overhead);
  return claim;
}

// What one claim may reserve: what it holds and its part of what nobody holds, `sharers` claims
// being still to come.
std::vector<std::int64_t> allowance(const PoolTable& pool, const ClaimRow& row,
                                    std::int64_t sharers) {
  std::vector<std::int64_t> allowed = row.held;
  for (std::size_t i = 0; i < allowed.size(); ++i) allowed[i] += pool.remaining[i] / sharers;
  return allowed;
}

void take_from_limits(PoolTable& pool, const ClaimRow& row, const NewClaim& claim) {
  for (std::size_t k = 0; k < pool.remaining.size(); ++k) {
    std::int64_t most = 0;
    for (const TypeRow& type : pool.types())
      if (std::find(claim.types.begin(), claim.types.end(), type.type) != claim.types.end())
        most = std::max(most, type.limited[k]);
    pool.remaining[k] -= most - row.held[k];
  }
}

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

std::vector<NewClaim> list_claims(const Problem& problem, const Columns& columns,
                                  const RequirementTable& requirements,
                                  std::vector<PoolTable>& pools,
                                  const std::vector<GroupRow>& groups,
                                  const std::vector<ClaimRow>& rows) {
  std::vector<std::int64_t> sharers(pools.size(), 0);
  for (const ClaimRow& row : rows) sharers[row.pool] += row.copies;
  std::vector<NewClaim> claims;
  for (const ClaimRow& row : rows) {
    PoolTable& pool = pools[row.pool];
    const auto allowed = allowance(pool, row, sharers[row.pool]);
    const NewClaim claim =
        make_claim(problem, columns, pool, requirements.at(row.requirements), groups, row, allowed);
    take_from_limits(pool, row, claim);
    sharers[row.pool] -= row.copies;
    claims.insert(claims.end(), static_cast<std::size_t>(row.copies), claim);
  }
  return claims;
}

model::Labels claim_labels(const Pool& pool, const NewClaim& claim) {
  model::Labels labels = pool_labels(pool.pool);
  std::set<std::string, std::less<>> left_out = model::well_known_labels();
  left_out.emplace(model::kHostnameLabel);
  for (const InstanceType& type : pool.types)
    for (const model::RequirementSpec& spec : type.requirements) left_out.insert(spec.key);
  const auto template_keys = model::Requirements(pool.pool.requirements);
  const auto narrowed = model::Requirements(claim.requirements);
  for (const auto& [key, set] : narrowed.all()) {
    if (left_out.contains(key) || template_keys.find(key) == nullptr) continue;
    if (const std::string value = any_value(set); !value.empty())
      model::set_label(labels, key, value);
  }
  return labels;
}

}  // namespace karst::scheduling
