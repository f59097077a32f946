// What containers ask for, and what they may have at most.
#include "model/quantity.h"
#include "objects/manifest_rules.h"
#include "objects/name_rules.h"

namespace karst::objects {
namespace {

std::int64_t amount(const TreeValue& value) {
  return model::parse_quantity_millis(value.text, model::Rounding::kUp).value_or(0);
}

bool is_standard(std::string_view name) {
  return name == "cpu" || name == "memory" || name == "ephemeral-storage";
}

bool is_huge_pages(std::string_view name) {
  return name.starts_with("hugepages-");
}

// Resources that cannot be shared: what is requested is what is limited.
bool is_exclusive(std::string_view name) {
  return !is_standard(name);
}

void check_names(Review& review, const TreeValue& resources, std::string_view list) {
  const TreeValue* map = resources.find(list);
  if (map == nullptr) return;
  Review::Scope scope(review, list);
  for (const TreeField& field : map->fields) {
    if (const std::string bad = bad_label_key(field.key); !bad.empty()) {
      review.refuse(field.line, bad);
    } else if (field.key.find('/') == std::string::npos && !is_standard(field.key) &&
               !is_huge_pages(field.key)) {
      review.refuse(field.key, field.line,
                    "is no resource of containers; expected cpu, memory, ephemeral-storage, "
                    "hugepages-SIZE or DOMAIN/NAME");
    } else if (is_exclusive(field.key) && amount(field.value) % 1000 != 0) {
      review.refuse(field.key, field.line, "must be a whole number, found " + field.value.text);
    }
  }
}

// Huge pages are part of a machine that also has a processor and plain memory.
void check_huge_pages(Review& review, const TreeValue& resources) {
  const TreeField* huge = nullptr;
  for (const std::string_view list : {"requests", "limits"}) {
    const TreeValue* map = resources.find(list);
    if (map == nullptr) continue;
    for (const TreeField& field : map->fields) {
      if (field.key == "cpu" || field.key == "memory") return;
      if (is_huge_pages(field.key)) huge = &field;
    }
  }
  if (huge != nullptr)
    review.refuse(huge->line, huge->key + " needs a request for cpu or memory beside it");
}

void check_resources(Review& review, const TreeValue& resources) {
  const std::size_t before = review.count();
  check_names(review, resources, "requests");
  check_names(review, resources, "limits");
  const TreeValue* requests = resources.find("requests");
  const TreeValue* limits = resources.find("limits");
  if (review.count() > before) return;
  check_huge_pages(review, resources);
  if (requests == nullptr) return;
  Review::Scope scope(review, "requests");
  for (const TreeField& request : requests->fields) {
    const TreeValue* limit = limits == nullptr ? nullptr : limits->find(request.key);
    if (limit == nullptr) {
      if (is_exclusive(request.key))
        review.refuse(request.key, request.line, "needs a limit of the same amount");
      continue;
    }
    const bool more = amount(request.value) > amount(*limit);
    const bool less = amount(request.value) < amount(*limit);
    if (more)
      review.refuse(
          request.key, request.line,
          "requests " + request.value.text + ", which is more than its limit " + limit->text);
    else if (less && is_exclusive(request.key))
      review.refuse(request.key, request.line,
                    "must equal its limit " + limit->text + ", found " + request.value.text);
  }
}

}  // namespace

std::vector<RuleEntry> resource_rules() {
  return {{"ResourceRequirements", check_resources}};
}

}  // namespace karst::objects
