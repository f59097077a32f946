#include "scheduling/pool_offers.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace karst::scheduling {
namespace {

// Offerings of one catalogue have few different demands: each is compared with the pool once.
class Fits {
 public:
  explicit Fits(const model::NodePool& pool)
      : wanted_(model::Requirements::from_labels(pool.template_labels)) {
    wanted_.add(model::Requirements(pool.requirements));
  }
  bool type(const InstanceType& type) const {
    return model::Requirements(type.requirements).intersects(wanted_);
  }
  bool offering(const Offering& offering) {
    const auto known = known_.find(offering.requirements);
    if (known != known_.end()) return known->second;
    return known_[offering.requirements] =
               model::Requirements(offering.requirements).intersects(wanted_);
  }

 private:
  model::Requirements wanted_;
  std::map<std::vector<model::RequirementSpec>, bool> known_;
};

// Of places only those where the pool can buy it. What some offerings say is not carried is left to
// the offerings.
void say_domains(Fits& fits, std::span<const std::string_view> place_labels, InstanceType& type) {
  const bool fits_type = fits.type(type);
  std::map<std::string, std::set<std::string>> values;
  for (const Offering& offering : type.offerings) {
    const bool is_sold = fits_type && fits.offering(offering);
    for (const model::RequirementSpec& spec : offering.requirements)
      if (spec.op == model::Operator::kIn &&
          (is_sold ||
           std::find(place_labels.begin(), place_labels.end(), spec.key) == place_labels.end()))
        values[spec.key].insert(spec.values.begin(), spec.values.end());
  }
  for (const Offering& offering : type.offerings)
    for (const model::RequirementSpec& spec : offering.requirements)
      if (spec.op == model::Operator::kDoesNotExist) values.erase(spec.key);
  for (const model::RequirementSpec& spec : type.requirements) values.erase(spec.key);
  for (const auto& [key, all] : values)
    type.requirements.push_back({key, model::Operator::kIn, {all.begin(), all.end()}, 0});
}

}  // namespace

void fit_to_pool(const model::NodePool& pool, std::span<const std::string_view> place_labels,
                 std::vector<InstanceType>& types) {
  Fits fits(pool);
  for (InstanceType& type : types) say_domains(fits, place_labels, type);
}

}  // namespace karst::scheduling
