// The answer to a scheduling problem for people.
#include <fmt/format.h>

#include "tools/solve_case.h"

namespace karst::tools {
namespace {

// Nano-dollars an hour as "0.4147".
std::string price_text(std::int64_t nanos) {
  return fmt::format("{}.{:04}", nanos / 1'000'000'000, nanos % 1'000'000'000 / 100'000);
}

std::string pods_text(const NamedProblem& named, const std::vector<scheduling::Share>& shares) {
  std::string text;
  for (const scheduling::Share& share : shares) {
    const std::vector<std::string>& names = named.pods[share.group];
    text += (text.empty() ? "" : ", ") + (names.empty() ? "pods" : names.front());
    if (share.count > 1) text += " ×" + std::to_string(share.count);
  }
  return text;
}

void print_places(const NamedProblem& named, const scheduling::Answer& answer) {
  std::vector<std::vector<Json>> rows;
  std::int64_t total = 0;
  for (const scheduling::NodePlacement& placement : answer.placements)
    rows.push_back({"node " + named.problem.nodes[placement.node].name, "", "", "", "",
                    pods_text(named, placement.pods)});
  for (std::size_t i = 0; i < answer.claims.size(); ++i) {
    const scheduling::NewClaim& claim = answer.claims[i];
    const model::Offer offer = claim.offers.empty() ? model::Offer{} : claim.offers.front();
    total += offer.price_nanos_per_hour;
    rows.push_back(
        {"new " + std::to_string(i + 1) + " of " + named.problem.pools[claim.pool].pool.name.str(),
         offer.instance_type + (claim.types.size() > 1
                                    ? " or " + std::to_string(claim.types.size() - 1) + " more"
                                    : ""),
         offer.zone, offer.capacity_type, price_text(offer.price_nanos_per_hour),
         pods_text(named, claim.pods)});
  }
  if (rows.empty()) return;
  print_rows({"where", "type", "zone", "capacity", "dollars/h", "pods"}, rows, Format::kTable);
  print_line(fmt::format("{} new node{}, {} dollars an hour at the cheapest", answer.claims.size(),
                         answer.claims.size() == 1 ? "" : "s", price_text(total)));
}

void print_left_over(const NamedProblem& named, const scheduling::Unplaced& unplaced) {
  print_line("");
  say("not placed: " + pods_text(named, {{unplaced.group, unplaced.count}}) +
      (unplaced.waits_for_reservation ? " (waits for a reservation)" : ""));
  for (const scheduling::PoolReason& reason : unplaced.reasons) {
    say("  " + (reason.pool.empty() ? "" : reason.pool + ": ") + reason.text);
    for (const scheduling::Removal& removal : reason.removals)
      say(fmt::format("    {} rules out {} of {} types, {} of {} offerings", removal.constraint,
                      removal.types, reason.types, removal.offerings, reason.offerings));
  }
  if (unplaced.reasons.empty() && !unplaced.message.empty()) say("  " + unplaced.message);
  for (const scheduling::Relaxation& relaxation : unplaced.relaxations)
    say("  would do: " + relaxation.text);
}

}  // namespace

void print_answer(const NamedProblem& named, const scheduling::Answer& answer) {
  if (named.pods.empty()) print_line("No pods wait for a place.");
  print_places(named, answer);
  for (const scheduling::Unplaced& unplaced : answer.unplaced) print_left_over(named, unplaced);
}

}  // namespace karst::tools
