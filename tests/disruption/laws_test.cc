// Laws of disruption over random small clusters: what must hold of every decision.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>

#include "disruption/decide.h"
#include "disruption/simulation.h"
#include "tests/disruption/build.h"
#include "tests/sanitized.h"
#include "tests/scheduling/random.h"

namespace karst::disruption::test {
namespace {

using scheduling::test::chance;
using scheduling::test::pick;

World random_world() {
  World w = world({"default", "other"});
  w.spot_to_spot = chance(2);
  for (Pool& pool : w.pools) {
    pool.pool.pool.budgets = {{std::to_string(pick(0, 4)), {}, "", 0}};
    if (chance(3)) pool.pool.pool.consolidation_policy = model::ConsolidationPolicy::kBalanced;
  }
  const char* const types[] = {"m1", "m2", "m4", "m8"};
  const std::int64_t nodes = pick(1, 7);
  for (std::int64_t i = 0; i < nodes; ++i) {
    const std::size_t node = add_node(w, types[pick(0, 4)], chance(3) ? "spot" : "on-demand",
                                      chance(2) ? "default" : "other");
    w.nodes[node].drifted = chance(6);
    w.nodes[node].leaving = chance(8);
    w.nodes[node].nominated = chance(8);
    w.nodes[node].ready = !chance(8);
    for (std::int64_t pods = pick(0, 4); pods > 0; --pods) {
      model::PodShape shape;
      if (chance(6)) shape.do_not_disrupt = model::DoNotDisrupt::kForever;
      shape.priority = static_cast<std::int32_t>(pick(-10, 10)) * (1 << 23);
      add_pod(w, node, pick(1, 9) * 100, shape);
    }
  }
  if (chance(3)) add_pod(w, kNowhere, pick(1, 20) * 500);
  return w;
}

const std::vector<Method> kLawOrder = {Method::kStaticDrift, Method::kDrift, Method::kEmptiness,
                                       Method::kMultiNode, Method::kSingleNode};

// Everything that a decision says, as text.
std::string shown(const std::vector<Step>& steps) {
  std::string text;
  for (const Step& step : steps) {
    text += std::string(method_name(step.method)) + "\n";
    for (const Command& command : step.outcome.commands) {
      for (const Candidate& one : command.candidates) text += " " + std::to_string(one.node);
      for (const Replacement& one : command.replacements)
        for (const std::size_t type : one.types) text += " >" + std::to_string(type);
      text += "\n";
    }
    for (const Refused& one : step.outcome.refused)
      text += " " + std::to_string(one.node) + " " + one.why.text + "\n";
  }
  return text;
}

void check_command(const World& w, const Step& step, const Command& command) {
  std::int64_t price = 0;
  for (const Candidate& one : command.candidates) {
    price += one.price_nanos;
    RC_ASSERT(refusal_of(w, w.nodes[one.node], class_of(step.method)).none());
    RC_ASSERT(refusal_of(w, one, step.method).none());
  }
  if (step.method == Method::kEmptiness) return;
  const bool packs = step.method == Method::kMultiNode || step.method == Method::kSingleNode;
  // Every pod that moves has a place.
  const Simulation again =
      simulate(w, command.candidates, packs ? Purpose::kConsolidation : Purpose::kDrift);
  RC_ASSERT(again.refusal.none());
  RC_ASSERT(again.claims.size() == command.replacements.size());
  if (!packs) return;
  RC_ASSERT(command.replacements.size() <= 1);
  // No type may come up dearer than what goes.
  for (const Replacement& one : command.replacements) {
    RC_ASSERT(!one.types.empty());
    const model::Requirements wanted(one.requirements);
    for (const std::size_t type : one.types)
      RC_ASSERT(worst_price(*one.pool, type, wanted) < price);
  }
}

TEST(DisruptionLaws, EveryDecision) {
  std::map<Method, int> acted;
  EXPECT_TRUE(rc::check("every decision is sound", [&acted] {
    const World w = random_world();
    const std::vector<Step> steps = decide(w, kLawOrder);
    if (!steps.back().outcome.commands.empty()) ++acted[steps.back().method];
    RC_ASSERT(shown(steps) == shown(decide(w, kLawOrder)));
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const Step& step = steps[i];
      RC_ASSERT(step.outcome.commands.empty() || i + 1 == steps.size());
      const Allowed allowed = remaining_disruptions(w, reason_of(step.method));
      std::map<std::string, std::int64_t> going;
      for (const Command& command : step.outcome.commands) {
        for (const Candidate& one : command.candidates) ++going[one.pool->pool.pool.name.str()];
        check_command(w, step, command);
      }
      for (const auto& [pool, count] : going) RC_ASSERT(count <= allowed.at(pool));
      // Every node goes, or has a reason to stay.
      std::vector<bool> told(w.nodes.size(), false);
      for (const Refused& one : step.outcome.refused) told[one.node] = true;
      for (const Command& command : step.outcome.commands)
        for (const Candidate& one : command.candidates) told[one.node] = true;
      for (const bool one : told) RC_ASSERT(one);
    }
  }));
  // The laws were about something.
  for (const Method method : {Method::kDrift, Method::kEmptiness, Method::kSingleNode})
    EXPECT_GE(acted[method], kSanitized ? 0 : 1) << method_name(method);
}

}  // namespace
}  // namespace karst::disruption::test
