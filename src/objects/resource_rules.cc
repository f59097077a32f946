// What containers ask for and may have at most, and the same of a pod as a whole.
#include <algorithm>
#include <optional>
#include <set>

#include "base/utf8.h"
#include "model/quantity.h"
#include "objects/manifest_rules.h"
#include "objects/name_rules.h"

namespace karst::objects {
namespace {

constexpr std::int64_t kAmountMost = (std::int64_t{1} << 62) - 1;  // as quantities are capped
constexpr std::string_view kHugePages = "hugepages-";

std::int64_t amount(const TreeValue& value) {
  return model::parse_quantity_millis(value.text, model::Rounding::kUp).value_or(0);
}

bool is_standard(std::string_view name) {
  return name == "cpu" || name == "memory" || name == "ephemeral-storage";
}

bool is_huge_pages(std::string_view name) {
  return name.starts_with(kHugePages);
}

// Resources that cannot be shared: what is requested is what is limited.
bool is_exclusive(std::string_view name) {
  return !is_standard(name);
}

// Empty when it is so many whole pages of the size that is in the resource's name.
std::string bad_pages(const std::string& name, const TreeValue& value) {
  const std::string size = name.substr(kHugePages.size());
  const std::int64_t page = model::parse_quantity_millis(size, model::Rounding::kUp).value_or(0);
  if (page == 0 || page % 1000 != 0)
    return "\"" + std::string(base::cut_utf8(size, 80)) + "\" is no size of a page";
  const auto bytes = model::parse_quantity_units(value.text, model::Rounding::kUp);
  if (bytes.value_or(0) % (page / 1000) == 0) return {};
  return "must be a multiple of " + size + ", found " + value.text;
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
    } else if (is_huge_pages(field.key)) {
      if (std::string pages = bad_pages(field.key, field.value); !pages.empty())
        review.refuse(field.key, field.line, std::move(pages));
    }
  }
}

// A claim is named once as a whole, or each of its requests once.
void check_claims(Review& review, const TreeValue& resources) {
  const TreeValue* claims = resources.find("claims");
  if (claims == nullptr) return;
  std::set<std::string_view> named;
  std::set<std::pair<std::string_view, std::string_view>> seen;
  Review::Scope scope(review, "claims");
  for (std::size_t i = 0; i < claims->items.size(); ++i) {
    const TreeValue& claim = claims->items[i];
    const std::string_view name = claim.text_of("name");
    const std::string_view request = claim.text_of("request");
    const bool again = request.empty() ? named.contains(name) : seen.contains({name, ""});
    named.insert(name);
    if (seen.emplace(name, request).second && !again) continue;
    Review::Scope inner(review, i);
    refuse_field(review, claim, "name",
                 "\"" + std::string(base::cut_utf8(name, 80)) + "\" is there twice");
  }
}

void check_resources(Review& review, const TreeValue& resources) {
  const std::size_t before = review.count();
  check_names(review, resources, "requests");
  check_names(review, resources, "limits");
  check_claims(review, resources);
  const TreeValue* requests = resources.find("requests");
  const TreeValue* limits = resources.find("limits");
  if (review.count() > before || requests == nullptr) return;
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

// Nothing when the container says nothing of it. A limit stands in where no request is given, as
// the API server fills it in.
std::optional<std::int64_t> requested(const TreeValue& container, std::string_view name) {
  for (const std::string_view list : {"requests", "limits"})
    if (const TreeValue* value = container.at({"resources", list, name})) return amount(*value);
  return std::nullopt;
}

// What the containers of a pod request together: those that run, or the most while they start.
std::optional<std::int64_t> requested_together(const TreeValue& spec, std::string_view name) {
  const auto sum = [](std::int64_t a, std::int64_t b) {
    return b > kAmountMost - a ? kAmountMost : a + b;
  };
  bool given = false;
  std::int64_t running = 0;
  std::int64_t sidecars = 0;
  std::int64_t starting = 0;
  const auto each = [&](std::string_view list, auto count) {
    const TreeValue* containers = spec.find(list);
    if (containers == nullptr) return;
    for (const TreeValue& container : containers->items) {
      const std::optional<std::int64_t> one = requested(container, name);
      given = given || one.has_value();
      count(container, one.value_or(0));
    }
  };
  each("containers", [&](const TreeValue&, std::int64_t one) { running = sum(running, one); });
  each("initContainers", [&](const TreeValue& container, std::int64_t one) {
    const std::int64_t with = sum(sidecars, one);
    if (container.text_of("restartPolicy") == "Always") sidecars = with;
    starting = std::max(starting, with);
  });
  if (!given) return std::nullopt;
  return std::max(sum(running, sidecars), starting);
}

std::string shown(std::string_view name, std::int64_t millis) {
  return name == "cpu" ? model::format_millis(millis) : model::format_bytes((millis + 999) / 1000);
}

void check_whole_names(Review& review, const TreeValue& resources) {
  for (const std::string_view list : {"requests", "limits"}) {
    const TreeValue* map = resources.find(list);
    if (map == nullptr) continue;
    Review::Scope scope(review, list);
    for (const TreeField& field : map->fields)
      if (field.key != "cpu" && field.key != "memory" && !is_huge_pages(field.key))
        review.refuse(field.key, field.line,
                      "is given by container; expected cpu, memory or hugepages-SIZE for the "
                      "whole pod");
  }
}

// Where a limit of the whole pod is given without a request, what the containers request together
// becomes the request, and must be within the limit.
void check_whole_requests(Review& review, const TreeValue& spec, const TreeValue& resources) {
  for (const std::string_view list : {"requests", "limits"}) {
    const TreeValue* map = resources.find(list);
    if (map == nullptr) continue;
    Review::Scope scope(review, list);
    for (const TreeField& field : map->fields) {
      if (field.value.is(TreeValue::Type::kNull)) continue;
      if (list == "limits" && resources.at({"requests", field.key}) != nullptr) continue;
      const std::int64_t together = requested_together(spec, field.key).value_or(0);
      if (together > amount(field.value))
        review.refuse(field.key, field.line,
                      "is " + field.value.text + " for the whole pod, less than the " +
                          shown(field.key, together) + " that its containers request together");
    }
  }
}

void check_whole_limits(Review& review, const TreeValue& spec, const TreeValue& resources) {
  const TreeValue* limits = resources.find("limits");
  const TreeValue* containers = spec.find("containers");
  if (limits == nullptr || containers == nullptr) return;
  Review::Scope scope(review, "limits");
  for (const TreeField& field : limits->fields) {
    if (field.value.is(TreeValue::Type::kNull)) continue;
    for (const TreeValue& container : containers->items) {
      const TreeValue* limit = container.at({"resources", "limits", field.key});
      if (limit != nullptr && amount(*limit) > amount(field.value))
        review.refuse(field.key, field.line,
                      "is " + field.value.text + " for the whole pod, less than the limit " +
                          limit->text + " of its container " +
                          std::string(container.text_of("name")));
    }
  }
}

}  // namespace

// Huge pages are part of a machine that also has a processor and plain memory.
void check_huge_pages(Review& review, const TreeValue& resources, bool beside) {
  const TreeField* huge = nullptr;
  for (const std::string_view list : {"requests", "limits"}) {
    const TreeValue* map = resources.find(list);
    if (map == nullptr) continue;
    for (const TreeField& field : map->fields) {
      beside = beside || field.key == "cpu" || field.key == "memory";
      if (is_huge_pages(field.key)) huge = &field;
    }
  }
  if (huge != nullptr && !beside)
    review.refuse(huge->line, huge->key + " needs a request for cpu or memory beside it");
}

void check_whole_resources(Review& review, const TreeValue& spec) {
  check_names(review, spec, "overhead");
  const TreeValue* resources = spec.find("resources");
  if (resources == nullptr) return;
  const TreeValue* os = spec.find("os");
  if (os != nullptr && os->text_of("name") == "windows")
    return refuse_field(review, spec, "resources", "must not be set for a Windows pod");
  Review::Scope scope(review, "resources");
  const std::size_t before = review.count();
  check_whole_names(review, *resources);
  if (const TreeValue* claims = resources->find("claims");
      claims != nullptr && !claims->items.empty())
    refuse_field(review, *resources, "claims", "are named by container, not for the whole pod");
  if (review.count() > before) return;
  check_whole_requests(review, spec, *resources);
  check_whole_limits(review, spec, *resources);
  check_huge_pages(review, *resources,
                   requested_together(spec, "cpu") || requested_together(spec, "memory"));
}

std::vector<RuleEntry> resource_rules() {
  return {{"ResourceRequirements", check_resources}};
}

}  // namespace karst::objects
