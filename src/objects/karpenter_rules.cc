// NodePools, NodeClaims, NodeOverlays, capacity buffers: what their schemas demand of values.
#include <algorithm>
#include <charconv>
#include <limits>
#include <set>

#include "base/utf8.h"
#include "model/cron.h"
#include "objects/manifest_rules.h"
#include "objects/name_rules.h"

namespace karst::objects {
namespace {

constexpr std::size_t kRequirementsMax = 100;
constexpr std::size_t kTemplateLabelsMax = 100;
constexpr std::size_t kBudgetsMax = 50;
constexpr std::int64_t kMinValuesMax = 50;
constexpr std::string_view kAllowedKeys[] = {"karpenter.sh/capacity-type", "karpenter.sh/nodepool"};

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// One or more of: digits and one of the letters of `units`.
bool is_duration(std::string_view text, std::string_view units) {
  bool any = false;
  while (!text.empty()) {
    const std::size_t unit = text.find_first_not_of("0123456789");
    if (unit == 0 || unit == std::string_view::npos || units.find(text[unit]) == units.npos)
      return false;
    text.remove_prefix(unit + 1);
    any = true;
  }
  return any;
}

std::string bad_duration(std::string_view text) {
  if (is_duration(text, "smh")) return {};
  return "expected a duration such as 30s, 10m or 48h30m, found \"" +
         std::string(base::cut_utf8(text, 80)) + "\"";
}

std::string bad_duration_or_never(std::string_view text) {
  if (text == "Never" || is_duration(text, "smh")) return {};
  return "expected a duration such as 30s, 10m or 720h, or Never, found \"" +
         std::string(base::cut_utf8(text, 80)) + "\"";
}

// What keys of a pool's or a claim's requirements and of its labels may not be.
std::string restricted(std::string_view key, bool of_pool) {
  if (key == "kubernetes.io/hostname") return "label \"kubernetes.io/hostname\" is restricted";
  if (of_pool && key == "karpenter.sh/nodepool")
    return "label \"karpenter.sh/nodepool\" is restricted: the pool sets it";
  const std::size_t slash = key.find('/');
  if (slash == std::string_view::npos || !key.substr(0, slash).ends_with("karpenter.sh")) return {};
  if (std::find(std::begin(kAllowedKeys), std::end(kAllowedKeys), key) != std::end(kAllowedKeys))
    return {};
  return "label domain \"karpenter.sh\" is restricted; use a label of another domain";
}

std::string bad_key_of_pool(std::string_view key) {
  std::string bad = bad_label_key(key);
  return bad.empty() ? restricted(key, true) : bad;
}

std::string bad_key_of_claim(std::string_view key) {
  std::string bad = bad_label_key(key);
  return bad.empty() ? restricted(key, false) : bad;
}

bool is_bound(std::string_view op) {
  return op == "Gt" || op == "Lt" || op == "Gte" || op == "Lte";
}

void check_requirement(Review& review, const TreeValue& requirement, bool overlay) {
  const std::string_view op = requirement.text_of("operator");
  const TreeValue* values = requirement.find("values");
  const std::size_t count = values == nullptr ? 0 : values->items.size();
  if ((op == "In" || (overlay && op == "NotIn")) && count == 0)
    refuse_field(review, requirement, "values", "must not be empty with " + std::string(op));
  std::int64_t number = -1;
  if (count == 1 && is_digits(values->items[0].text)) {
    const std::string& text = values->items[0].text;
    std::from_chars(text.data(), text.data() + text.size(), number);
  }
  if (is_bound(op) && number < 0)
    refuse_field(review, requirement, "values",
                 "must hold a single whole number from 0 with " + std::string(op));
  check_range(review, requirement, "minValues", 1, kMinValuesMax);
  const std::int64_t least = number_of(requirement, "minValues", 0);
  if (op == "In" && least > static_cast<std::int64_t>(count))
    refuse_field(review, requirement, "minValues",
                 "is " + std::to_string(least) + ", but there are only " + std::to_string(count) +
                     " values");
}

void check_node_requirement(Review& review, const TreeValue& requirement) {
  check_requirement(review, requirement, false);
}

void check_overlay_requirement(Review& review, const TreeValue& requirement) {
  check_requirement(review, requirement, true);
}

void check_requirements(Review& review, const TreeValue& spec,
                        std::string (*bad)(std::string_view)) {
  const TreeValue* list = spec.find("requirements");
  if (list == nullptr) return;
  if (list->items.size() > kRequirementsMax)
    refuse_field(review, spec, "requirements", "more than 100 elements");
  Review::Scope scope(review, "requirements");
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    Review::Scope inner(review, i);
    check_text(review, list->items[i], "key", bad);
  }
}

void check_times(Review& review, const TreeValue& spec) {
  check_text(review, spec, "expireAfter", bad_duration_or_never);
  check_text(review, spec, "terminationGracePeriod", bad_duration);
}

void check_pool_taint(Review& review, const TreeValue& taint) {
  if (const TreeValue* value = taint.find("value"); value != nullptr && value->text.empty())
    refuse_field(review, taint, "value", "must not be empty; leave it out");
}

// `distinct`: over both lists, as a pool's must be.
void check_taints(Review& review, const TreeValue& spec, bool distinct) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const std::string_view name : {"taints", "startupTaints"}) {
    const TreeValue* taints = spec.find(name);
    if (taints == nullptr) continue;
    Review::Scope scope(review, name);
    for (std::size_t i = 0; i < taints->items.size(); ++i) {
      const TreeValue& taint = taints->items[i];
      Review::Scope inner(review, i);
      check_pool_taint(review, taint);
      const bool first = seen.emplace(taint.text_of("key"), taint.text_of("effect")).second;
      if (distinct && !first) review.refuse(taint.line, "the same key and effect are there twice");
    }
  }
}

void check_node_claim(Review& review, const TreeValue& spec) {
  check_requirements(review, spec, bad_key_of_claim);
  check_times(review, spec);
  check_taints(review, spec, false);
}

void check_template(Review& review, const TreeValue& spec) {
  check_requirements(review, spec, bad_key_of_pool);
  check_times(review, spec);
  check_taints(review, spec, true);
}

void check_template_metadata(Review& review, const TreeValue& metadata) {
  check_labels(review, metadata, "labels");
  const TreeValue* labels = metadata.find("labels");
  if (labels == nullptr) return;
  Review::Scope scope(review, "labels");
  if (labels->fields.size() > kTemplateLabelsMax)
    review.refuse(labels->line, "more than 100 labels");
  for (const TreeField& field : labels->fields)
    if (const std::string bad = restricted(field.key, true); !bad.empty())
      review.refuse(field.key, field.line, bad);
}

void check_class_ref(Review& review, const TreeValue& ref) {
  for (const std::string_view name : {"group", "kind", "name"})
    if (ref.text_of(name).empty()) refuse_field(review, ref, name, "must not be empty");
  if (ref.text_of("group").find('/') != std::string_view::npos)
    refuse_field(review, ref, "group",
                 "must have no version: expected for example karpenter.k8s.aws");
}

// The API server takes any five words; Karpenter cannot read them then and removes no node at all.
std::string bad_schedule(std::string_view text) {
  const auto schedule = model::parse_schedule(text);
  return schedule ? std::string() : schedule.error().message;
}

std::string bad_nodes(std::string_view text) {
  const bool percent = text.ends_with('%');
  const std::string_view digits = text.substr(0, text.size() - (percent ? 1 : 0));
  if (is_digits(digits) && (!percent || digits.size() <= 2 || digits == "100")) return {};
  return "expected a number or a percentage such as \"10%\", found \"" +
         std::string(base::cut_utf8(text, 80)) + "\"";
}

// Hours, minutes, or hours and minutes; "0s" may follow, as Go writes durations.
std::string bad_budget_duration(std::string_view text) {
  std::string_view rest = text.ends_with("0s") ? text.substr(0, text.size() - 2) : text;
  const std::size_t hours = rest.find('h');
  const std::string_view minutes = hours == rest.npos ? rest : rest.substr(hours + 1);
  const bool bad_hours = hours != rest.npos && !is_digits(rest.substr(0, hours));
  const bool bad_minutes =
      !(hours != rest.npos && minutes.empty()) &&
      !(minutes.ends_with('m') && is_digits(minutes.substr(0, minutes.size() - 1)));
  if (!bad_hours && !bad_minutes) return {};
  return "expected hours and minutes such as 8h, 90m or 1h30m, found \"" +
         std::string(base::cut_utf8(text, 80)) + "\"";
}

void check_budget(Review& review, const TreeValue& budget) {
  check_text(review, budget, "nodes", bad_nodes);
  const bool schedule = budget.find("schedule") != nullptr;
  const bool duration = budget.find("duration") != nullptr;
  if (schedule != duration)
    refuse_field(review, budget, schedule ? "schedule" : "duration",
                 schedule ? "needs a duration beside it" : "needs a schedule beside it");
  check_text(review, budget, "schedule", bad_schedule);
  check_text(review, budget, "duration", bad_budget_duration);
  if (const TreeValue* reasons = budget.find("reasons"); reasons != nullptr) {
    Review::Scope scope(review, "reasons");
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < reasons->items.size(); ++i) {
      Review::Scope inner(review, i);
      if (!seen.insert(reasons->items[i].text).second)
        review.refuse(reasons->items[i].line, "the same reason is there twice");
    }
  }
}

void check_disruption(Review& review, const TreeValue& disruption) {
  check_text(review, disruption, "consolidateAfter", bad_duration_or_never);
  const TreeValue* budgets = disruption.find("budgets");
  if (budgets != nullptr && budgets->items.size() > kBudgetsMax)
    refuse_field(review, disruption, "budgets", "more than 50 elements");
}

void check_pool(Review& review, const TreeValue& spec) {
  check_range(review, spec, "weight", 1, 100);
  check_range(review, spec, "replicas", 0, kInt32Max);
  if (spec.find("replicas") == nullptr) return;
  if (spec.find("weight") != nullptr)
    refuse_field(review, spec, "weight", "must not be set on a static pool (one with replicas)");
  if (const TreeValue* limits = spec.find("limits"))
    for (const TreeField& field : limits->fields)
      if (field.key != "nodes")
        refuse_field(review, spec, "limits", "must hold only nodes on a static pool");
}

std::string bad_price(std::string_view text) {
  const std::size_t point = text.find('.');
  if (is_digits(text.substr(0, point)) &&
      (point == std::string_view::npos || is_digits(text.substr(point + 1))))
    return {};
  return "expected a price such as \"0.25\", found \"" + std::string(base::cut_utf8(text, 80)) +
         "\"";
}

// "+0.5", "-1", "+10%", "-15%", no more than "-100%".
std::string bad_adjustment(std::string_view text) {
  std::string_view digits = text;
  const bool minus = digits.starts_with('-');
  const bool percent = digits.ends_with('%');
  if (minus || digits.starts_with('+')) digits.remove_prefix(1);
  if (percent) digits.remove_suffix(1);
  const bool is_signed = digits.size() < text.size() - (percent ? 1 : 0);
  const std::size_t point = std::min(digits.find('.'), digits.size());
  const bool number = (point == 0 ? digits.size() > 1 : is_digits(digits.substr(0, point))) &&
                      (point == digits.size() || is_digits(digits.substr(point + 1)));
  const bool small = !minus || !percent || point <= 2 || digits == "100";
  if (is_signed && number && small) return {};
  return "expected a signed amount or percentage such as \"+0.5\" or \"-15%\", found \"" +
         std::string(base::cut_utf8(text, 80)) + "\"";
}

void check_overlay(Review& review, const TreeValue& spec) {
  check_requirements(review, spec, bad_key_of_claim);
  check_range(review, spec, "weight", 1, 10'000);
  check_text(review, spec, "price", bad_price);
  check_text(review, spec, "priceAdjustment", bad_adjustment);
  if (spec.find("price") != nullptr && spec.find("priceAdjustment") != nullptr)
    refuse_field(review, spec, "priceAdjustment", "must not be set beside price");
  const TreeValue* capacity = spec.find("capacity");
  if (capacity == nullptr) return;
  Review::Scope scope(review, "capacity");
  for (const TreeField& field : capacity->fields)
    for (const std::string_view name : {"cpu", "memory", "ephemeral-storage", "pods"})
      if (field.key == name)
        review.refuse(field.key, field.line, "an overlay may only add other resources");
}

void check_buffer(Review& review, const TreeValue& spec) {
  check_range(review, spec, "replicas", 0, kInt32Max);
  check_range(review, spec, "percentage", 0, kInt32Max);
  const bool pod = spec.find("podTemplateRef") != nullptr;
  if (pod && spec.find("scalableRef") != nullptr)
    refuse_field(review, spec, "scalableRef", "must not be set beside podTemplateRef");
  if (pod && spec.find("replicas") == nullptr && spec.find("limits") == nullptr)
    refuse_field(review, spec, "podTemplateRef", "needs replicas or limits beside it");
}

}  // namespace

std::vector<RuleEntry> karpenter_rules() {
  return {{"KarpenterRequirement", check_node_requirement},
          {"OverlayRequirement", check_overlay_requirement},
          {"NodeClaimSpec", check_node_claim},
          {"NodeClaimTemplateSpec", check_template},
          {"NodeClaimTemplateMeta", check_template_metadata},
          {"NodeClassRef", check_class_ref},
          {"DisruptionBudget", check_budget},
          {"NodePoolDisruption", check_disruption},
          {"NodePoolSpec", check_pool},
          {"NodeOverlaySpec", check_overlay},
          {"CapacityBufferSpec", check_buffer}};
}

}  // namespace karst::objects
