// A vector of resource amounts: what a pod requests or a node offers. cpu in millicores, memory and
// ephemeral storage in bytes, everything else in whole units. Amounts are never negative in inputs;
// differences may be.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/quantity.h"

namespace karst::model {

struct Resources {
  std::int64_t cpu_millis = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t ephemeral_bytes = 0;
  std::int64_t pods = 0;
  // Every other resource by its Kubernetes name, sorted, without zero amounts.
  std::vector<std::pair<std::string, std::int64_t>> extended;

  friend bool operator==(const Resources&, const Resources&) = default;
  friend auto operator<=>(const Resources&, const Resources&) = default;

  // Amount by Kubernetes name ("cpu" in millicores); 0 when absent.
  std::int64_t amount(std::string_view name) const;
  void set_amount(std::string_view name, std::int64_t amount);
  Resources& operator+=(const Resources& other);
  Resources& operator-=(const Resources& other);
};

Resources operator+(Resources a, const Resources& b);
Resources operator-(Resources a, const Resources& b);

// Per resource the larger amount.
Resources max_of(const Resources& a, const Resources& b);

// Every amount of `request` is at most that of `capacity` (a request of 0 always fits).
bool fits(const Resources& request, const Resources& capacity);

// The first resource of `request` that exceeds `capacity`, in the order cpu, memory,
// ephemeral-storage, pods, others; empty when all fit.
std::string first_exceeded(const Resources& request, const Resources& capacity);

// Sets the resource `name` from a quantity text, cpu as millicores. Errors: kInvalid as
// parse_quantity_*.
base::Status set_from_quantity(Resources& resources, std::string_view name,
                               std::string_view quantity, Rounding rounding);

template <class Archive>
void fields(Archive& a, Resources& r) {
  a(r.cpu_millis, r.memory_bytes, r.ephemeral_bytes, r.pods, r.extended);
}

}  // namespace karst::model
