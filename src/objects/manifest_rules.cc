#include "objects/manifest_rules.h"

#include <charconv>
#include <limits>
#include <set>

#include "base/utf8.h"
#include "objects/name_rules.h"

namespace karst::objects {
namespace {

constexpr std::size_t kAnnotationBytesMax = 256 * 1024;

void check_metadata(Review& review, const TreeValue& metadata) {
  check_labels(review, metadata, "labels");
  if (const TreeValue* annotations = metadata.find("annotations")) {
    Review::Scope scope(review, "annotations");
    std::size_t bytes = 0;
    for (const TreeField& field : annotations->fields) {
      bytes += field.key.size() + field.value.text.size();
      std::string lower = field.key;
      for (char& c : lower)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
      if (const std::string bad = bad_label_key(lower); !bad.empty())
        review.refuse(field.line, bad);
    }
    if (bytes > kAnnotationBytesMax)
      review.refuse(annotations->line, "more than 256 KiB of annotations");
  }
  check_text(review, metadata, "namespace", bad_dns_label);
}

void check_selector_requirement(Review& review, const TreeValue& requirement) {
  check_text(review, requirement, "key", bad_label_key);
  const std::string_view op = requirement.text_of("operator");
  const TreeValue* values = requirement.find("values");
  const bool some = values != nullptr && !values->items.empty();
  if (op == "In" || op == "NotIn") {
    if (!some)
      refuse_field(review, requirement, "values", "must not be empty with " + std::string(op));
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (some) refuse_field(review, requirement, "values", "must be empty with " + std::string(op));
  } else {
    refuse_field(review, requirement, "operator",
                 "\"" + std::string(base::cut_utf8(op, 40)) +
                     "\" is not one of In, NotIn, Exists, DoesNotExist");
  }
  if (values == nullptr) return;
  Review::Scope scope(review, "values");
  for (std::size_t i = 0; i < values->items.size(); ++i)
    if (const std::string bad = bad_label_value(values->items[i].text); !bad.empty()) {
      Review::Scope inner(review, i);
      review.refuse(values->items[i].line, bad);
    }
}

void check_selector(Review& review, const TreeValue& selector) {
  check_labels(review, selector, "matchLabels");
}

}  // namespace

const std::vector<RuleEntry>& manifest_rules() {
  static const std::vector<RuleEntry> rules = [] {
    std::vector<RuleEntry> all;
    for (const auto& part :
         {metadata_rules(), pod_rules(), container_rules(), resource_rules(), placement_rules(),
          workload_rules(), cluster_rules(), karpenter_rules(), aws_rules()})
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }();
  return rules;
}

std::vector<RuleEntry> metadata_rules() {
  return {{"ObjectMeta", check_metadata},
          {"LabelSelector", check_selector},
          {"LabelSelectorRequirement", check_selector_requirement}};
}

void refuse_field(Review& review, const TreeValue& object, std::string_view name,
                  std::string what) {
  std::uint32_t line = object.line;
  for (const TreeField& field : object.fields)
    if (field.key == name) line = field.line;
  review.refuse(name, line, std::move(what));
}

void check_text(Review& review, const TreeValue& object, std::string_view name,
                std::string (*bad)(std::string_view)) {
  const TreeValue* value = object.find(name);
  if (value == nullptr || !value->is(TreeValue::Type::kText)) return;
  if (std::string what = bad(value->text); !what.empty())
    refuse_field(review, object, name, std::move(what));
}

std::int64_t number_of(const TreeValue& object, std::string_view name, std::int64_t fallback) {
  const TreeValue* value = object.find(name);
  if (value == nullptr || !value->is(TreeValue::Type::kInteger)) return fallback;
  std::int64_t number = fallback;
  std::from_chars(value->text.data(), value->text.data() + value->text.size(), number);
  return number;
}

void check_range(Review& review, const TreeValue& object, std::string_view name, std::int64_t least,
                 std::int64_t most) {
  const std::int64_t number = number_of(object, name, least);
  if (number >= least && number <= most) return;
  const bool open = most >= std::numeric_limits<std::int32_t>::max();
  refuse_field(review, object, name,
               "must be " +
                   (open ? "at least " + std::to_string(least)
                         : std::to_string(least) + " to " + std::to_string(most)) +
                   ", found " + std::to_string(number));
}

void check_labels(Review& review, const TreeValue& object, std::string_view name) {
  const TreeValue* labels = object.find(name);
  if (labels == nullptr) return;
  Review::Scope scope(review, name);
  for (const TreeField& field : labels->fields) {
    if (const std::string bad = bad_label_key(field.key); !bad.empty())
      review.refuse(field.line, bad);
    if (const std::string bad = bad_label_value(field.value.text); !bad.empty())
      review.refuse(field.key, field.line, bad);
  }
}

void check_spec_is_there(Review& review, const TreeValue& object) {
  if (object.find("spec") == nullptr)
    refuse_field(review, object, "spec", "is missing; it must be there");
}

void check_not_empty(Review& review, const TreeValue& object, std::string_view name) {
  const TreeValue* value = object.find(name);
  if (value == nullptr || (value->items.empty() && value->fields.empty()))
    refuse_field(review, object, name, "must not be empty");
}

void check_unique(Review& review, const TreeValue& object, std::string_view name,
                  std::string_view key) {
  const TreeValue* list = object.find(name);
  if (list == nullptr) return;
  Review::Scope scope(review, name);
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    const std::string_view text = list->items[i].text_of(key);
    if (seen.insert(text).second) continue;
    Review::Scope inner(review, i);
    refuse_field(review, list->items[i], key,
                 "\"" + std::string(base::cut_utf8(text, 80)) + "\" is there twice");
  }
}

}  // namespace karst::objects
