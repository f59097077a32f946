#include "scheduling/overlay.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "model/labels.h"
#include "model/requirements.h"

namespace karst::scheduling {
namespace {

using model::NodeOverlay;

bool sets_price(const NodeOverlay& overlay) {
  return overlay.price_nanos_per_hour || overlay.adjustment_nanos_per_hour ||
         overlay.percent_micros;
}

std::int64_t changed_price(const NodeOverlay& overlay, std::int64_t price) {
  if (overlay.price_nanos_per_hour) return *overlay.price_nanos_per_hour;
  if (overlay.adjustment_nanos_per_hour)
    return std::max<std::int64_t>(0, price + *overlay.adjustment_nanos_per_hour);
  constexpr std::int64_t kWhole = 100'000'000;  // 100 % in millionths of a per cent
  __extension__ typedef __int128 Wide;
  const Wide exact = static_cast<Wide>(price) * (kWhole + *overlay.percent_micros);
  constexpr Wide kMost = std::int64_t{1} << 62;
  return static_cast<std::int64_t>(std::clamp<Wide>((exact + kWhole / 2) / kWhole, 0, kMost));
}

// What machines of the pool's type have, in the offering's zone and capacity type.
model::Requirements described(const model::NodePool& pool, const model::InstanceType& type,
                              const model::Offering& offering) {
  model::Requirements have = model::Requirements::from_labels(pool.template_labels);
  have.add(model::Requirements(type.requirements));
  have.add(model::kNodePoolLabel, model::ValueSet::of(pool.name.str()));
  have.add(model::kZoneLabel, model::ValueSet::of(offering.zone));
  have.add(model::kCapacityTypeLabel, model::ValueSet::of(offering.capacity_type));
  return have;
}

// Every resource that an overlay may set.
std::vector<std::string> resources_of(const NodeOverlay& overlay) {
  std::vector<std::string> names;
  for (const auto& [name, amount] : overlay.capacity.extended) names.push_back(name);
  return names;
}

// Goes over all offerings in order and tells, for each thing that can be set, which overlays set
// it.
class Claims {
 public:
  explicit Claims(const std::vector<NodeOverlay>& overlays) : overlays_(overlays) {
    for (const NodeOverlay& overlay : overlays) wanted_.emplace_back(overlay.requirements);
  }

  bool matches(std::size_t overlay, const model::Requirements& have) const {
    return have.incompatible(wanted_[overlay], {}).empty();
  }

  // Overlays that set something that another of their weight set before them.
  std::set<std::size_t> conflicts(const std::vector<PoolTypes>& pools) const {
    std::set<std::size_t> lost;
    for (const PoolTypes& pool : pools)
      for (const model::InstanceType& type : pool.types) {
        std::set<std::pair<std::int32_t, std::string>> taken;  // weight and resource
        for (const model::Offering& offering : type.offerings)
          check(described(*pool.pool, type, offering), taken, lost);
      }
    return lost;
  }

 private:
  void check(const model::Requirements& have, std::set<std::pair<std::int32_t, std::string>>& taken,
             std::set<std::size_t>& lost) const {
    std::set<std::int32_t> priced;
    for (std::size_t i = 0; i < overlays_.size(); ++i) {
      if (lost.contains(i) || !matches(i, have)) continue;
      const NodeOverlay& overlay = overlays_[i];
      if (sets_price(overlay) && !priced.insert(overlay.weight).second) lost.insert(i);
      for (const std::string& name : resources_of(overlay)) owner(i, name, taken, lost);
    }
  }
  // A resource counts for the whole type: the first overlay that sets it keeps it in every
  // offering.
  void owner(std::size_t overlay, const std::string& name,
             std::set<std::pair<std::int32_t, std::string>>& taken,
             std::set<std::size_t>& lost) const {
    const std::string mine = name + " " + overlays_[overlay].name;
    const auto weight = overlays_[overlay].weight;
    if (taken.contains({weight, mine})) return;
    for (std::size_t other = 0; other < overlay; ++other)
      if (overlays_[other].weight == weight &&
          taken.contains({weight, name + " " + overlays_[other].name}))
        lost.insert(overlay);
    taken.emplace(weight, mine);
  }

  const std::vector<NodeOverlay>& overlays_;
  std::vector<model::Requirements> wanted_;
};

void apply(const std::vector<NodeOverlay>& overlays, const Claims& claims,
           const std::set<std::size_t>& lost, const model::NodePool& pool,
           model::InstanceType& type) {
  std::set<std::size_t> matching;  // some offering: such overlays give the type its resources
  for (model::Offering& offering : type.offerings) {
    const model::Requirements have = described(pool, type, offering);
    bool priced = false;
    for (std::size_t i = 0; i < overlays.size(); ++i) {
      if (lost.contains(i) || !claims.matches(i, have)) continue;
      matching.insert(i);
      if (!sets_price(overlays[i]) || priced) continue;
      offering.price_nanos_per_hour = changed_price(overlays[i], offering.price_nanos_per_hour);
      priced = true;
    }
  }
  std::map<std::string, std::int64_t> capacity;
  for (const std::size_t i : matching)
    for (const std::string& name : resources_of(overlays[i]))
      capacity.emplace(name, overlays[i].capacity.amount(name));
  for (const auto& [name, amount] : capacity) {
    type.capacity.set_amount(name, amount);
    type.allocatable.set_amount(name, amount);
  }
}

}  // namespace

std::vector<std::string> apply_overlays(std::vector<NodeOverlay> overlays,
                                        std::vector<PoolTypes>& pools) {
  std::sort(overlays.begin(), overlays.end(), [](const auto& a, const auto& b) {
    return std::tie(a.weight, a.name) > std::tie(b.weight, b.name);
  });
  const Claims claims(overlays);
  const std::set<std::size_t> lost = claims.conflicts(pools);
  for (PoolTypes& pool : pools)
    for (model::InstanceType& type : pool.types) apply(overlays, claims, lost, *pool.pool, type);
  std::vector<std::string> names;
  for (const std::size_t i : lost) names.push_back(overlays[i].name);
  return names;
}

}  // namespace karst::scheduling
