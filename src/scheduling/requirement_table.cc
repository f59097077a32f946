#include "scheduling/requirement_table.h"

#include "model/labels.h"

namespace karst::scheduling {
namespace {

std::uint64_t pair_of(RequirementId a, RequirementId b) {
  return static_cast<std::uint64_t>(a) << 32 | b;
}

}  // namespace

RequirementTable::RequirementTable(const Problem& problem) : options_(problem.options) {
  may_be_undefined_ = options_.well_known_labels;
  if (!may_be_undefined_.empty()) return;
  may_be_undefined_ = model::well_known_labels();
  if (!options_.reservation_id_label.empty())
    may_be_undefined_.insert(options_.reservation_id_label);
  for (const Pool& pool : problem.pools)
    for (std::size_t demand = 0; demand < pool.types.demands(); ++demand)
      for (const auto& [key, set] : pool.types.demanded(demand).all())
        may_be_undefined_.insert(key);
}

std::string_view RequirementTable::today(std::string_view key) const {
  const auto at = options_.label_aliases.find(key);
  return at == options_.label_aliases.end() ? key : std::string_view(at->second);
}

RequirementId RequirementTable::intern(const model::Requirements& requirements) {
  const auto [at, is_new] =
      ids_.try_emplace(requirements.specs(), static_cast<RequirementId>(sets_.size()));
  if (is_new) sets_.push_back(requirements);
  return at->second;
}

RequirementId RequirementTable::combine(RequirementId base, RequirementId incoming) {
  const auto [at, is_new] = combined_.try_emplace(pair_of(base, incoming), kImpossible);
  if (!is_new || !conflict(base, incoming).empty()) return at->second;
  model::Requirements sum = sets_[base];
  sum.add(sets_[incoming]);
  const RequirementId id = intern(sum);
  combined_[pair_of(base, incoming)] = id;
  return id;
}

RequirementId RequirementTable::both(RequirementId a, RequirementId b) {
  if (a == kImpossible || b == kImpossible) return kImpossible;
  const auto [at, is_new] = both_.try_emplace(pair_of(a, b), kImpossible);
  if (!is_new || !sets_[a].intersects(sets_[b])) return at->second;
  model::Requirements sum = sets_[a];
  sum.add(sets_[b]);
  const RequirementId id = intern(sum);
  both_[pair_of(a, b)] = id;
  return id;
}

std::string RequirementTable::conflict(RequirementId base, RequirementId incoming) const {
  return sets_[base].incompatible(sets_[incoming], may_be_undefined_);
}

RequirementId RequirementTable::one_of(const std::string& key,
                                       const std::vector<std::string>& values) {
  return intern(model::Requirements({{key, model::Operator::kIn, values, 0}}));
}

bool RequirementTable::add_all(model::Requirements& requirements,
                               const std::vector<model::RequirementSpec>& specs) const {
  for (const model::RequirementSpec& spec : specs) {
    const model::ValueSet set = model::to_value_set(spec);
    model::Requirements one;
    one.add(today(spec.key), set);
    if (!requirements.intersects(one)) return false;
    requirements.add(one);
  }
  return true;
}

std::vector<RequirementId> RequirementTable::alternatives_of(const model::PodShape& shape) {
  model::Requirements selector;
  for (const auto& [key, value] : shape.node_selector)
    if (!add_all(selector, {{key, model::Operator::kIn, {value}, 0}})) return {};
  if (shape.required_terms.empty()) return {intern(selector)};
  std::vector<RequirementId> alternatives;
  for (const model::NodeSelectorTerm& term : shape.required_terms) {
    if (term.has_match_fields || term.expressions.empty()) continue;
    model::Requirements with_term = selector;
    if (add_all(with_term, term.expressions)) alternatives.push_back(intern(with_term));
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
