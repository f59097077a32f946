#include "model/requirements.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace karst::model {
namespace {

constexpr std::size_t kValuesShownMax = 5;

std::optional<std::int64_t> to_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool within_bounds(const ValueSet& set, std::string_view value) {
  if (!set.at_least && !set.at_most) return true;
  const auto number = to_integer(value);
  if (!number) return false;
  return (!set.at_least || *number >= *set.at_least) && (!set.at_most || *number <= *set.at_most);
}

}  // namespace

std::string_view operator_name(Operator op) {
  switch (op) {
    case Operator::kIn:
      return "In";
    case Operator::kNotIn:
      return "NotIn";
    case Operator::kExists:
      return "Exists";
    case Operator::kDoesNotExist:
      return "DoesNotExist";
    case Operator::kGt:
      return "Gt";
    case Operator::kLt:
      return "Lt";
    case Operator::kGte:
      return "Gte";
    case Operator::kLte:
      return "Lte";
  }
  return "?";
}

std::optional<Operator> parse_operator(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(Operator::kLte); ++i)
    if (operator_name(static_cast<Operator>(i)) == name) return static_cast<Operator>(i);
  return std::nullopt;
}

bool ValueSet::contains(std::string_view value) const {
  if (!within_bounds(*this, value)) return false;
  return values.contains(std::string(value)) != complement;
}

bool ValueSet::allows_absence() const {
  const Operator named = op();
  return (named == Operator::kNotIn || named == Operator::kDoesNotExist) && !must_exist;
}

Operator ValueSet::op() const {
  if (complement) return values.empty() ? Operator::kExists : Operator::kNotIn;
  return values.empty() && !must_exist ? Operator::kDoesNotExist : Operator::kIn;
}

ValueSet to_value_set(const RequirementSpec& spec) {
  ValueSet set;
  set.min_values = spec.min_values;
  // No label meets a bound that is not a number, or that no number can meet, nor does a missing
  // one.
  const ValueSet nothing{false, {}, {}, {}, spec.min_values, true};
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  const auto bound = spec.values.empty() ? std::nullopt : to_integer(spec.values.front());
  const std::int64_t number = bound.value_or(0);
  switch (spec.op) {
    case Operator::kIn:
      set.values.insert(spec.values.begin(), spec.values.end());
      break;
    case Operator::kNotIn:
      set.complement = true;
      set.values.insert(spec.values.begin(), spec.values.end());
      break;
    case Operator::kExists:
      set.complement = true;
      break;
    case Operator::kDoesNotExist:
      break;
    case Operator::kGt:
      if (!bound || number == kMax) return nothing;
      set.complement = true;
      set.at_least = number + 1;
      break;
    case Operator::kLt:
      if (!bound || number == kMin) return nothing;
      set.complement = true;
      set.at_most = number - 1;
      break;
    case Operator::kGte:
      if (!bound) return nothing;
      set.complement = true;
      set.at_least = number;
      break;
    case Operator::kLte:
      if (!bound) return nothing;
      set.complement = true;
      set.at_most = number;
      break;
  }
  return set;
}

bool exclude_each_other(const ValueSet& a, const ValueSet& b) {
  return intersection(a, b).empty() && !(a.allows_absence() && b.allows_absence());
}

ValueSet intersection(const ValueSet& a, const ValueSet& b) {
  ValueSet result;
  result.min_values = std::max(a.min_values, b.min_values);
  result.at_least = a.at_least;
  if (b.at_least && (!result.at_least || *b.at_least > *result.at_least))
    result.at_least = b.at_least;
  result.at_most = a.at_most;
  if (b.at_most && (!result.at_most || *b.at_most < *result.at_most)) result.at_most = b.at_most;
  if (result.at_least && result.at_most && *result.at_least > *result.at_most)
    return ValueSet{false, {}, {}, {}, result.min_values, true};
  if (a.complement && b.complement) {
    result.complement = true;
    result.values = a.values;
    result.values.insert(b.values.begin(), b.values.end());
    std::erase_if(result.values,
                  [&](const std::string& value) { return !within_bounds(result, value); });
    result.must_exist = !result.values.empty() && !(a.allows_absence() && b.allows_absence());
    return result;
  }
  const ValueSet& concrete = a.complement ? b : a;
  const ValueSet& other = a.complement ? a : b;
  for (const std::string& value : concrete.values)
    if (other.values.contains(value) != other.complement && within_bounds(result, value))
      result.values.insert(value);
  result.at_least.reset();
  result.at_most.reset();
  result.must_exist = result.values.empty() && !(a.allows_absence() && b.allows_absence());
  return result;
}

std::string describe(std::string_view key, const ValueSet& set) {
  std::string text = std::string(key) + " " + std::string(operator_name(set.op()));
  if (!set.values.empty()) {
    text += " [";
    std::size_t shown = 0;
    for (const std::string& value : set.values) {
      if (shown == kValuesShownMax) break;
      text += (shown++ == 0 ? "" : " ") + value;
    }
    if (set.values.size() > kValuesShownMax)
      text += " and " + std::to_string(set.values.size() - kValuesShownMax) + " others";
    text += "]";
  }
  if (set.at_least) text += " >=" + std::to_string(*set.at_least);
  if (set.at_most) text += " <=" + std::to_string(*set.at_most);
  if (set.min_values > 0) text += " minValues " + std::to_string(set.min_values);
  return text;
}

Requirements::Requirements(const std::vector<RequirementSpec>& specs) {
  for (const RequirementSpec& spec : specs) add(spec.key, to_value_set(spec));
}

Requirements Requirements::from_labels(const Labels& labels) {
  Requirements result;
  for (const auto& [key, value] : labels) result.add(key, ValueSet::of(value));
  return result;
}

void Requirements::add(std::string_view key, const ValueSet& set) {
  const auto at = sets_.find(key);
  if (at == sets_.end())
    sets_.emplace(std::string(key), set);
  else
    at->second = intersection(at->second, set);
}

void Requirements::add(const Requirements& other) {
  for (const auto& [key, set] : other.sets_) add(key, set);
}

const ValueSet* Requirements::find(std::string_view key) const {
  const auto at = sets_.find(key);
  return at == sets_.end() ? nullptr : &at->second;
}

std::string Requirements::incompatible(
    const Requirements& incoming,
    const std::set<std::string, std::less<>>& allowed_undefined) const {
  std::string reasons;
  const auto add_reason = [&](const std::string& reason) {
    reasons += (reasons.empty() ? "" : "; ") + reason;
  };
  for (const auto& [key, set] : incoming.sets_) {
    const ValueSet* own = find(key);
    if (own == nullptr) {
      const bool is_impossible = set.empty() && set.must_exist;
      if (is_impossible || (!allowed_undefined.contains(key) && !set.allows_absence()))
        add_reason("label \"" + key + "\" does not have known values");
      continue;
    }
    if (exclude_each_other(*own, set))
      add_reason("key " + key + ", " + describe(key, set) + " not in " + describe(key, *own));
  }
  return reasons;
}

const std::string* Requirements::conflict(const Requirements& other) const {
  for (const auto& [key, set] : other.sets_) {
    const ValueSet* own = find(key);
    if (own != nullptr && exclude_each_other(*own, set)) return &key;
  }
  return nullptr;
}

std::vector<RequirementSpec> Requirements::specs() const {
  std::vector<RequirementSpec> specs;
  for (const auto& [key, set] : sets_) {
    if (set.at_least || set.at_most) {
      if (set.at_least)
        specs.push_back({key, Operator::kGte, {std::to_string(*set.at_least)}, set.min_values});
      if (set.at_most)
        specs.push_back({key, Operator::kLte, {std::to_string(*set.at_most)}, set.min_values});
      if (set.values.empty()) continue;
    } else if (set.must_exist) {
      specs.push_back({key, Operator::kExists, {}, 0});
    }
    specs.push_back({key, set.op(), {set.values.begin(), set.values.end()}, set.min_values});
  }
  return specs;
}

const std::set<std::string, std::less<>>& well_known_labels() {
  static const std::set<std::string, std::less<>> kKeys = {
      std::string(kNodePoolLabel),     std::string(kZoneLabel),           std::string(kRegionLabel),
      std::string(kInstanceTypeLabel), std::string(kArchLabel),           std::string(kOsLabel),
      std::string(kCapacityTypeLabel), "node.kubernetes.io/windows-build"};
  return kKeys;
}

std::string restricted_label_text(std::string_view key,
                                  const std::set<std::string, std::less<>>& known,
                                  std::string_view cloud_domain) {
  const auto listed = [](const std::set<std::string, std::less<>>& texts) {
    std::string all;
    for (const std::string& text : texts) all += (all.empty() ? "" : " ") + text;
    return all;
  };
  std::set<std::string, std::less<>> domains{"karpenter.sh"};
  if (!cloud_domain.empty()) domains.emplace(cloud_domain);
  return "using label " + std::string(key) +
         " is not allowed as it might interfere with the internal provisioning logic; specify a "
         "well known label: [" +
         listed(known) + "], or a custom label that does not use a restricted domain: [" +
         listed(domains) + "]";
}

}  // namespace karst::model
