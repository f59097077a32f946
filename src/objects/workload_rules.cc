// What makes pods: selectors that match their own template, restart policies, counts.
#include <algorithm>
#include <limits>

#include "objects/manifest_rules.h"
#include "objects/name_rules.h"

namespace karst::objects {
namespace {

constexpr std::int64_t kNumberMax = std::numeric_limits<std::int32_t>::max();

bool has(const TreeValue& list, std::string_view text) {
  return std::any_of(list.items.begin(), list.items.end(),
                     [&](const TreeValue& item) { return item.text == text; });
}

bool requirement_holds(const TreeValue& requirement, const TreeValue* label) {
  const std::string_view op = requirement.text_of("operator");
  const TreeValue* values = requirement.find("values");
  if (op == "Exists") return label != nullptr;
  if (op == "DoesNotExist") return label == nullptr;
  const bool found = label != nullptr && values != nullptr && has(*values, label->text);
  return op == "In" ? found : !found;
}

bool selects(const TreeValue& selector, const TreeValue& labels) {
  if (const TreeValue* wanted = selector.find("matchLabels"))
    for (const TreeField& field : wanted->fields) {
      const TreeValue* label = labels.find(field.key);
      if (label == nullptr || label->text != field.value.text) return false;
    }
  if (const TreeValue* expressions = selector.find("matchExpressions"))
    for (const TreeValue& requirement : expressions->items)
      if (!requirement_holds(requirement, labels.find(requirement.text_of("key")))) return false;
  return true;
}

// nullptr when there is nothing on the way.
const TreeValue* at(const TreeValue& object, std::initializer_list<std::string_view> path) {
  const TreeValue* value = &object;
  for (const std::string_view key : path)
    if (value != nullptr) value = value->find(key);
  return value;
}

void refuse_template(Review& review, const TreeValue& spec, std::string_view part,
                     std::string_view name, std::string what) {
  const TreeValue* object = at(spec, {"template", part});
  Review::Scope outer(review, "template");
  Review::Scope inner(review, part);
  refuse_field(review, object == nullptr ? spec : *object, name, std::move(what));
}

void check_selected(Review& review, const TreeValue& spec) {
  const TreeValue* selector = spec.find("selector");
  if (selector == nullptr) return;
  if (at(*selector, {"matchLabels"}) == nullptr && at(*selector, {"matchExpressions"}) == nullptr)
    return refuse_field(review, spec, "selector", "must not be empty");
  const TreeValue* labels = at(spec, {"template", "metadata", "labels"});
  if (!selects(*selector, labels == nullptr ? TreeValue() : *labels))
    refuse_template(review, spec, "metadata", "labels", "do not match spec.selector");
}

void check_restart(Review& review, const TreeValue& spec) {
  const TreeValue* pod = at(spec, {"template", "spec"});
  if (pod == nullptr) return refuse_template(review, spec, "spec", "containers", "is missing");
  const std::string_view policy = pod->text_of("restartPolicy");
  if (!policy.empty() && policy != "Always")
    refuse_template(review, spec, "spec", "restartPolicy",
                    "must be Always here, found \"" + std::string(policy) + "\"");
}

void check_template_mounts(Review& review, const TreeValue& spec) {
  const TreeValue* pod = at(spec, {"template", "spec"});
  if (pod == nullptr) return;
  Review::Scope outer(review, "template");
  Review::Scope inner(review, "spec");
  check_mounts(review, *pod);
}

void check_stateful_set(Review& review, const TreeValue& spec) {
  check_range(review, spec, "replicas", 0, kNumberMax);
  check_range(review, spec, "minReadySeconds", 0, kNumberMax);
  check_selected(review, spec);
  check_restart(review, spec);
}

// Deployments, ReplicaSets, DaemonSets.
void check_workload(Review& review, const TreeValue& spec) {
  check_stateful_set(review, spec);
  check_template_mounts(review, spec);
}

void check_job(Review& review, const TreeValue& spec) {
  for (const std::string_view name :
       {"parallelism", "completions", "backoffLimit", "ttlSecondsAfterFinished"})
    check_range(review, spec, name, 0, kNumberMax);
  const TreeValue* pod = at(spec, {"template", "spec"});
  if (pod == nullptr) return refuse_template(review, spec, "spec", "containers", "is missing");
  const std::string_view policy = pod->text_of("restartPolicy");
  if (policy != "OnFailure" && policy != "Never")
    refuse_template(review, spec, "spec", "restartPolicy", "must be OnFailure or Never for a Job");
  if (spec.text_of("completionMode") == "Indexed" && spec.find("completions") == nullptr)
    refuse_field(review, spec, "completions", "must be there with completionMode Indexed");
}

void check_job_template(Review& review, const TreeValue& spec) {
  check_job(review, spec);
  check_template_mounts(review, spec);
}

void check_cron_job(Review& review, const TreeValue& spec) {
  if (spec.text_of("schedule").empty()) refuse_field(review, spec, "schedule", "must not be empty");
}

void check_budget(Review& review, const TreeValue& spec) {
  if (spec.find("minAvailable") != nullptr && spec.find("maxUnavailable") != nullptr)
    refuse_field(review, spec, "maxUnavailable", "must not be set beside minAvailable");
  for (const std::string_view name : {"minAvailable", "maxUnavailable"}) {
    const TreeValue* value = spec.find(name);
    if (value == nullptr) continue;
    const std::string_view text = value->text;
    const bool digits = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
    const bool percent = text.size() > 1 && text.back() == '%' &&
                         text.find_first_not_of("0123456789") == text.size() - 1;
    if (value->is(TreeValue::Type::kText) ? !percent : !digits)
      refuse_field(review, spec, name,
                   "must be a whole number from 0, or a percentage such as \"50%\"; found " +
                       describe(*value));
  }
}

}  // namespace

std::vector<RuleEntry> workload_rules() {
  return {{"DeploymentSpec", check_workload},       {"ReplicaSetSpec", check_workload},
          {"StatefulSetSpec", check_stateful_set},  {"DaemonSetSpec", check_workload},
          {"JobSpec", check_job_template},          {"CronJobSpec", check_cron_job},
          {"PodDisruptionBudgetSpec", check_budget}};
}

}  // namespace karst::objects
