// Who may be disrupted at all, and by which method: every rule alone, with its text.
#include "disruption/candidates.h"

#include <gtest/gtest.h>

#include <functional>

#include "disruption/pods.h"
#include "tests/disruption/build.h"

namespace karst::disruption::test {
namespace {

constexpr auto kGraceful = DisruptionClass::kGraceful;
constexpr auto kEventual = DisruptionClass::kEventual;

model::DisruptionBudget pod_budget(const std::string& name, std::int64_t allowed) {
  model::DisruptionBudget budget;
  budget.namespace_name = "default";
  budget.name = name;
  budget.disruptions_allowed = allowed;
  budget.fully_blocking = allowed == 0;
  return budget;
}

model::PodShape held() {
  model::PodShape shape;
  shape.do_not_disrupt = model::DoNotDisrupt::kForever;
  return shape;
}

struct Case {
  const char* name;
  std::function<void(World&, Node&)> change;
  const char* want;  // the text; empty: it may be disrupted
  DisruptionClass disruption = kGraceful;
};

TEST(Candidates, TheFirstRuleInTheWayIsTheReason) {
  const std::string pdb = "Pdb prevents pod evictions (PodDisruptionBudget=[default/b])";
  const std::string held_pod =
      "Pod has \"karpenter.sh/do-not-disrupt\" annotation (Pod=default/pod-1)";
  const std::vector<Case> cases = {
      {"a plain node", [](World&, Node&) {}, ""},
      {"in the queue", [](World&, Node& n) { n.queued = n.leaving = true; },
       "Candidate is already being disrupted"},
      {"not ours", [](World&, Node& n) { n.managed = false; }, "Node isn't managed by karpenter"},
      {"no node", [](World&, Node& n) { n.has_node = n.initialized = false; },
       "Nodeclaim does not have an associated node"},
      {"starting", [](World&, Node& n) { n.initialized = false; }, "Node isn't initialized"},
      {"leaving", [](World&, Node& n) { n.leaving = true; },
       "Node is deleting or marked for deletion"},
      {"nominated", [](World&, Node& n) { n.nominated = true; },
       "Node is nominated for a pending pod"},
      {"annotated",
       [](World&, Node& n) {
         model::set_label(n.annotations, model::kDoNotDisruptAnnotation, "true");
       },
       "Disruption is blocked through the \"karpenter.sh/do-not-disrupt\" annotation"},
      {"annotated with something else",
       [](World&, Node& n) {
         model::set_label(n.annotations, model::kDoNotDisruptAnnotation, "false");
       },
       ""},
      {"without a pool",
       [](World&, Node& n) {
         std::erase_if(n.labels, [](const auto& l) { return l.first == model::kNodePoolLabel; });
       },
       "Node doesn't have required label (label=karpenter.sh/nodepool)"},
      {"an unknown pool",
       [](World&, Node& n) { model::set_label(n.labels, model::kNodePoolLabel, "x"); },
       "NodePool not found (NodePool=x)"},
      {"a pool that can buy nothing", [](World& w, Node&) { w.pools[0].pool.types = {}; },
       "NodePool not found (NodePool=default)"},
      {"a held pod", [](World& w, Node&) { add_pod(w, 0, 100, held()); }, held_pod.c_str()},
      {"a held pod that is leaving",
       [](World& w, Node&) { add_pod(w, 0, 100, held()).deletion_millis = kNow; }, ""},
      {"held for a while, not started",
       [](World& w, Node&) {
         model::PodShape shape;
         shape.do_not_disrupt = model::DoNotDisrupt::kForDuration;
         shape.do_not_disrupt_millis = 1000;
         add_pod(w, 0, 100, shape);
       },
       held_pod.c_str()},
      {"held for a while that is over",
       [](World& w, Node&) {
         model::PodShape shape;
         shape.do_not_disrupt = model::DoNotDisrupt::kForDuration;
         shape.do_not_disrupt_millis = 1000;
         add_pod(w, 0, 100, shape).start_millis = kNow - 1000;
       },
       ""},
      {"a grace period does not help a graceful method",
       [](World& w, Node& n) {
         n.has_grace_period = true;
         add_pod(w, 0, 100, held());
       },
       held_pod.c_str()},
      {"a grace period helps an eventual one",
       [](World& w, Node& n) {
         n.has_grace_period = true;
         add_pod(w, 0, 100, held());
       },
       "", kEventual},
      {"without one it is as for a graceful one",
       [](World& w, Node&) { add_pod(w, 0, 100, held()); }, held_pod.c_str(), kEventual},
      {"a blocking budget",
       [](World& w, Node&) {
         add_pod(w, 0, 100);
         w.pod_budgets = {pod_budget("b", 0)};
       },
       pdb.c_str()},
      {"a budget with one to go, and two pods",
       [](World& w, Node&) {
         add_pod(w, 0, 100);
         add_pod(w, 0, 100);
         w.pod_budgets = {pod_budget("b", 1)};
       },
       ""},
      {"a budget of another namespace",
       [](World& w, Node&) {
         add_pod(w, 0, 100).namespace_name = "other";
         w.pod_budgets = {pod_budget("b", 0)};
       },
       ""},
      {"a budget that spares unready pods",
       [](World& w, Node&) {
         add_pod(w, 0, 100).unready = true;
         w.pod_budgets = {pod_budget("b", 0)};
         w.pod_budgets[0].spares_unready = true;
       },
       ""},
      {"a blocked mirror pod is nobody's to evict",
       [](World& w, Node&) {
         add_pod(w, 0, 100).mirror = true;
         w.pod_budgets = {pod_budget("b", 0)};
       },
       ""},
      {"two budgets",
       [](World& w, Node&) {
         add_pod(w, 0, 100);
         w.pod_budgets = {pod_budget("a", 5), pod_budget("b", 5)};
       },
       "Eviction does not support multiple PDBs (PodDisruptionBudget(s)=[default/a default/b])"},
  };
  for (const Case& row : cases) {
    World w = world();
    add_node(w, "m1");
    row.change(w, w.nodes[0]);
    EXPECT_EQ(row.want, refusal_of(w, w.nodes[0], row.disruption).text) << row.name;
  }
}

struct MethodCase {
  const char* name;
  Method method;
  bool with_pod;
  std::function<void(World&, Node&)> change;
  const char* want;  // code; empty: the method takes it
};

TEST(Candidates, EachMethodTakesItsOwn) {
  const auto nothing = [](World&, Node&) {};
  const auto never = [](World& w, Node&) {
    w.pools[0].pool.pool.consolidate_after_millis = std::nullopt;
  };
  const auto fixed = [](World& w, Node& n) {
    w.pools[0].pool.pool.replicas = 1;
    n.drifted = true;
  };
  const auto drifted = [](World&, Node& n) { n.drifted = true; };
  const auto not_yet = [](World&, Node& n) { n.consolidatable = false; };
  const auto when_empty = [](World& w, Node&) {
    w.pools[0].pool.pool.consolidation_policy = model::ConsolidationPolicy::kWhenEmpty;
  };
  const auto unknown_type = [](World&, Node& n) {
    model::set_label(n.labels, model::kInstanceTypeLabel, "x");
  };
  const auto no_zone = [](World&, Node& n) {
    std::erase_if(n.labels, [](const auto& l) { return l.first == model::kZoneLabel; });
  };
  const std::vector<MethodCase> cases = {
      {"empty", Method::kEmptiness, false, nothing, ""},
      {"not empty", Method::kEmptiness, true, nothing, "not_empty"},
      {"empty, but kept for buffers", Method::kEmptiness, false,
       [](World&, Node& n) { n.buffer_pods = 1; }, "buffer"},
      {"empty, never", Method::kEmptiness, false, never, "disabled"},
      {"empty, not yet", Method::kEmptiness, false, not_yet, "not_consolidatable"},
      {"empty where only that is asked for", Method::kEmptiness, false, when_empty, ""},
      {"empty and static", Method::kEmptiness, false, fixed, "static"},
      {"used", Method::kSingleNode, true, nothing, ""},
      {"used, never", Method::kSingleNode, true, never, "disabled"},
      {"used, not yet", Method::kMultiNode, true, not_yet, "not_consolidatable"},
      {"used, only when empty", Method::kMultiNode, true, when_empty, "policy"},
      {"used, of no known type", Method::kMultiNode, true, unknown_type, "no_type"},
      {"used, in no known zone", Method::kSingleNode, true, no_zone, "no_label"},
      {"empty is not consolidated", Method::kSingleNode, false, nothing, "empty"},
      {"not drifted", Method::kDrift, true, nothing, "not_drifted"},
      {"drifted", Method::kDrift, true, drifted, ""},
      {"drifted where nothing is consolidated", Method::kDrift, true,
       [&](World& w, Node& n) {
         never(w, n);
         n.drifted = true;
       },
       ""},
      {"drifted of a static pool", Method::kDrift, true, fixed, "static"},
      {"drifted of a static pool, its own way", Method::kStaticDrift, true, fixed, ""},
      {"drifted of another pool", Method::kStaticDrift, true, drifted, "not_static"},
  };
  for (const MethodCase& row : cases) {
    World w = world();
    add_node(w, "m1");
    if (row.with_pod) add_pod(w, 0, 100);
    row.change(w, w.nodes[0]);
    EXPECT_EQ(row.want, refusal_of(w, make_candidate(w, 0), row.method).code) << row.name;
  }
}

TEST(Candidates, PodsThatComeBackElsewhere) {
  World w = world();
  add_node(w, "m1");
  model::PodShape stateful;
  stateful.owner_kind = model::OwnerKind::kStatefulSet;
  model::PodShape daemon;
  daemon.owner_kind = model::OwnerKind::kDaemonSet;
  add_pod(w, 0, 10);
  add_pod(w, 0, 10).deletion_millis = kNow;
  add_pod(w, 0, 10).terminal = true;
  add_pod(w, 0, 10, stateful).deletion_millis = kNow;
  add_pod(w, 0, 10, daemon);
  add_pod(w, 0, 10).mirror = true;
  EXPECT_EQ((std::vector<std::size_t>{0, 3}), make_candidate(w, 0).pods);
  EXPECT_EQ(3 * kCostUnit, make_candidate(w, 0).cost);
}

TEST(Candidates, PodsThatWaitForANode) {
  struct Row {
    const char* name;
    std::function<void(Pod&, model::PodShape&)> change;
    bool want;
  };
  const auto demand = [](std::string key, model::Operator op) {
    return [key, op](Pod&, model::PodShape& shape) {
      shape.required_terms = {{{{key, op, {}, 0}}, false}};
    };
  };
  const std::vector<Row> rows = {
      {"plain", [](Pod&, model::PodShape&) {}, true},
      {"not unschedulable", [](Pod& p, model::PodShape&) { p.provisionable = false; }, false},
      {"no volume", [](Pod& p, model::PodShape&) { p.volume_error = "gone"; }, false},
      {"one node only",
       [](Pod&, model::PodShape& s) { s.node_selector = {{"kubernetes.io/hostname", "n"}}; },
       false},
      {"any pool", demand("karpenter.sh/nodepool", model::Operator::kExists), true},
      {"no pool", demand("karpenter.sh/nodepool", model::Operator::kDoesNotExist), false},
  };
  for (const Row& row : rows) {
    World w = world();
    add_pod(w, kNowhere, 10);
    row.change(w.pods[0], w.shapes[0]);
    EXPECT_EQ(row.want, is_wanting(w, w.pods[0])) << row.name;
  }
}

TEST(Candidates, WhoIsHeldForGoodIsNotMoved) {
  World w = world();
  add_node(w, "m1");
  add_pod(w, 0, 10, held());
  add_pod(w, 0, 10);
  w.pods[1].labels = {{"app", "a"}};
  EXPECT_FALSE(is_reschedulable_now(w, w.pods[0]));
  EXPECT_TRUE(is_reschedulable_now(w, w.pods[1]));
  w.pod_budgets = {pod_budget("b", 0)};
  EXPECT_FALSE(is_reschedulable_now(w, w.pods[1]));
  w.pod_budgets[0].fully_blocking = false;  // used up, which passes
  EXPECT_TRUE(is_reschedulable_now(w, w.pods[1]));
}

}  // namespace
}  // namespace karst::disruption::test
