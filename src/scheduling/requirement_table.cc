#include "scheduling/requirement_table.h"

#include "model/labels.h"

namespace karst::scheduling {

RequirementTable::RequirementTable(const Problem& problem)
    : may_be_undefined_(model::well_known_labels()) {
  for (const Pool& pool : problem.pools)
    for (const InstanceType& type : pool.types)
      for (const model::RequirementSpec& spec : type.requirements)
        may_be_undefined_.insert(spec.key);
}

RequirementId RequirementTable::intern(const model::Requirements& requirements) {
  const auto [at, is_new] = ids_.try_emplace(requirements.specs(), sets_.size());
  if (is_new) sets_.push_back(requirements);
  return at->second;
}

std::optional<RequirementId> RequirementTable::combine(RequirementId base, RequirementId incoming) {
  const auto known = combined_.find({base, incoming});
  if (known != combined_.end()) return known->second;
  std::optional<RequirementId> result;
  if (conflict(base, incoming).empty()) {
    model::Requirements sum = sets_[base];
    sum.add(sets_[incoming]);
    result = intern(sum);
  }
  combined_.emplace(std::pair(base, incoming), result);
  return result;
}

std::string RequirementTable::conflict(RequirementId base, RequirementId incoming) const {
  return sets_[base].incompatible(sets_[incoming], may_be_undefined_);
}

bool add_all(model::Requirements& requirements, const std::vector<model::RequirementSpec>& specs) {
  for (const model::RequirementSpec& spec : specs) {
    const model::Requirements one({spec});
    if (!requirements.intersects(one)) return false;
    requirements.add(one);
  }
  return true;
}

std::vector<model::Requirements> alternatives_of(const model::PodShape& shape) {
  const auto selector = model::Requirements::from_labels(shape.node_selector);
  if (shape.required_terms.empty()) return {selector};
  std::vector<model::Requirements> alternatives;
  for (const model::NodeSelectorTerm& term : shape.required_terms) {
    if (term.has_match_fields || term.expressions.empty()) continue;
    model::Requirements both = selector;
    if (add_all(both, term.expressions)) alternatives.push_back(std::move(both));
  }
  return alternatives;
}

std::string describe(const model::Requirements& requirements) {
  std::string text;
  for (const auto& [key, set] : requirements.all()) {
    if (key == model::kHostnameLabel) continue;
    text += (text.empty() ? "" : ", ") + model::describe(key, set);
  }
  return text;
}

}  // namespace karst::scheduling
