// Small texts for people: lists of names, money, durations. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/pod.h"
#include "model/resources.h"

namespace karst::daemon {

inline constexpr std::size_t kNamesShownMax = 5;

// "a, b and 3 other(s)", as Karpenter writes it: at most `shown` names.
std::string names_list(const std::vector<std::string>& names, std::size_t shown = kNamesShownMax);

// "$0.0421" from nano-dollars, four decimals, rounded.
std::string dollars(std::int64_t nanos);

// The same in two decimals, as Karpenter writes savings: "$0.04". REQUIRES: 0 or more.
std::string cents(std::int64_t nanos);

// Milliseconds as "850ms", "12s", "2m", "1h5m"; negative ones with a minus.
std::string duration_text(std::int64_t millis);

// "1 pod", "2 pods".
std::string counted(std::size_t count, std::string_view noun);

// cpu and memory for people: "1.5 cpu, 3.2 GiB".
std::string size_text(const model::Resources& resources);

// Voluntary disruption as Karpenter writes it: "Empty", "Drifted", "Underutilized"; empty: none.
std::string_view disruption_reason(std::string_view reason);
// Why pods had to leave, as Karpenter writes it: the same, or "Forceful Termination".
std::string_view eviction_reason(std::string_view reason);

// As Kubernetes writes it: "Pending", "Running", …
std::string_view phase_name(model::PodPhase phase);

// Every amount under its Kubernetes name with a canonical quantity, sorted by name.
std::vector<std::pair<std::string, std::string>> quantities(const model::Resources& resources);

}  // namespace karst::daemon
