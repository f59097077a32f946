#include "providers/kwok/instance_types.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/labels.h"
#include "model/quantity.h"
#include "objects/json_tree.h"
#include "providers/kwok/catalogue.h"

namespace karst::providers::kwok {
namespace {

using objects::TreeValue;

constexpr std::size_t kOfferingsMax = 1'000;  // of one type
constexpr std::int64_t kPodsWithoutWord = 110;
constexpr int kPriceDecimals = 9;
constexpr std::size_t kPriceDigitsMax = 18;

tl::unexpected<base::Error> wrong(const TreeValue& at, const std::string& what) {
  return base::fail(base::Kind::kInvalid, "line " + std::to_string(at.line) + ": " + what);
}

// Dollars per hour as nano-dollars; digits beyond the ninth are cut.
std::optional<std::int64_t> price_nanos(std::string_view text) {
  std::string digits;
  int decimals = -1;
  for (const char c : text) {
    if (c == '.' && decimals < 0) {
      decimals = 0;
    } else if (c >= '0' && c <= '9') {
      if (decimals >= kPriceDecimals) continue;
      digits += c;
      if (decimals >= 0) ++decimals;
    } else {
      return std::nullopt;
    }
  }
  for (int i = std::max(decimals, 0); i < kPriceDecimals; ++i) digits += '0';
  if (digits.size() > kPriceDigitsMax) return std::nullopt;
  std::int64_t nanos = 0;
  for (const char c : digits) nanos = nanos * 10 + (c - '0');
  return nanos;
}

// The single key that decides where an offering is, with the values it allows.
base::Result<std::vector<std::string>> values_of(const TreeValue& offering, std::string_view key) {
  const TreeValue* requirements = offering.find("Requirements");
  if (requirements == nullptr || !requirements->is(TreeValue::Type::kList))
    return wrong(offering, "expected Requirements, a list");
  std::vector<std::string> values;
  for (const TreeValue& requirement : requirements->items) {
    const std::string_view name = requirement.text_of("key");
    if (name != model::kZoneLabel && name != model::kCapacityTypeLabel)
      return wrong(requirement, "the key \"" + std::string(name) + "\": expected " +
                                    std::string(model::kZoneLabel) + " or " +
                                    std::string(model::kCapacityTypeLabel));
    if (name != key) continue;
    const TreeValue* list = requirement.find("values");
    if (requirement.text_of("operator") != "In" || list == nullptr ||
        !list->is(TreeValue::Type::kList))
      return wrong(requirement, "expected the operator In and a list of values");
    for (const TreeValue& value : list->items) values.push_back(value.text);
  }
  if (values.empty()) return wrong(offering, "an offering says nothing of " + std::string(key));
  return values;
}

base::Status add_offerings(const TreeValue& type, model::InstanceType& out) {
  const TreeValue* offerings = type.find("offerings");
  if (offerings == nullptr || !offerings->is(TreeValue::Type::kList))
    return wrong(type, "expected offerings, a list");
  for (const TreeValue& offering : offerings->items) {
    const TreeValue* price = offering.find("Price");
    const auto nanos = price == nullptr ? std::nullopt : price_nanos(price->text);
    if (!nanos) return wrong(offering, "expected Price, dollars per hour such as 0.0275");
    const auto zones = values_of(offering, model::kZoneLabel);
    if (!zones) return base::fail(zones.error());
    const auto capacity_types = values_of(offering, model::kCapacityTypeLabel);
    if (!capacity_types) return base::fail(capacity_types.error());
    for (const std::string& zone : *zones)
      for (const std::string& capacity_type : *capacity_types) {
        if (capacity_type != "spot" && capacity_type != "on-demand")
          return wrong(offering,
                       "the capacity type \"" + capacity_type + "\": expected spot or on-demand");
        if (out.offerings.size() == kOfferingsMax) return wrong(offering, "more than 1000");
        out.offerings.push_back({zone, capacity_type, *nanos, true});
      }
  }
  std::sort(out.offerings.begin(), out.offerings.end(), [](const auto& a, const auto& b) {
    return std::pair(a.zone, a.capacity_type) < std::pair(b.zone, b.capacity_type);
  });
  return {};
}

// "s-4x-amd64-linux" is of the family s and the size 4.
std::pair<std::string, std::string> family_and_size(const std::string& name) {
  const std::size_t dash = name.find('-');
  std::string size;
  for (std::size_t i = dash == std::string::npos ? name.size() : dash + 1;
       i < name.size() && name[i] >= '0' && name[i] <= '9'; ++i)
    size += name[i];
  return {name.substr(0, dash), size};
}

base::Result<model::InstanceType> read_type(const TreeValue& value) {
  model::InstanceType type;
  type.name = value.text_of("name");
  if (type.name.empty()) return wrong(value, "an instance type without a name");
  const TreeValue* resources = value.find("resources");
  if (resources == nullptr || !resources->is(TreeValue::Type::kMap))
    return wrong(value, "expected resources, a map");
  type.capacity.pods = kPodsWithoutWord;
  for (const objects::TreeField& field : resources->fields)
    if (auto read = model::set_from_quantity(type.capacity, field.key, field.value.text,
                                             model::Rounding::kDown);
        !read)
      return wrong(field.value, field.key + ": " + read.error().message);
  type.allocatable = type.capacity;
  type.allocatable.cpu_millis -= kOverheadCpuMillis;
  type.allocatable.memory_bytes -= kOverheadMemoryBytes;
  if (type.allocatable.cpu_millis <= 0 || type.allocatable.memory_bytes <= 0)
    return wrong(*resources, "expected more than 100m cpu and 10Mi memory");
  const TreeValue* systems = value.find("operatingSystems");
  if (systems == nullptr || !systems->is(TreeValue::Type::kList) || systems->items.empty())
    return wrong(value, "expected operatingSystems, a list");
  model::RequirementSpec os{std::string(model::kOsLabel), model::Operator::kIn, {}, 0};
  for (const TreeValue& system : systems->items) os.values.push_back(system.text);
  const auto [family, size] = family_and_size(type.name);
  const std::string cpus = model::format_millis(type.capacity.cpu_millis);
  const auto is = [&](std::string_view key, const std::string& text) {
    type.requirements.push_back({std::string(key), model::Operator::kIn, {text}, 0});
  };
  is(kCpuLabel, cpus);
  is(kFamilyLabel, family);
  is(kMemoryLabel, model::format_bytes(type.capacity.memory_bytes));
  is(kSizeLabel, size.empty() ? cpus : size);
  is(model::kArchLabel, std::string(value.text_of("architecture")));
  if (type.requirements.back().values.front().empty())
    return wrong(value, "expected architecture, amd64 or arm64");
  type.requirements.push_back(std::move(os));
  is(model::kInstanceTypeLabel, type.name);
  KARST_TRY(add_offerings(value, type));
  return type;
}

}  // namespace

base::Result<model::Catalogue> read_instance_types(std::string_view json) {
  if (json.size() > kInstanceTypesFileMax)
    return base::fail(base::Kind::kInvalid, "larger than 16 MiB");
  const auto documents = objects::read_json_documents(json);
  if (!documents) return base::fail(documents.error());
  if (documents->size() != 1 || !documents->front().is(TreeValue::Type::kList) ||
      documents->front().items.size() > kInstanceTypesMax)
    return base::fail(base::Kind::kInvalid, "expected one JSON array of at most 5000 types");
  model::Catalogue catalogue;
  catalogue.provider = "kwok";
  for (const TreeValue& value : documents->front().items) {
    auto type = read_type(value);
    if (!type) return base::fail(type.error());
    catalogue.types.push_back(std::move(*type));
  }
  std::sort(catalogue.types.begin(), catalogue.types.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  const auto twice =
      std::adjacent_find(catalogue.types.begin(), catalogue.types.end(),
                         [](const auto& a, const auto& b) { return a.name == b.name; });
  if (twice != catalogue.types.end())
    return base::fail(base::Kind::kInvalid, "the type " + twice->name + " stands there twice");
  return catalogue;
}

}  // namespace karst::providers::kwok
