#include "tools/solve_report.h"

#include "model/labels.h"
#include "objects/writer.h"

namespace karst::tools {
namespace {

using scheduling::NewClaim;
using scheduling::Problem;

double number_of(std::int64_t nanos) {
  return static_cast<double>(nanos) / 1e9;
}

Json resources_json(const model::Resources& resources) {
  Json json = Json::object();
  for (const char* name : {"cpu", "memory", "ephemeral-storage", "pods"})
    if (const std::int64_t amount = resources.amount(name); amount != 0)
      json[name] = objects::quantity(name, amount);
  for (const auto& [name, amount] : resources.extended)
    json[name] = objects::quantity(name, amount);
  return json;
}

Json name_json(const PodsName& name) {
  return {{"kind", name.kind}, {"namespace", name.namespace_name}, {"name", name.name}};
}

Json pods_json(const ManifestProblem& problem, const std::vector<scheduling::Share>& shares) {
  Json list = Json::array();
  for (const scheduling::Share& share : shares) {
    Json one = name_json(problem.groups[share.group]);
    one["count"] = share.count;
    list.push_back(std::move(one));
  }
  return list;
}

Json specs_json(const std::vector<model::RequirementSpec>& specs) {
  Json list = Json::array();
  for (const model::RequirementSpec& spec : specs) {
    Json one = {{"key", spec.key}, {"operator", model::operator_name(spec.op)}};
    if (!spec.values.empty()) one["values"] = spec.values;
    if (spec.min_values > 0) one["minValues"] = spec.min_values;
    list.push_back(std::move(one));
  }
  return list;
}

Json claim_json(const ManifestProblem& problem, const NewClaim& claim, std::size_t number) {
  const scheduling::Pool& pool = problem.problem.pools[claim.pool];
  Json json;
  json["node"] = "new-" + std::to_string(number + 1);
  json["nodePool"] = pool.pool.name.str();
  if (!claim.offers.empty()) {
    const model::Offer& offer = claim.offers.front();
    json["instanceType"] = offer.instance_type;
    json["zone"] = offer.zone;
    json["capacityType"] = offer.capacity_type;
    json["pricePerHour"] = number_of(offer.price_nanos_per_hour);
  }
  json["instanceTypes"] = Json::array();
  for (const std::size_t type : claim.types) json["instanceTypes"].push_back(pool.types[type].name);
  json["requirements"] = specs_json(claim.requirements.items());
  if (!claim.reservations.empty()) json["reservations"] = claim.reservations;
  if (claim.min_values_relaxed) json["minValuesRelaxed"] = true;
  json["requests"] = resources_json(claim.requests);
  json["daemons"] = resources_json(daemons_of(problem.problem, claim));
  json["pods"] = pods_json(problem, claim.pods);
  return json;
}

Json reasons_json(const scheduling::Unplaced& unplaced) {
  Json list = Json::array();
  for (const scheduling::PoolReason& reason : unplaced.reasons) {
    Json one = {{"nodePool", reason.pool},
                {"code", reason.code},
                {"text", reason.text},
                {"instanceTypes", reason.types},
                {"offerings", reason.offerings}};
    one["removed"] = Json::array();
    for (const scheduling::Removal& removal : reason.removals)
      one["removed"].push_back({{"constraint", removal.constraint},
                                {"instanceTypes", removal.types},
                                {"offerings", removal.offerings}});
    list.push_back(std::move(one));
  }
  return list;
}

Json left_over_json(const ManifestProblem& problem, const scheduling::Answer& answer) {
  Json list = Json::array();
  for (const scheduling::Unplaced& unplaced : answer.unplaced) {
    Json one = name_json(problem.groups[unplaced.group]);
    one["count"] = unplaced.count;
    one["why"] = unplaced.message;
    one["waitsForReservation"] = unplaced.waits_for_reservation;
    one["reasons"] = reasons_json(unplaced);
    one["wouldHelp"] = Json::array();
    for (const scheduling::Relaxation& help : unplaced.relaxations)
      one["wouldHelp"].push_back({{"subject", help.subject},
                                  {"field", help.field},
                                  {"from", help.from},
                                  {"to", help.to},
                                  {"text", help.text}});
    list.push_back(std::move(one));
  }
  for (const RefusedPods& refused : problem.refused) {
    Json one = name_json(refused.name);
    one["count"] = refused.count;
    one["why"] = refused.why;
    list.push_back(std::move(one));
  }
  return list;
}

}  // namespace

std::string dollars(std::int64_t nanos, int digits) {
  std::int64_t unit = 1;
  for (int i = digits; i < 9; ++i) unit *= 10;
  const std::int64_t units = (nanos + unit / 2) / unit;
  const std::int64_t whole = 1'000'000'000 / unit;
  std::string fraction = std::to_string(units % whole);
  fraction.insert(0, static_cast<std::size_t>(digits) - fraction.size(), '0');
  return std::to_string(units / whole) + "." + fraction;
}

std::string shown(const PodsName& name) {
  return (name.namespace_name == "default" ? "" : name.namespace_name + "/") + name.name;
}

model::Resources daemons_of(const Problem& problem, const NewClaim& claim) {
  model::Resources rest = claim.requests;
  rest -= requests_of(problem, claim.pods);
  return rest;
}

model::Resources requests_of(const Problem& problem, const std::vector<scheduling::Share>& shares) {
  model::Resources sum;
  for (const scheduling::Share& share : shares) {
    model::Resources all = problem.pods[share.group].shape.requests;
    for (std::int64_t* amount :
         {&all.cpu_millis, &all.memory_bytes, &all.ephemeral_bytes, &all.pods})
      *amount *= share.count;
    for (auto& [name, amount] : all.extended) amount *= share.count;
    sum += all;
  }
  return sum;
}

Totals totals_of(const ManifestProblem& problem, const scheduling::Answer& answer) {
  Totals totals;
  for (const scheduling::NodePlacement& placement : answer.placements) {
    totals.existing_nodes += !placement.pods.empty();
    for (const scheduling::Share& share : placement.pods) totals.pods_on_existing += share.count;
  }
  for (const NewClaim& claim : answer.claims) {
    ++totals.new_nodes;
    for (const scheduling::Share& share : claim.pods) totals.pods_on_new += share.count;
    if (claim.offers.empty()) continue;
    totals.price_nanos_per_hour += claim.offers.front().price_nanos_per_hour;
    totals.has_spot = totals.has_spot || claim.offers.front().capacity_type == "spot";
  }
  for (const scheduling::Unplaced& unplaced : answer.unplaced) totals.left_over += unplaced.count;
  for (const RefusedPods& refused : problem.refused) totals.left_over += refused.count;
  return totals;
}

Json report_json(const ManifestProblem& problem, const scheduling::Answer& answer) {
  Json json;
  const Totals totals = totals_of(problem, answer);
  json["totals"] = {{"newNodes", totals.new_nodes},
                    {"podsOnNewNodes", totals.pods_on_new},
                    {"podsOnExistingNodes", totals.pods_on_existing},
                    {"podsLeftOver", totals.left_over},
                    {"pricePerHour", number_of(totals.price_nanos_per_hour)},
                    {"pricePerMonth", number_of(totals.price_nanos_per_hour * kHoursPerMonth)}};
  json["newNodes"] = Json::array();
  for (std::size_t i = 0; i < answer.claims.size(); ++i)
    json["newNodes"].push_back(claim_json(problem, answer.claims[i], i));
  json["existingNodes"] = Json::array();
  for (const scheduling::NodePlacement& placement : answer.placements)
    json["existingNodes"].push_back({{"node", problem.problem.nodes[placement.node].name},
                                     {"pods", pods_json(problem, placement.pods)}});
  json["leftOver"] = left_over_json(problem, answer);
  json["daemonSets"] = problem.daemons;
  json["notes"] = problem.notes;
  return json;
}

}  // namespace karst::tools
