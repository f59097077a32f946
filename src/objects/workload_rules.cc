// What makes pods: selectors that match their own template, restart policies, counts.
#include <algorithm>
#include <limits>
#include <set>

#include "objects/manifest_rules.h"
#include "objects/name_rules.h"

namespace karst::objects {
namespace {

bool has_text(const TreeValue& list, std::string_view text) {
  return std::any_of(list.items.begin(), list.items.end(),
                     [&](const TreeValue& item) { return item.text == text; });
}

bool requirement_holds(const TreeValue& requirement, const TreeValue* label) {
  const std::string_view op = requirement.text_of("operator");
  const TreeValue* values = requirement.find("values");
  if (op == "Exists") return label != nullptr;
  if (op == "DoesNotExist") return label == nullptr;
  const bool found = label != nullptr && values != nullptr && has_text(*values, label->text);
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
  const TreeValue* labels_wanted = selector->find("matchLabels");
  const TreeValue* expressions = selector->find("matchExpressions");
  if ((labels_wanted == nullptr || labels_wanted->fields.empty()) &&
      (expressions == nullptr || expressions->items.empty()))
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
  if (pod->find("activeDeadlineSeconds") != nullptr)
    refuse_template(review, spec, "spec", "activeDeadlineSeconds",
                    "must not be set here; only Jobs and single Pods end by themselves");
}

void check_template_mounts(Review& review, const TreeValue& spec) {
  const TreeValue* pod = at(spec, {"template", "spec"});
  if (pod == nullptr) return;
  std::set<std::string_view> claims;
  if (const TreeValue* templates = spec.find("volumeClaimTemplates"))
    for (const TreeValue& one : templates->items)
      if (const TreeValue* name = at(one, {"metadata", "name"})) claims.insert(name->text);
  Review::Scope outer(review, "template");
  Review::Scope inner(review, "spec");
  check_mounts(review, *pod, std::move(claims));
}

// Deployments, ReplicaSets, StatefulSets, DaemonSets.
void check_workload(Review& review, const TreeValue& spec) {
  check_range(review, spec, "replicas", 0, kInt32Max);
  check_range(review, spec, "minReadySeconds", 0, kInt32Max);
  check_selected(review, spec);
  check_restart(review, spec);
  check_template_mounts(review, spec);
}

// Its selector is a map of labels, and those of its template when it is not given.
void check_controller(Review& review, const TreeValue& spec) {
  check_range(review, spec, "replicas", 0, kInt32Max);
  check_range(review, spec, "minReadySeconds", 0, kInt32Max);
  check_restart(review, spec);
  check_template_mounts(review, spec);
  if (spec.find("template") == nullptr) return;
  const TreeValue* selector = spec.find("selector");
  const TreeValue* labels = at(spec, {"template", "metadata", "labels"});
  if (selector == nullptr || selector->fields.empty()) {
    if (labels == nullptr || labels->fields.empty())
      refuse_field(review, spec, "selector", "must not be empty");
    return;
  }
  TreeValue wanted;
  wanted.fields.push_back({"matchLabels", selector->line, *selector});
  if (!selects(wanted, labels == nullptr ? TreeValue() : *labels))
    refuse_template(review, spec, "metadata", "labels", "do not match spec.selector");
}

void check_job(Review& review, const TreeValue& spec) {
  for (const std::string_view name :
       {"parallelism", "completions", "backoffLimit", "ttlSecondsAfterFinished"})
    check_range(review, spec, name, 0, kInt32Max);
  const TreeValue* pod = at(spec, {"template", "spec"});
  if (pod == nullptr) return refuse_template(review, spec, "spec", "containers", "is missing");
  const std::string_view policy = pod->text_of("restartPolicy");
  if (policy != "OnFailure" && policy != "Never")
    refuse_template(review, spec, "spec", "restartPolicy", "must be OnFailure or Never for a Job");
}

void check_job_template(Review& review, const TreeValue& spec) {
  check_job(review, spec);
  check_template_mounts(review, spec);
}

// Its Jobs' names are its own and eleven characters more.
void check_cron_job_name(Review& review, const TreeValue& object) {
  constexpr std::size_t kNameMax = 52;
  check_spec_is_there(review, object);
  const TreeValue* metadata = object.find("metadata");
  if (metadata == nullptr || metadata->text_of("name").size() <= kNameMax) return;
  Review::Scope scope(review, "metadata");
  refuse_field(review, *metadata, "name", "must not be longer than 52 characters");
}

void check_cron_job(Review& review, const TreeValue& spec) {
  std::string_view text = spec.text_of("schedule");
  if (text.starts_with('@')) return;
  std::size_t fields = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    fields += end > 0;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (fields != 5)
    refuse_field(review, spec, "schedule",
                 "expected five fields (minute, hour, day, month, weekday) or @daily and the like");
}

// "25%" or a whole number from 0.
void check_share(Review& review, const TreeValue& object, std::string_view name) {
  const TreeValue* value = object.find(name);
  if (value == nullptr) return;
  const std::string_view text = value->text;
  const std::string_view digits = value->is(TreeValue::Type::kText) && text.ends_with('%')
                                      ? text.substr(0, text.size() - 1)
                                      : text;
  const bool number = !digits.empty() && digits.find_first_not_of("0123456789") == digits.npos;
  if (!number || (value->is(TreeValue::Type::kText) && digits.size() == text.size()))
    refuse_field(review, object, name,
                 "must be a whole number from 0, or a percentage such as \"50%\"; found " +
                     describe(*value));
  else if (name != "maxSurge" && text.ends_with('%') &&
           (digits.size() > 3 || std::stoi(std::string(digits)) > 100))
    refuse_field(review, object, name, "must not be more than 100%, found " + std::string(text));
}

bool is_zero(const TreeValue* share) {
  return share != nullptr && share->text.find_first_not_of("0%") == std::string::npos;
}

void check_rolling_update(Review& review, const TreeValue& update) {
  check_share(review, update, "maxSurge");
  check_share(review, update, "maxUnavailable");
  check_range(review, update, "partition", 0, kInt32Max);
}

// One of them must let the update go on; what is not given is 25%.
void check_deployment_update(Review& review, const TreeValue& update) {
  check_rolling_update(review, update);
  if (is_zero(update.find("maxSurge")) && is_zero(update.find("maxUnavailable")))
    refuse_field(review, update, "maxUnavailable", "must not be 0 while maxSurge is 0");
}

// One of them, and not both, lets the update go on.
void check_daemon_update(Review& review, const TreeValue& update) {
  check_rolling_update(review, update);
  const TreeValue* surge = update.find("maxSurge");
  const TreeValue* unavailable = update.find("maxUnavailable");
  const bool surges = surge != nullptr && !is_zero(surge);
  if (surges && unavailable != nullptr && !is_zero(unavailable))
    refuse_field(review, update, "maxUnavailable", "must be 0 while maxSurge is not");
  if (!surges && is_zero(unavailable))
    refuse_field(review, update, "maxUnavailable", "must not be 0 while maxSurge is 0");
}

void check_deployment(Review& review, const TreeValue& spec) {
  check_workload(review, spec);
  const std::int64_t ready = number_of(spec, "minReadySeconds", 0);
  if (const std::int64_t deadline = number_of(spec, "progressDeadlineSeconds", 600);
      deadline <= ready)
    refuse_field(review, spec, "progressDeadlineSeconds",
                 "must be more than minReadySeconds " + std::to_string(ready) + ", found " +
                     std::to_string(deadline));
}

void check_ordinals(Review& review, const TreeValue& ordinals) {
  check_range(review, ordinals, "start", 0, kInt32Max);
}

void check_strategy(Review& review, const TreeValue& strategy) {
  if (strategy.text_of("type") == "Recreate" && strategy.find("rollingUpdate") != nullptr)
    refuse_field(review, strategy, "rollingUpdate", "must not be set with type Recreate");
}

void check_pod_budget(Review& review, const TreeValue& spec) {
  if (spec.find("minAvailable") != nullptr && spec.find("maxUnavailable") != nullptr)
    refuse_field(review, spec, "maxUnavailable", "must not be set beside minAvailable");
  check_share(review, spec, "minAvailable");
  check_share(review, spec, "maxUnavailable");
}

}  // namespace

std::vector<RuleEntry> workload_rules() {
  return {{"Deployment", check_spec_is_there},
          {"ReplicaSet", check_spec_is_there},
          {"StatefulSet", check_spec_is_there},
          {"DaemonSet", check_spec_is_there},
          {"Job", check_spec_is_there},
          {"CronJob", check_cron_job_name},
          {"ReplicationController", check_spec_is_there},
          {"JobTemplateSpec", check_spec_is_there},
          {"DeploymentSpec", check_deployment},
          {"ReplicaSetSpec", check_workload},
          {"StatefulSetSpec", check_workload},
          {"DaemonSetSpec", check_workload},
          {"ReplicationControllerSpec", check_controller},
          {"JobSpec", check_job_template},
          {"CronJobSpec", check_cron_job},
          {"StatefulSetOrdinals", check_ordinals},
          {"DeploymentStrategy", check_strategy},
          {"RollingUpdateDeployment", check_deployment_update},
          {"RollingUpdateDaemonSet", check_daemon_update},
          {"RollingUpdateStatefulSetStrategy", check_rolling_update},
          {"PodDisruptionBudgetSpec", check_pod_budget}};
}

}  // namespace karst::objects
