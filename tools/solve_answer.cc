// The answer to a scheduling case as JSON.
#include <algorithm>

#include "tools/solve_case.h"

namespace karst::tools {
namespace {

// Hands out the pods of each group in order.
class Names {
 public:
  explicit Names(const NamedProblem& named) : named_(named), next_(named.pods.size(), 0) {}
  const std::string& take(std::size_t group) { return named_.pods[group][next_[group]++]; }

 private:
  const NamedProblem& named_;
  std::vector<std::size_t> next_;
};

Json requirements_json(const std::vector<model::RequirementSpec>& specs) {
  Json list = Json::array();
  for (const model::RequirementSpec& spec : specs) {
    Json one;
    one["key"] = spec.key;
    one["operator"] = model::operator_name(spec.op);
    if (!spec.values.empty()) one["values"] = spec.values;
    if (spec.min_values > 0) one["minValues"] = spec.min_values;
    list.push_back(std::move(one));
  }
  return list;
}

Json claim_json(const scheduling::Problem& problem, const scheduling::NewClaim& claim) {
  const scheduling::Pool& pool = problem.pools[claim.pool];
  Json json;
  json["nodePool"] = pool.pool.name.str();
  json["pods"] = Json::array();
  json["instanceTypes"] = Json::array();
  for (const std::size_t type : claim.types) json["instanceTypes"].push_back(pool.types[type].name);
  json["requirements"] = requirements_json(claim.requirements.items());
  if (!claim.offers.empty()) {
    json["price"] = static_cast<double>(claim.offers.front().price_nanos_per_hour) / 1e9;
    json["cheapestInstanceType"] = claim.offers.front().instance_type;
  }
  if (!claim.reservations.empty()) json["reservedOfferings"] = claim.reservations;
  if (claim.min_values_relaxed) json["minValuesRelaxed"] = true;
  return json;
}

Json reason_json(const scheduling::PoolReason& reason) {
  Json json;
  json["nodePool"] = reason.pool;
  json["code"] = reason.code;
  json["text"] = reason.text;
  json["instanceTypes"] = reason.types;
  json["offerings"] = reason.offerings;
  json["removed"] = Json::array();
  for (const scheduling::Removal& removal : reason.removals)
    json["removed"].push_back({{"constraint", removal.constraint},
                               {"instanceTypes", removal.types},
                               {"offerings", removal.offerings}});
  return json;
}

Json unplaced_json(const scheduling::Unplaced& unplaced) {
  Json json;
  json["waitsForReservation"] = unplaced.waits_for_reservation;
  json["reasons"] = Json::array();
  for (const scheduling::PoolReason& reason : unplaced.reasons)
    json["reasons"].push_back(reason_json(reason));
  json["relaxations"] = Json::array();
  for (const scheduling::Relaxation& one : unplaced.relaxations)
    json["relaxations"].push_back({{"subject", one.subject},
                                   {"field", one.field},
                                   {"from", one.from},
                                   {"to", one.to},
                                   {"text", one.text}});
  return json;
}

}  // namespace

Json answer_json(const NamedProblem& named, const scheduling::Answer& answer) {
  Json json;
  Names names(named);
  Json claims = Json::array();
  for (const scheduling::NewClaim& claim : answer.claims)
    claims.push_back(claim_json(named.problem, claim));
  Json nodes = Json::object();
  Json order = Json::array();
  for (const scheduling::Turn& turn : answer.order)
    for (std::int64_t i = 0; i < turn.count; ++i) {
      const std::string& pod = names.take(turn.group);
      (turn.on_claim ? claims[turn.target]["pods"] : nodes[named.problem.nodes[turn.target].name])
          .push_back(pod);
      order.push_back(pod);
    }
  json["newNodeClaims"] = std::move(claims);
  json["existingNodes"] = std::move(nodes);
  json["unschedulable"] = Json::object();
  json["order"] = std::move(order);
  json["unplaced"] = Json::array();
  for (const scheduling::Unplaced& unplaced : answer.unplaced) {
    Json one = unplaced_json(unplaced);
    one["pods"] = Json::array();
    for (std::int64_t i = 0; i < unplaced.count; ++i) {
      const std::string& pod = names.take(unplaced.group);
      json["unschedulable"][pod] = unplaced.message;
      one["pods"].push_back(pod);
    }
    json["unplaced"].push_back(std::move(one));
  }
  return json;
}

}  // namespace karst::tools
