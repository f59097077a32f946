// Karpenter's metrics (core 1.14, and what its AWS half has of offerings and interruptions): each
// is exposed with Karpenter's type and labels, or docs/operations.md says that it is not there.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "daemon/gauges.h"
#include "daemon/metrics.h"
#include "tests/engine/way_down.h"

namespace karst::daemon {
namespace {

using namespace engine::testing;

struct KarpenterMetric {
  std::string name, type, labels;  // labels: with a space between
};

const std::string kDisrupted =
    "reason nodepool capacity_type consolidation_policy termination_mode";
const std::string kNode =
    "node_name phase managed nodepool zone region instance_type arch os capacity_type";
const std::string kClaimOrigin = " karpenter_kwok_sh_kwoknodeclass karpenter_sh_nodepool";
const std::string kNodeOrigin = kClaimOrigin + " karpenter_sh_initialized";
const std::string kCondition = "type status reason namespace name";

// What differs is said in docs/operations.md: series of nodes have the well-known labels without
// windows_build and the cloud's own; pods_state counts instead of naming; counters and histograms
// of operator_* have no origin.
std::vector<KarpenterMetric> there() {
  return {
      {"karpenter_nodeclaims_created_total", "counter", "reason nodepool min_values_relaxed"},
      {"karpenter_nodeclaims_terminated_total", "counter", "nodepool capacity_type zone"},
      {"karpenter_nodeclaims_disrupted_total", "counter", kDisrupted},
      {"karpenter_nodeclaims_unhealthy_disrupted_total", "counter",
       "condition nodepool capacity_type image_id"},
      {"karpenter_nodeclaims_termination_duration_seconds", "histogram", "nodepool"},
      {"karpenter_nodeclaims_instance_termination_duration_seconds", "histogram", "nodepool"},
      {"karpenter_nodes_created_total", "counter", "nodepool zone"},
      {"karpenter_nodes_terminated_total", "counter", "nodepool zone"},
      {"karpenter_nodes_termination_duration_seconds", "summary", "nodepool"},
      {"karpenter_nodes_drained_total", "counter", "nodepool"},
      {"karpenter_nodes_lifetime_duration_seconds", "histogram", "nodepool"},
      {"karpenter_nodes_allocatable", "gauge", "resource_type " + kNode},
      {"karpenter_nodes_total_pod_requests", "gauge", "resource_type " + kNode},
      {"karpenter_nodes_total_daemon_requests", "gauge", "resource_type " + kNode},
      {"karpenter_nodes_system_overhead", "gauge", "resource_type " + kNode},
      {"karpenter_nodes_current_lifetime_seconds", "gauge", kNode},
      {"karpenter_nodepools_limit", "gauge", "resource_type nodepool"},
      {"karpenter_nodepools_usage", "gauge", "resource_type nodepool"},
      {"karpenter_nodepools_cost_total", "gauge", "nodepool"},
      {"karpenter_nodepools_allowed_disruptions", "gauge", "nodepool reason"},
      {"karpenter_nodepools_nodes_consuming_budgets", "gauge", "nodepool reason"},
      {"karpenter_pods_state", "gauge",
       "scheduled nodepool zone arch capacity_type instance_type phase ready managed"},
      {"karpenter_pods_startup_duration_seconds", "summary", ""},
      {"karpenter_pods_bound_duration_seconds", "histogram", ""},
      {"karpenter_pods_provisioning_bound_duration_seconds", "histogram", ""},
      {"karpenter_pods_provisioning_startup_duration_seconds", "histogram", ""},
      {"karpenter_pods_scheduling_decision_duration_seconds", "histogram", ""},
      {"karpenter_pods_disruption_initiated_total", "counter", kDisrupted},
      {"karpenter_pods_eviction_requests_total", "counter", "code"},
      {"karpenter_pods_drained_total", "counter", "reason"},
      {"karpenter_scheduler_scheduling_duration_seconds", "histogram", "controller"},
      {"karpenter_scheduler_queue_depth", "gauge", "controller scheduling_id"},
      {"karpenter_scheduler_unschedulable_pods_count", "gauge", "controller"},
      {"karpenter_voluntary_disruption_decision_evaluation_duration_seconds", "histogram",
       "reason consolidation_type"},
      {"karpenter_voluntary_disruption_decisions_total", "counter",
       "decision reason consolidation_type"},
      {"karpenter_voluntary_disruption_decisions_by_nodepool_total", "counter",
       "nodepool decision reason consolidation_type"},
      {"karpenter_voluntary_disruption_eligible_nodes", "gauge", "reason"},
      {"karpenter_voluntary_disruption_failed_validations_total", "counter", "consolidation_type"},
      {"karpenter_cloudprovider_duration_seconds", "histogram", "controller method provider"},
      {"karpenter_cloudprovider_errors_total", "counter", "controller method provider error"},
      {"karpenter_cloudprovider_instance_type_offering_price_estimate", "gauge",
       "instance_type capacity_type zone"},
      {"karpenter_cloudprovider_instance_type_offering_available", "gauge",
       "instance_type capacity_type zone"},
      {"karpenter_cloudprovider_instance_type_cpu_cores", "gauge", "instance_type"},
      {"karpenter_cloudprovider_instance_type_memory_bytes", "gauge", "instance_type"},
      {"karpenter_interruption_received_messages_total", "counter", "message_type"},
      {"karpenter_interruption_deleted_messages_total", "counter", ""},
      {"karpenter_interruption_message_queue_duration_seconds", "histogram", ""},
      {"karpenter_cluster_utilization_percent", "gauge", "resource_type"},
      {"karpenter_cluster_state_node_count", "gauge", ""},
      {"karpenter_cluster_state_synced", "gauge", ""},
      {"karpenter_cluster_state_unsynced_time_seconds", "gauge", ""},
      {"karpenter_build_info", "gauge", "version goversion goarch commit"},
      {"operator_nodeclaim_status_condition_count", "gauge", kCondition + kClaimOrigin},
      {"operator_nodeclaim_status_condition_current_status_seconds", "gauge",
       kCondition + kClaimOrigin},
      {"operator_nodeclaim_status_condition_transitions_total", "counter", "type status reason"},
      {"operator_nodeclaim_status_condition_transition_seconds", "histogram", "type status"},
      {"operator_nodeclaim_termination_current_time_seconds", "gauge",
       "namespace name" + kClaimOrigin},
      {"operator_nodeclaim_termination_duration_seconds", "histogram", ""},
      {"operator_nodepool_status_condition_count", "gauge", kCondition},
      {"operator_nodepool_status_condition_current_status_seconds", "gauge", kCondition},
      {"operator_nodepool_status_condition_transitions_total", "counter", "type status reason"},
      {"operator_nodepool_status_condition_transition_seconds", "histogram", "type status"},
      {"operator_node_status_condition_count", "gauge", kCondition + kNodeOrigin},
      {"operator_node_termination_current_time_seconds", "gauge", "namespace name" + kNodeOrigin},
      {"operator_node_termination_duration_seconds", "histogram", ""},
  };
}

const std::set<std::string> kNotThere = {
    "karpenter_nodes_total_pod_limits",
    "karpenter_nodes_total_daemon_limits",
    "karpenter_nodepools_cost_tracker_errors_total",
    "karpenter_pods_unstarted_time_seconds",
    "karpenter_pods_unbound_time_seconds",
    "karpenter_pods_provisioning_unbound_time_seconds",
    "karpenter_pods_provisioning_unstarted_time_seconds",
    "karpenter_pods_provisioning_scheduling_undecided_time_seconds",
    "karpenter_scheduler_unfinished_work_seconds",
    "karpenter_scheduler_ignored_pods_count",
    "karpenter_scheduler_pending_pods_by_effective_zone_count",
    "karpenter_voluntary_disruption_consolidation_timeouts_total",
    "karpenter_voluntary_disruption_queue_failures_total",
    "karpenter_consolidation_score",
    "karpenter_consolidation_moves_total",
    "operator_nodepool_termination_current_time_seconds",
    "operator_nodepool_termination_duration_seconds",
    "operator_node_status_condition_current_status_seconds",
    "operator_node_status_condition_transitions_total",
    "operator_node_status_condition_transition_seconds",
    "operator_capacitybuffer_*",
    "operator_ec2nodeclass_*",
    "operator_status_condition_*",
    "operator_termination_*",
    "controller_runtime_*",
    "workqueue_*",
    "client_go_*",
    "go_*",
};

struct Exposed {
  std::string type;
  std::set<std::string> labels;  // of all its samples
};
using Families = std::map<std::string, Exposed>;

std::set<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

void take_labels(const std::string& sample, Exposed& family) {
  std::size_t at = sample.find('{');
  while (at != std::string::npos && sample[at] != '}') {
    const std::size_t equals = sample.find("=\"", at);
    const std::string name = sample.substr(at + 1, equals - at - 1);
    // What a histogram and a summary add.
    if (name != "le" && name != "quantile") family.labels.insert(name);
    at = sample.find('"', equals + 2) + 1;
  }
}

Families families_of(const std::string& text) {
  Families families;
  std::istringstream lines(text);
  std::string line, name;
  while (std::getline(lines, line)) {
    if (line.starts_with("# TYPE ")) {
      const std::size_t space = line.find(' ', 7);
      name = line.substr(7, space - 7);
      families[name].type = line.substr(space + 1);
    } else if (!line.starts_with("#")) {
      take_labels(line, families[name]);
    }
  }
  return families;
}

// What `wanted` has and `exposed` has not, or has otherwise; a line each.
std::vector<std::string> differences(const std::vector<KarpenterMetric>& wanted,
                                     const Families& exposed) {
  std::vector<std::string> found;
  for (const KarpenterMetric& metric : wanted) {
    const auto at = exposed.find(metric.name);
    if (at == exposed.end())
      found.push_back(metric.name + " is not exposed");
    else if (at->second.type != metric.type)
      found.push_back(metric.name + " is a " + at->second.type);
    else if (at->second.labels != words_of(metric.labels))
      found.push_back(metric.name + " has other labels");
  }
  return found;
}

// Once each, so that every family has a sample.
void count_all(Counters& c) {
  c.claims_created = {{{"provisioned", "p", "false"}, 1}};
  c.claims_terminated = {{{"p", "spot", "z"}, 1}};
  c.claims_disrupted = c.pods_disrupted = {{{"empty", "p", "spot", "", "graceful"}, 1}};
  c.nodes_created = c.nodes_terminated = {{{"p", "z"}, 1}};
  c.interruptions = c.called_off = c.pods_drained = c.eviction_requests =
      c.nodes_drained = {{{"x"}, 1}};
  c.voluntary_decisions = c.claim_transitions = c.pool_transitions = {{{"a", "b", "c"}, 1}};
  c.decisions_by_pool = c.unhealthy = {{{"a", "b", "c", "d"}, 1}};
  c.cloud_errors = {{{"Create", "InsufficientCapacityError"}, 1}};
  c.claim_terminations["p"].add(1);
  c.node_lifetimes["p"].add(1);
  c.node_terminations["p"].add(1);
  c.cloud_calls["Create"].add(1);
  c.instance_terminations["p"].add(1);
  c.claim_condition_times[{"Ready", "True"}].add(1);
  c.pool_condition_times[{"Ready", "True"}].add(1);
  c.evaluations[{"empty", "empty"}].add(1);
}

// Of a cluster in which everything is there once: a node with a pod, on its way out, of a pool with
// limits and conditions.
std::string whole_text() {
  events::MemoryLog log(model::LogId("log"));
  engine::testing::Story story(log);
  model::NodePool pool = pool_of("default");
  pool.limits = {{"cpu", 100'000}};
  pool.conditions = {{"Ready", model::ConditionStatus::kTrue, "Ready", "", 1}};
  set_the_stage(story, pool);
  bring_up_an_empty_node(story);
  story.step();
  model::NodeClaim claim = story.state().claims().slots().begin()->second.row.claim;
  model::Node node = story.state().nodes().slots().begin()->second.row.node;
  model::set_label(node.labels, model::kNodePoolLabel, "default");
  model::set_label(node.labels, "karpenter.kwok.sh/kwoknodeclass", "default");
  claim.deletion_millis = node.deletion_millis = story.now();
  claim.conditions = {{"Ready", model::ConditionStatus::kTrue, "Ready", "", 1}};
  for (model::Condition& condition : claim.conditions) condition.transition_millis = 1;
  node.creation_millis = 1;
  story.fact(events::NodeClaimObserved{claim});
  story.fact(events::NodeObserved{node});
  const model::PodShape shape = shape_of(500);
  model::Pod pod = pending_pod("bound", shape);
  pod.node = node.name;
  story.fact(events::ShapeRecorded{model::hash_of(shape), shape});
  story.fact(events::PodObserved{pod});
  story.step();
  View view;
  view.leading = true;
  view.gauges = std::make_shared<const Gauges>(gauges_of(story.state(), true));
  count_all(view.counters);
  return metrics_text(view);
}

// The metrics that a table of docs/operations.md names in its first column, "…" for what went
// before: the words between '`', ',', ';' and blanks.
std::set<std::string> named_in(const std::string& head) {
  std::ifstream file(std::string(KARST_SOURCE_DIR) + "/docs/operations.md");
  std::set<std::string> names;
  std::string line;
  bool in_table = false;
  while (std::getline(file, line)) {
    if (line.starts_with("| " + head + " |")) in_table = true;
    if (in_table && !line.starts_with("|")) break;
    if (!in_table) continue;
    std::string cell = line.substr(1, line.find('|', 1) - 1);
    for (char& c : cell)
      if (c == ',' || c == ';' || c == '(' || c == ')' || c == '{') c = ' ';
    for (const std::string& word : words_of(cell)) names.insert(word);
  }
  return names;
}

bool is_named(const std::string& metric, const std::set<std::string>& names) {
  constexpr std::string_view kBefore = "…";
  for (const std::string& name : names)
    if (metric == name ||
        (name.starts_with(kBefore) && metric.ends_with(name.substr(kBefore.size()))))
      return true;
  return false;
}

TEST(KarpentersMetrics, AreThereWithTheirTypesAndLabels) {
  const Families exposed = families_of(whole_text());
  EXPECT_EQ(differences(there(), exposed), std::vector<std::string>());
  std::set<std::string> known;
  for (const KarpenterMetric& metric : there()) known.insert(metric.name);
  for (const auto& [name, family] : exposed)
    EXPECT_TRUE(name.starts_with("karst_") || known.contains(name)) << name << " is none of them";
}

TEST(KarpentersMetrics, AFamilyALabelAndATypeThatAreNotThereAreFound) {
  const Families exposed = families_of(whole_text());
  Families without = exposed, bare = exposed, other = exposed;
  without.erase("karpenter_nodes_created_total");
  bare["karpenter_nodes_created_total"].labels.erase("zone");
  other["karpenter_nodes_created_total"].type = "gauge";
  for (const Families& broken : {without, bare, other})
    EXPECT_EQ(differences(there(), broken).size(), 1u);
}

TEST(KarpentersMetrics, AreInTheManualAndSoIsWhatIsNotThere) {
  const std::set<std::string> documented = named_in("metric");
  const std::set<std::string> absent = named_in("Karpenter's metric");
  const Families exposed = families_of(whole_text());
  for (const KarpenterMetric& metric : there())
    EXPECT_TRUE(is_named(metric.name, documented)) << metric.name;
  for (const std::string& name : kNotThere) {
    EXPECT_TRUE(is_named(name, absent)) << name;
    EXPECT_FALSE(exposed.contains(name)) << name;
  }
  EXPECT_FALSE(is_named("karpenter_nodes_created_total", absent));
}

}  // namespace
}  // namespace karst::daemon
