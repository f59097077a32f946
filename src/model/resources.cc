#include "model/resources.h"

namespace karst::model {
namespace {

// Adds sign * b to a, keeping a sorted and free of zeros.
void add_extended(std::vector<std::pair<std::string, std::int64_t>>& a,
                  const std::vector<std::pair<std::string, std::int64_t>>& b, std::int64_t sign) {
  for (const auto& [name, amount] : b) {
    auto at = std::lower_bound(a.begin(), a.end(), name,
                               [](const auto& x, const auto& y) { return x.first < y; });
    if (at != a.end() && at->first == name) {
      at->second += sign * amount;
      if (at->second == 0) a.erase(at);
    } else {
      a.insert(at, {name, sign * amount});
    }
  }
}

std::int64_t* column(Resources& resources, std::string_view name) {
  if (name == "cpu") return &resources.cpu_millis;
  if (name == "memory") return &resources.memory_bytes;
  if (name == "ephemeral-storage") return &resources.ephemeral_bytes;
  if (name == "pods") return &resources.pods;
  return nullptr;
}

}  // namespace

std::int64_t Resources::amount(std::string_view name) const {
  if (const auto* value = column(const_cast<Resources&>(*this), name)) return *value;
  const auto at = std::lower_bound(extended.begin(), extended.end(), name,
                                   [](const auto& x, const auto& y) { return x.first < y; });
  return at != extended.end() && at->first == name ? at->second : 0;
}

void Resources::set_amount(std::string_view name, std::int64_t amount) {
  if (auto* value = column(*this, name)) {
    *value = amount;
    return;
  }
  auto at = std::lower_bound(extended.begin(), extended.end(), name,
                             [](const auto& x, const auto& y) { return x.first < y; });
  const bool present = at != extended.end() && at->first == name;
  if (present && amount == 0) {
    extended.erase(at);
  } else if (present) {
    at->second = amount;
  } else if (amount != 0) {
    extended.insert(at, {std::string(name), amount});
  }
}

Resources& Resources::operator+=(const Resources& other) {
  cpu_millis += other.cpu_millis;
  memory_bytes += other.memory_bytes;
  ephemeral_bytes += other.ephemeral_bytes;
  pods += other.pods;
  if (!other.extended.empty()) add_extended(extended, other.extended, 1);
  return *this;
}

Resources& Resources::operator-=(const Resources& other) {
  cpu_millis -= other.cpu_millis;
  memory_bytes -= other.memory_bytes;
  ephemeral_bytes -= other.ephemeral_bytes;
  pods -= other.pods;
  if (!other.extended.empty()) add_extended(extended, other.extended, -1);
  return *this;
}

Resources operator+(Resources a, const Resources& b) {
  return a += b;
}
Resources operator-(Resources a, const Resources& b) {
  return a -= b;
}

Resources max_of(const Resources& a, const Resources& b) {
  Resources result = a;
  result.cpu_millis = std::max(a.cpu_millis, b.cpu_millis);
  result.memory_bytes = std::max(a.memory_bytes, b.memory_bytes);
  result.ephemeral_bytes = std::max(a.ephemeral_bytes, b.ephemeral_bytes);
  result.pods = std::max(a.pods, b.pods);
  for (const auto& [name, amount] : b.extended)
    result.set_amount(name, std::max(amount, a.amount(name)));
  return result;
}

std::string first_exceeded(const Resources& request, const Resources& capacity) {
  const auto over = [](std::int64_t wanted, std::int64_t offered) {
    return wanted > 0 && wanted > offered;
  };
  if (over(request.cpu_millis, capacity.cpu_millis)) return "cpu";
  if (over(request.memory_bytes, capacity.memory_bytes)) return "memory";
  if (over(request.ephemeral_bytes, capacity.ephemeral_bytes)) return "ephemeral-storage";
  if (over(request.pods, capacity.pods)) return "pods";
  for (const auto& [name, amount] : request.extended)
    if (over(amount, capacity.amount(name))) return name;
  return "";
}

bool fits(const Resources& request, const Resources& capacity) {
  const auto over = [](std::int64_t wanted, std::int64_t offered) {
    return wanted > 0 && wanted > offered;
  };
  if (over(request.cpu_millis, capacity.cpu_millis) ||
      over(request.memory_bytes, capacity.memory_bytes) ||
      over(request.ephemeral_bytes, capacity.ephemeral_bytes) || over(request.pods, capacity.pods))
    return false;
  for (const auto& [name, amount] : request.extended)
    if (over(amount, capacity.amount(name))) return false;
  return true;
}

base::Status set_from_quantity(Resources& resources, std::string_view name,
                               std::string_view quantity, Rounding rounding) {
  auto amount = name == "cpu" ? parse_quantity_millis(quantity, rounding)
                              : parse_quantity_units(quantity, rounding);
  if (!amount) return base::fail(amount.error().with_context("resource " + std::string(name)));
  resources.set_amount(name, *amount);
  return {};
}

}  // namespace karst::model
