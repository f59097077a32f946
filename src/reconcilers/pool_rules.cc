#include "reconcilers/pool_rules.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <span>

#include "model/label_syntax.h"
#include "model/requirements.h"
#include "providers/provider.h"

namespace karst::reconcilers {
namespace {

constexpr std::string_view kOurDomain = "karpenter.sh";
constexpr std::string_view kCapacityTypes[] = {"on-demand", "reserved", "spot"};

using model::is_label_key;
using model::is_label_value;
using model::Operator;
using model::RequirementSpec;

bool is_in(std::string_view domain, std::string_view of) {
  return domain.ends_with(of) &&
         (domain.size() == of.size() || domain[domain.size() - of.size() - 1] == '.');
}

struct CloudLabels {
  std::string_view domain;
  std::span<const std::string_view> keys;  // sorted
};

// Of the cloud in the log's configuration.
CloudLabels cloud_labels(const ClusterState& state) {
  const providers::Provider* provider = providers::find_provider(state.config().provider);
  if (provider == nullptr) return {};
  return {provider->label_domain(), provider->own_labels()};
}

// Karpenter's domain, the cloud's and those below them; well-known keys are free.
bool is_restricted(const CloudLabels& cloud, std::string_view key) {
  if (key == model::kHostnameLabel) return true;
  if (model::well_known_labels().contains(key) ||
      std::binary_search(cloud.keys.begin(), cloud.keys.end(), key))
    return false;
  const std::size_t slash = key.find('/');
  if (slash == key.npos) return false;
  const std::string_view domain = key.substr(0, slash);
  return is_in(domain, kOurDomain) || (!cloud.domain.empty() && is_in(domain, cloud.domain));
}

class Faults {
 public:
  void add(std::string text) { all_ += (all_.empty() ? "" : "; ") + std::move(text); }
  std::string take() { return std::move(all_); }

 private:
  std::string all_;
};

void check_key(const CloudLabels& cloud, std::string_view key, Faults& faults) {
  if (!is_restricted(cloud, key)) return;
  std::set<std::string, std::less<>> known = model::well_known_labels();
  known.insert(cloud.keys.begin(), cloud.keys.end());
  faults.add(model::restricted_label_text(key, known, cloud.domain));
}

bool is_bound(Operator op) {
  return op == Operator::kGt || op == Operator::kLt || op == Operator::kGte || op == Operator::kLte;
}

bool is_amount(const std::vector<std::string>& values) {
  if (values.size() != 1) return false;
  std::int64_t number = -1;
  const std::string& text = values.front();
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  return end.ec == std::errc() && end.ptr == text.data() + text.size() && number >= 0;
}

// karpenter.sh/capacity-type is the one key of the core whose values are a closed set.
void check_capacity_types(const RequirementSpec& spec, Faults& faults) {
  if (spec.key != model::kCapacityTypeLabel || spec.op != Operator::kIn) return;
  const auto known = std::count_if(spec.values.begin(), spec.values.end(), [](const auto& value) {
    return std::find(std::begin(kCapacityTypes), std::end(kCapacityTypes), value) !=
           std::end(kCapacityTypes);
  });
  std::string values;
  for (const std::string& value : spec.values) values += (values.empty() ? "" : " ") + value;
  if (known == 0)
    faults.add("no valid values found in [" + values + "] for " + spec.key +
               ", expected one of: [on-demand reserved spot]");
  else if (known < spec.min_values)
    faults.add("not enough valid values found in [" + values + "] for " + spec.key + ", expected " +
               std::to_string(spec.min_values) + " of: [on-demand reserved spot]");
}

void check_requirement(const RequirementSpec& spec, Faults& faults) {
  if (spec.op == Operator::kIn && spec.values.empty())
    faults.add("key " + spec.key + " with operator In must have a value defined");
  if (is_bound(spec.op) && !is_amount(spec.values))
    faults.add("key " + spec.key + " with operator " + std::string(operator_name(spec.op)) +
               " must have a single positive integer value");
  if (spec.op == Operator::kIn && spec.min_values > static_cast<int>(spec.values.size()))
    faults.add("key " + spec.key + " with operator In must have at least minValues values");
  for (const std::string& value : spec.values)
    if (!is_label_value(value))
      faults.add("invalid value: \"" + value + "\" for key " + spec.key +
                 ": it is no value of a label");
  check_capacity_types(spec, faults);
}

void check_taints(const model::NodePool& pool, Faults& faults) {
  std::set<std::pair<std::string_view, model::TaintEffect>> seen;
  for (const auto* taints : {&pool.taints, &pool.startup_taints})
    for (const model::Taint& taint : *taints)
      if (!seen.emplace(taint.key, taint.effect).second)
        faults.add("duplicate taint Key/Effect pair " + taint.key + "=" +
                   std::string(taint_effect_name(taint.effect)));
}

}  // namespace

std::string invalid_pool(const ClusterState& state, const model::NodePool& pool) {
  const CloudLabels cloud = cloud_labels(state);
  Faults faults;
  for (const auto& [key, value] : pool.template_labels) {
    if (key == model::kNodePoolLabel)
      faults.add("invalid key name \"" + key + "\" in labels: it is restricted");
    else
      check_key(cloud, key, faults);
    if (!is_label_key(key))
      faults.add("invalid key name \"" + key + "\" in labels: it is no label key");
    if (!is_label_value(value))
      faults.add("invalid value: \"" + value + "\" for label " + key +
                 ": it is no value of a label");
  }
  check_taints(pool, faults);
  for (const RequirementSpec& spec : pool.requirements) {
    if (spec.key == model::kNodePoolLabel)
      faults.add("invalid key: \"" + spec.key + "\" in requirements: it is restricted");
    else
      check_key(cloud, spec.key, faults);
    check_requirement(spec, faults);
  }
  return faults.take();
}

std::string invalid_overlay(const ClusterState& state, const model::NodeOverlay& overlay) {
  const CloudLabels cloud = cloud_labels(state);
  Faults faults;
  for (const RequirementSpec& spec : overlay.requirements) {
    if (spec.key != model::kNodePoolLabel) check_key(cloud, spec.key, faults);
    check_requirement(spec, faults);
  }
  return faults.take();
}

model::Condition node_class_ready(const ClusterState& state, const model::NodePool& pool) {
  using model::ConditionStatus;
  const auto condition = [](ConditionStatus status, std::string reason, std::string message) {
    model::Condition result;
    result.type = "NodeClassReady";
    result.status = status;
    result.reason = std::move(reason);
    result.message = std::move(message);
    return result;
  };
  const auto* row = state.node_classes().find(pool.node_class);
  if (row == nullptr)
    return condition(ConditionStatus::kFalse, "NodeClassNotFound",
                     "NodeClass not found on cluster");
  if (row->node_class.deletion_millis != 0)
    return condition(ConditionStatus::kFalse, "NodeClassTerminating", "NodeClass is Terminating");
  const model::Condition& ready = row->node_class.ready_condition;
  if (row->node_class.ready) return condition(ConditionStatus::kTrue, "NodeClassReady", "");
  if (ready.status == ConditionStatus::kUnknown)
    return condition(ConditionStatus::kFalse, "NodeClassReadinessUnknown",
                     "Node Class Readiness Unknown");
  return condition(ConditionStatus::kFalse, ready.reason, ready.message);
}

std::string pool_fault(const ClusterState& state, const model::NodePool& pool) {
  const model::Condition ready = node_class_ready(state, pool);
  if (ready.status != model::ConditionStatus::kTrue) return ready.reason;
  return invalid_pool(state, pool).empty() ? "" : "NodePoolValidationFailed";
}

}  // namespace karst::reconcilers
