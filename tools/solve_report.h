// What became of a problem made from manifests: for people which pods go where, on which machines,
// at what price, and what is left over, why, and what would help; for programs all of it as JSON.
// Prices are dollars, a month has 730 hours.
#pragma once

#include "scheduling/problem.h"
#include "tools/solve_manifests.h"
#include "tools/talk.h"

namespace karst::tools {

Json report_json(const ManifestProblem& problem, const scheduling::Answer& answer);

// On stdout; colour on a terminal only.
void print_report(const ManifestProblem& problem, const scheduling::Answer& answer);

// The sums of an answer.
struct Totals {
  std::int64_t new_nodes = 0;
  std::int64_t pods_on_new = 0;
  std::int64_t pods_on_existing = 0;
  std::int64_t existing_nodes = 0;  // that take some of the pods
  std::int64_t left_over = 0;
  std::int64_t price_nanos_per_hour = 0;  // at the cheapest offer of each new node
  bool has_spot = false;                  // some new node's cheapest offer is spot
};
Totals totals_of(const ManifestProblem& problem, const scheduling::Answer& answer);

// What pods ask for together.
model::Resources requests_of(const scheduling::Problem& problem,
                             const std::vector<scheduling::Share>& shares);
// What daemons take on a new node.
model::Resources daemons_of(const scheduling::Problem& problem, const scheduling::NewClaim& claim);

inline constexpr std::int64_t kHoursPerMonth = 730;

// "0.0965", "70.45".
std::string dollars(std::int64_t nanos, int digits);
// "shop/web" or "web" when it is in the default namespace.
std::string shown(const PodsName& name);

}  // namespace karst::tools
