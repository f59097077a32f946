// Kubernetes quantities ("1500m", "2Gi", "1e3") as integers. What a pod asks for rounds up, what a
// machine offers rounds down, so that a rounding can only leave room, never overcommit it. Grammar:
// https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace karst::model {

enum class Rounding { kUp, kDown };

// The value in thousandths ("1500m" is 1500) or in whole units ("1500m" is 2 rounded up, 1 rounded
// down); 2^62 - 1 stands for whatever is more, as Kubernetes caps at 2^63 - 1. Errors: kInvalid for
// anything outside the grammar, for negative values, for more than 64 digits or two of an exponent.
base::Result<std::int64_t> parse_quantity_millis(std::string_view text, Rounding rounding);
base::Result<std::int64_t> parse_quantity_units(std::string_view text, Rounding rounding);

// The canonical text of an amount: "1500m" or "2"; bytes with the largest binary suffix that
// divides them ("2Gi", "1000").
std::string format_millis(std::int64_t millis);
std::string format_bytes(std::int64_t bytes);

}  // namespace karst::model
