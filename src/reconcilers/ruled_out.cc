#include "reconcilers/ruled_out.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "reconcilers/offered.h"
#include "scheduling/problem.h"

namespace karst::reconcilers {
namespace {

using model::Requirements;
using model::RequirementSpec;

// Of the claim all but the demands that the choice itself made (of a type, and where `wide` of what
// it is bought as), which the pool's own stand in for.
Requirements demands_of(const model::NodeClaim& claim, const model::NodePool& pool,
                        std::string_view reservation_label, bool wide) {
  const auto is_chosen = [&](const std::string& key) {
    return key == model::kInstanceTypeLabel ||
           (wide && (key == model::kCapacityTypeLabel || key == reservation_label));
  };
  Requirements demands;
  for (const RequirementSpec& spec : claim.requirements)
    if (!is_chosen(spec.key)) demands.add(spec.key, model::to_value_set(spec));
  for (const RequirementSpec& spec : pool.requirements)
    if (is_chosen(spec.key)) demands.add(spec.key, model::to_value_set(spec));
  return demands;
}

std::set<std::string_view> listed_types(const model::NodeClaim& claim) {
  std::set<std::string_view> listed;
  for (const RequirementSpec& spec : claim.requirements)
    if (spec.key == model::kInstanceTypeLabel && spec.op == model::Operator::kIn)
      listed.insert(spec.values.begin(), spec.values.end());
  return listed;
}

// The types of one pool beside the demands of one claim.
class Types {
 public:
  Types(scheduling::TypeList types, const Context& context, const model::NodePool& pool,
        const model::NodeClaim& claim)
      : types_(std::move(types)),
        demands_(demands_of(claim, pool, context.provider.reservation_label(), false)),
        wide_(demands_of(claim, pool, context.provider.reservation_label(), true)),
        requests_(claim.requests),
        fits_(types_.demands()) {}

  const scheduling::TypeList& all() const { return types_; }

  // What its cheapest offering costs that the claim could have; nullopt: it could have none.
  std::optional<std::int64_t> price(std::size_t type) const {
    std::optional<std::int64_t> least;
    for (std::size_t i = 0; i < types_[type].offerings.size(); ++i)
      if (const scheduling::Offering& one = types_[type].offerings[i];
          one.available && fits(type, i) && (!least || one.price_nanos_per_hour < *least))
        least = one.price_nanos_per_hour;
    return least;
  }

  // Empty: it would do.
  std::string why_not(std::size_t type) const {
    bool is_sold = false, is_there = false;
    std::string exceeded;
    for (std::size_t i = 0; i < types_[type].offerings.size(); ++i) {
      if (!fits(type, i)) continue;
      is_sold = true;
      const scheduling::Offering& offering = types_[type].offerings[i];
      if (!offering.available || (is_there && exceeded.empty())) continue;
      is_there = true;
      exceeded = model::first_exceeded(
          requests_, offering.allocatable ? *offering.allocatable : types_[type].allocatable);
    }
    if (!is_sold) return why_not_sold(type);
    if (const std::string* key = types_.requirements(type).conflict(demands_))
      return "requirement " + *key;
    if (!is_there) return "capacity";
    return exceeded.empty() ? "" : "resource " + exceeded;
  }

 private:
  // It may be sold as what the claim would not be, for want of capacity.
  std::string why_not_sold(std::size_t type) const {
    bool is_sold = false;
    for (std::size_t i = 0; i < types_[type].offerings.size(); ++i) {
      if (!types_.requirements(type, i).intersects(wide_)) continue;
      if (types_[type].offerings[i].available) return "other";
      is_sold = true;
    }
    return is_sold ? "capacity" : "offering";
  }

  // Offerings of one catalogue have few different demands: each is compared once.
  bool fits(std::size_t type, std::size_t offering) const {
    std::optional<bool>& known = fits_[types_.demand(type, offering)];
    if (!known) known = types_.requirements(type, offering).intersects(demands_);
    return *known;
  }

  scheduling::TypeList types_;
  Requirements demands_;
  Requirements wide_;
  model::Resources requests_;
  mutable std::vector<std::optional<bool>> fits_;
};

std::vector<RuledOut> grouped(std::map<std::string, std::vector<std::string>> by_reason) {
  std::vector<RuledOut> result;
  for (auto& [why, names] : by_reason) {
    std::sort(names.begin(), names.end());
    result.push_back({why, std::move(names)});
  }
  return result;
}

std::vector<RuledOut> by_claim(const ClusterState& state, const Context& context,
                               const model::NodeClaim& claim) {
  const std::set<std::string_view> listed = listed_types(claim);
  const projections::PoolRow* pool = state.pools().find(claim.pool);
  if (listed.empty() || pool == nullptr) return {};
  const Types types(Offered(state, context).on_sale(pool->pool), context, pool->pool, claim);
  const scheduling::TypeList& sold = types.all();
  std::int64_t dearest = 0;
  for (std::size_t i = 0; i < sold.size(); ++i)
    if (listed.contains(sold[i].name)) dearest = std::max(dearest, types.price(i).value_or(0));
  const bool is_full = listed.size() >= scheduling::Options().instance_types_max;
  std::map<std::string, std::vector<std::string>> by_reason;
  for (std::size_t i = 0; i < sold.size(); ++i) {
    if (listed.contains(sold[i].name)) continue;
    std::string why = types.why_not(i);
    if (why.empty()) why = is_full && types.price(i).value_or(0) >= dearest ? "price" : "other";
    by_reason[why].push_back(sold[i].name);
  }
  return grouped(std::move(by_reason));
}

std::vector<RuledOut> by_order(const ClusterState& state, const Context& context,
                               const model::Launch& launch) {
  const ClaimRow* row =
      launch.items.empty() ? nullptr : state.claims().find(launch.items.front().name);
  const projections::PoolRow* pool = state.pools().find(launch.pool);
  if (row == nullptr || pool == nullptr) return {};
  const std::set<std::string_view> listed = listed_types(row->claim);
  std::set<std::string_view> named;
  for (const model::Offer& offer : launch.offers) named.insert(offer.instance_type);
  const Types types(Offered(state, context).on_sale(pool->pool), context, pool->pool, row->claim);
  const scheduling::TypeList& sold = types.all();
  std::map<std::string, std::vector<std::string>> by_reason;
  for (std::size_t i = 0; i < sold.size(); ++i) {
    if (!listed.contains(sold[i].name) || named.contains(sold[i].name)) continue;
    const std::string why = types.why_not(i);
    by_reason[why.empty() ? "order" : why].push_back(sold[i].name);
  }
  return grouped(std::move(by_reason));
}

}  // namespace

std::vector<RuledOut> ruled_out(const ClusterState& state, const Context& context,
                                const model::CommandSpec& command) {
  if (const auto* create = std::get_if<model::CreateNodeClaim>(&command))
    return by_claim(state, context, create->claim);
  const auto* launch = std::get_if<model::Launch>(&command);
  return launch == nullptr ? std::vector<RuledOut>() : by_order(state, context, *launch);
}

}  // namespace karst::reconcilers
