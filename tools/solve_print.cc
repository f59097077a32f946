// The report for people (solve_report.h).
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "model/labels.h"
#include "tools/solve_report.h"

namespace karst::tools {
namespace {

using scheduling::NewClaim;
using scheduling::Share;

constexpr std::size_t kNamesMax = 5;      // of workloads in one line
constexpr std::size_t kRemovalsMax = 12;  // of one pool
constexpr std::int64_t kMi = std::int64_t{1} << 20;

std::string cores(std::int64_t millis) {
  std::string text = fmt::format("{}.{:02}", millis / 1000, millis % 1000 / 10);
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string memory(std::int64_t bytes) {
  const std::int64_t mi = bytes / kMi;
  if (mi < 1024) return fmt::format("{}Mi", mi);
  return fmt::format("{}.{}Gi", mi / 1024, mi % 1024 * 10 / 1024);
}

// Rows of one workload, which may differ in their volumes, are named once.
std::string pods_text(const ManifestProblem& problem, const std::vector<Share>& shares) {
  std::vector<std::pair<std::string, std::int64_t>> names;
  for (const Share& share : shares) {
    const std::string name = shown(problem.groups[share.group]);
    const auto known = std::find_if(names.begin(), names.end(),
                                    [&](const auto& one) { return one.first == name; });
    if (known == names.end())
      names.emplace_back(name, share.count);
    else
      known->second += share.count;
  }
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kNamesMax; ++i) {
    text += (i == 0 ? "" : ", ") + names[i].first;
    if (names[i].second > 1) text += fmt::format(" ×{}", names[i].second);
  }
  if (names.size() > kNamesMax) text += fmt::format(", {} more", names.size() - kNamesMax);
  return text;
}

std::int64_t count_of(const std::vector<Share>& shares) {
  std::int64_t count = 0;
  for (const Share& share : shares) count += share.count;
  return count;
}

const scheduling::InstanceType* type_of(const scheduling::Pool& pool, const std::string& name) {
  for (const scheduling::InstanceType& type : pool.types)
    if (type.name == name) return &type;
  return nullptr;
}

class Printer {
 public:
  Printer(const ManifestProblem& problem, const scheduling::Answer& answer)
      : problem_(problem), answer_(answer), color_(color_wanted(STDOUT_FILENO)) {}

  void print() {
    new_nodes();
    existing_nodes();
    sums();
    left_over();
  }

 private:
  using Row = std::vector<Json>;

  void heading(const std::string& text) {
    if (!first_) print_line("");
    first_ = false;
    print_line(color_ ? "\x1b[1m" + text + "\x1b[0m" : text);
  }

  // Equal new nodes are one line.
  void new_nodes() {
    std::vector<std::pair<Row, std::vector<std::size_t>>> lines;
    std::map<std::string, std::size_t> known;
    for (std::size_t i = 0; i < answer_.claims.size(); ++i) {
      Row row = row_of(answer_.claims[i]);
      const auto [at, fresh] = known.emplace(
          Json(row).dump(-1, ' ', false, Json::error_handler_t::replace), lines.size());
      if (fresh) lines.emplace_back(std::move(row), std::vector<std::size_t>());
      lines[at->second].second.push_back(i + 1);
    }
    if (lines.empty()) return;
    std::vector<Row> rows;
    for (auto& [row, numbers] : lines) {
      row.insert(row.begin(), numbers_text(numbers));
      rows.push_back(std::move(row));
    }
    heading("NEW NODES");
    print_rows(
        {"node", "pool", "type", "zone", "capacity", "$/hour", "cpu", "memory", "pods", "what"},
        rows, Format::kTable);
  }

  // "new-1", "new-1 to new-5 (5)", "new-1, … (5)".
  static std::string numbers_text(const std::vector<std::size_t>& numbers) {
    const std::string first = fmt::format("new-{}", numbers.front());
    if (numbers.size() == 1) return first;
    const bool together = numbers.back() - numbers.front() + 1 == numbers.size();
    if (together) return fmt::format("{} to new-{}", first, numbers.back());
    return fmt::format("{} and {} more", first, numbers.size() - 1);
  }

  Row row_of(const NewClaim& claim) const {
    const scheduling::Pool& pool = problem_.problem.pools[claim.pool];
    const model::Offer offer = claim.offers.empty() ? model::Offer{} : claim.offers.front();
    const scheduling::InstanceType* type = type_of(pool, offer.instance_type);
    const model::Resources room = type == nullptr ? model::Resources{} : type->allocatable;
    std::string name = offer.instance_type;
    if (claim.types.size() > 1) name += fmt::format(" or {} more", claim.types.size() - 1);
    return {pool.pool.name.str(),
            name,
            offer.zone,
            offer.capacity_type,
            dollars(offer.price_nanos_per_hour, 4),
            cores(claim.requests.cpu_millis) + "/" + cores(room.cpu_millis),
            memory(claim.requests.memory_bytes) + "/" + memory(room.memory_bytes),
            count_of(claim.pods),
            pods_text(problem_, claim.pods)};
  }

  void existing_nodes() {
    std::vector<Row> rows;
    for (const scheduling::NodePlacement& placement : answer_.placements) {
      if (placement.pods.empty()) continue;
      const scheduling::Node& node = problem_.problem.nodes[placement.node];
      const model::Resources asked = requests_of(problem_.problem, placement.pods);
      rows.push_back({node.name,
                      std::string(model::label_value(node.labels, model::kNodePoolLabel)),
                      std::string(model::label_value(node.labels, model::kInstanceTypeLabel)),
                      std::string(model::label_value(node.labels, model::kZoneLabel)),
                      cores(asked.cpu_millis) + " of " + cores(node.available.cpu_millis),
                      memory(asked.memory_bytes) + " of " + memory(node.available.memory_bytes),
                      count_of(placement.pods), pods_text(problem_, placement.pods)});
    }
    if (rows.empty()) return;
    heading("EXISTING NODES");
    print_rows({"node", "pool", "type", "zone", "cpu", "memory", "pods", "what"}, rows,
               Format::kTable);
  }

  void sums() {
    const Totals totals = totals_of(problem_, answer_);
    if (totals.new_nodes + totals.existing_nodes + totals.left_over == 0) {
      heading("No pods wait for a place.");
      return;
    }
    heading("TOTAL");
    if (totals.existing_nodes > 0)
      print_line(fmt::format("{} on {} that {} there", pods(totals.pods_on_existing),
                             nodes(totals.existing_nodes),
                             totals.existing_nodes == 1 ? "is" : "are"));
    if (totals.new_nodes > 0)
      print_line(fmt::format("{} on {}: ${} an hour, ${} a month", pods(totals.pods_on_new),
                             new_nodes_text(totals.new_nodes),
                             dollars(totals.price_nanos_per_hour, 4),
                             dollars(totals.price_nanos_per_hour * kHoursPerMonth, 2)));
    daemons();
    if (totals.left_over > 0) print_line(pods(totals.left_over) + " left over");
  }
  static std::string pods(std::int64_t count) {
    return fmt::format("{} pod{}", count, count == 1 ? "" : "s");
  }
  static std::string nodes(std::int64_t count) {
    return fmt::format("{} node{}", count, count == 1 ? "" : "s");
  }
  static std::string new_nodes_text(std::int64_t count) {
    return fmt::format("{} new node{}", count, count == 1 ? "" : "s");
  }

  // What daemons take of each new node, least and most.
  void daemons() {
    if (problem_.daemons.empty() || answer_.claims.empty()) return;
    model::Resources least = daemons_of(problem_.problem, answer_.claims.front());
    model::Resources most = least;
    for (const NewClaim& claim : answer_.claims) {
      const model::Resources one = daemons_of(problem_.problem, claim);
      least.cpu_millis = std::min(least.cpu_millis, one.cpu_millis);
      least.memory_bytes = std::min(least.memory_bytes, one.memory_bytes);
      most = model::max_of(most, one);
    }
    const auto range = [](const std::string& a, const std::string& b) {
      return a == b ? a : a + " to " + b;
    };
    print_line(fmt::format("{} daemon set{} take{} cpu {} and memory {} of each new node",
                           problem_.daemons.size(), problem_.daemons.size() == 1 ? "" : "s",
                           problem_.daemons.size() == 1 ? "s" : "",
                           range(cores(least.cpu_millis), cores(most.cpu_millis)),
                           range(memory(least.memory_bytes), memory(most.memory_bytes))));
  }

  void left_over() {
    if (answer_.unplaced.empty() && problem_.refused.empty()) return;
    heading("LEFT OVER");
    for (const scheduling::Unplaced& unplaced : answer_.unplaced) explain(unplaced);
    for (const RefusedPods& refused : problem_.refused) {
      say(title(refused.name, refused.count));
      say("  " + refused.why);
    }
  }
  static std::string title(const PodsName& name, std::int64_t count) {
    return fmt::format("{} {}: {}", name.kind, shown(name), pods(count));
  }
  void explain(const scheduling::Unplaced& unplaced) {
    say(title(problem_.groups[unplaced.group], unplaced.count) +
        (unplaced.waits_for_reservation ? ", waiting for a reservation" : ""));
    for (const scheduling::PoolReason& reason : unplaced.reasons) {
      say("  " + (reason.pool.empty() ? "" : reason.pool + ": ") + reason.text);
      for (std::size_t i = 0; i < reason.removals.size() && i < kRemovalsMax; ++i) {
        const scheduling::Removal& removal = reason.removals[i];
        say(fmt::format("    {} rules out {} of {} types, {} of {} offerings", removal.constraint,
                        removal.types, reason.types, removal.offerings, reason.offerings));
      }
      if (reason.removals.size() > kRemovalsMax)
        say(fmt::format("    and {} more (-o json has all)",
                        reason.removals.size() - kRemovalsMax));
    }
    if (unplaced.reasons.empty() && !unplaced.message.empty()) say("  " + unplaced.message);
    for (const scheduling::Relaxation& help : unplaced.relaxations)
      say("  would help: " + help.text);
  }

  const ManifestProblem& problem_;
  const scheduling::Answer& answer_;
  bool color_;
  bool first_ = true;
};

}  // namespace

void print_report(const ManifestProblem& problem, const scheduling::Answer& answer) {
  Printer(problem, answer).print();
}

}  // namespace karst::tools
