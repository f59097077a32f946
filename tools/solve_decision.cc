// The answer to a question about disruption: as JSON, and as tables.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tools/solve_world.h"

namespace karst::tools {
namespace {

using disruption::Candidate;
using disruption::Step;
using disruption::World;

double dollars_of(std::int64_t nanos) {
  return static_cast<double>(nanos) / 1e9;
}
double cost_of(disruption::Cost cost) {
  return static_cast<double>(cost) / static_cast<double>(disruption::kCostUnit);
}

std::vector<Step> answer_of(const Question& question) {
  const World& world = question.world;
  if (!question.candidates || question.methods.empty())
    return disruption::decide(world, question.methods);
  std::vector<Candidate> candidates;
  for (const std::size_t node : *question.candidates)
    candidates.push_back(disruption::make_candidate(world, node));
  std::vector<Step> steps;
  steps.push_back(disruption::run_method(world, question.methods.front(), std::move(candidates),
                                         question.allowed));
  return steps;
}

Json candidate_json(const World& world, const Candidate& candidate) {
  Json json;
  json["name"] = world.nodes[candidate.node].name;
  json["nodePool"] = candidate.pool->pool.pool.name.str();
  json["price"] = dollars_of(candidate.price_nanos);
  json["rescheduleDisruptionCost"] = cost_of(candidate.cost);
  return json;
}

Json replacement_json(const disruption::Replacement& replacement) {
  Json json;
  json["nodePool"] = replacement.pool->pool.pool.name.str();
  json["instanceTypes"] = Json::array();
  for (const std::size_t type : replacement.types)
    json["instanceTypes"].push_back(replacement.pool->pool.types[type].name);
  json["requirements"] = Json::array();
  for (const model::RequirementSpec& spec : replacement.requirements) {
    Json one = {{"key", spec.key}, {"operator", model::operator_name(spec.op)}};
    if (!spec.values.empty()) one["values"] = spec.values;
    if (spec.min_values > 0) one["minValues"] = spec.min_values;
    json["requirements"].push_back(std::move(one));
  }
  return json;
}

Json command_json(const World& world, const disruption::Command& command) {
  Json json = {{"candidates", Json::array()}, {"replacements", Json::array()}};
  for (const Candidate& candidate : command.candidates)
    json["candidates"].push_back(world.nodes[candidate.node].name);
  for (const disruption::Replacement& replacement : command.replacements)
    json["replacements"].push_back(replacement_json(replacement));
  return json;
}

Json step_json(const World& world, const Step& step) {
  Json json;
  json["method"] = disruption::method_name(step.method);
  json["allowedDisruptions"] = step.allowed;
  json["candidates"] = Json::array();
  for (const Candidate& candidate : step.candidates)
    json["candidates"].push_back(candidate_json(world, candidate));
  json["refused"] = Json::array();
  for (const disruption::Refused& refused : step.outcome.refused)
    json["refused"].push_back({{"name", world.nodes[refused.node].name},
                               {"code", refused.why.code},
                               {"reason", refused.why.text}});
  return json;
}

std::string_view decision_of(const Step& step) {
  if (step.outcome.commands.empty()) return "no-op";
  return step.outcome.commands.front().replacements.empty() ? "delete" : "replace";
}

Json eligibility_json(const Question& question) {
  const World& world = question.world;
  if (world.nodes.empty()) return {{"eligible", false}, {"reason", "there is no node"}};
  const disruption::Refusal refusal =
      disruption::refusal_of(world, world.nodes.front(), question.disruption);
  if (!refusal.none())
    return {{"eligible", false}, {"code", refusal.code}, {"reason", refusal.text}};
  const Candidate candidate = disruption::make_candidate(world, 0);
  return {{"eligible", true},
          {"price", dollars_of(candidate.price_nanos)},
          {"rescheduleDisruptionCost", cost_of(candidate.cost)}};
}

std::string replacements_text(const disruption::Command& command) {
  if (command.replacements.empty()) return "nothing";
  std::string text;
  for (const disruption::Replacement& one : command.replacements) {
    text += (text.empty() ? "" : ", ") + one.pool->pool.pool.name.str();
    if (one.types.empty()) continue;
    text += " " + one.pool->pool.types[one.types.front()].name;
    if (one.types.size() > 1) text += fmt::format(" or {} more", one.types.size() - 1);
  }
  return text;
}

void print_commands(const World& world, const Step& step) {
  std::vector<std::vector<Json>> rows;
  for (std::size_t i = 0; i < step.outcome.commands.size(); ++i) {
    const disruption::Command& command = step.outcome.commands[i];
    for (const Candidate& candidate : command.candidates)
      rows.push_back({i + 1, world.nodes[candidate.node].name, candidate.pool->pool.pool.name.str(),
                      fmt::format("{:.4f}", dollars_of(candidate.price_nanos)),
                      fmt::format("{:.2f}", cost_of(candidate.cost)), candidate.pods.size(),
                      replacements_text(command)});
  }
  say(fmt::format("{} by {}", decision_of(step), disruption::method_name(step.method)));
  print_rows({"command", "node", "pool", "dollars/h", "cost", "pods", "replaced by"}, rows,
             Format::kTable);
}

// The method is not for such a node: worth a word only where no other method has one.
bool is_out_of_place(const std::string& code) {
  constexpr std::string_view kCodes[] = {"static", "not_static", "not_drifted", "not_empty",
                                         "empty"};
  return std::find(std::begin(kCodes), std::end(kCodes), code) != std::end(kCodes);
}

using Reasons = std::vector<std::pair<std::string, std::string>>;  // reason, methods

Reasons reasons_of(const std::vector<Step>& steps, std::size_t node, bool out_of_place) {
  Reasons reasons;
  for (const Step& step : steps)
    for (const disruption::Refused& refused : step.outcome.refused) {
      if (refused.node != node || is_out_of_place(refused.why.code) != out_of_place) continue;
      const std::string method(disruption::method_name(step.method));
      const auto known = std::find_if(reasons.begin(), reasons.end(), [&](const auto& one) {
        return one.first == refused.why.text;
      });
      if (known == reasons.end())
        reasons.emplace_back(refused.why.text, method);
      else
        known->second += ", " + method;
    }
  return reasons;
}

// What each method says of each node that stays; what several say alike is said once.
void print_refusals(const World& world, const std::vector<Step>& steps) {
  std::set<std::size_t> gone;
  for (const Step& step : steps)
    for (const disruption::Command& command : step.outcome.commands)
      for (const Candidate& candidate : command.candidates) gone.insert(candidate.node);
  std::vector<std::vector<Json>> rows;
  for (std::size_t node = 0; node < world.nodes.size(); ++node) {
    if (gone.contains(node)) continue;
    Reasons reasons = reasons_of(steps, node, false);
    if (reasons.empty()) reasons = reasons_of(steps, node, true);
    for (const auto& [reason, methods] : reasons)
      rows.push_back({world.nodes[node].name, reason, methods});
  }
  if (rows.empty()) return;
  print_line("");
  print_rows({"node that stays", "why", "says"}, rows, Format::kTable);
}

}  // namespace

Json decision_json(const Question& question) {
  if (question.kind == QuestionKind::kCandidate) return eligibility_json(question);
  const std::vector<Step> steps = answer_of(question);
  Json json = {{"decision", "no-op"}, {"method", nullptr}, {"commands", Json::array()}};
  json["steps"] = Json::array();
  for (const Step& step : steps) {
    json["steps"].push_back(step_json(question.world, step));
    if (step.outcome.commands.empty()) continue;
    json["decision"] = decision_of(step);
    json["method"] = disruption::method_name(step.method);
    for (const disruption::Command& command : step.outcome.commands)
      json["commands"].push_back(command_json(question.world, command));
  }
  return json;
}

void print_decision(const Question& question) {
  if (question.kind == QuestionKind::kCandidate) {
    const Json json = eligibility_json(question);
    const bool eligible = json["eligible"].get<bool>();
    say(question.world.nodes.empty()
            ? "there is no node"
            : question.world.nodes.front().name + (eligible ? " may be disrupted" : " stays: ") +
                  (eligible ? "" : json["reason"].get<std::string>()));
    return;
  }
  const std::vector<Step> steps = answer_of(question);
  if (steps.empty() || steps.back().outcome.commands.empty())
    print_line("nothing to do");
  else
    print_commands(question.world, steps.back());
  print_refusals(question.world, steps);
}

}  // namespace karst::tools
