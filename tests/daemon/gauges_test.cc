// /metrics: gauges of a small cluster, and every family of the text.
#include "daemon/gauges.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
#include <sstream>
#include <string>

#include "daemon/metrics.h"
#include "tests/engine/way_down.h"

namespace karst::daemon {
namespace {

using namespace engine::testing;

// A node of a claim, with one running pod, and one pod that waits.
struct Cluster {
  Cluster() {
    set_the_stage(story);
    bring_up_an_empty_node(story);
    story.step();
    model::Pod pod = pending_pod("bound", shape_of(500));
    pod.node = model::NodeName("node-1");
    pod.phase = model::PodPhase::kRunning;
    pod.unschedulable = false;
    pod.ready = true;
    const model::PodShape shape = shape_of(500);
    story.fact(events::ShapeRecorded{model::hash_of(shape), shape});
    story.fact(events::PodObserved{pod});
    story.fact(events::PodObserved{pending_pod("waits", shape)});
    story.step();
  }
  std::string text(bool objects, bool leading = true) {
    View view;
    view.leading = leading;
    view.gauges = std::make_shared<const Gauges>(gauges_of(story.state(), objects));
    return metrics_text(view);
  }
  events::MemoryLog log{model::LogId("log")};
  engine::testing::Story story{log};
};

TEST(Gauges, ASmallCluster) {
  Cluster cluster;
  const std::string text = cluster.text(true);
  const std::string where =
      "node_name=\"node-1\",phase=\"Running\",managed=\"false\",os=\"\",region=\"\",nodepool=\"\","
      "zone=\"\",arch=\"\",capacity_type=\"\",instance_type=\"\"";
  for (const std::string& line : std::vector<std::string>{
           "karpenter_nodes_allocatable{resource_type=\"cpu\"," + where + "} 4.000\n",
           "karpenter_nodes_total_pod_requests{resource_type=\"cpu\"," + where + "} 0.500\n",
           "karpenter_nodes_total_daemon_requests{resource_type=\"pods\"," + where + "} 0\n",
           "karpenter_cluster_utilization_percent{resource_type=\"cpu\"} 12.50\n",
           "karpenter_nodepools_usage{resource_type=\"cpu\",nodepool=\"default\"} 4.000\n",
           "karpenter_nodepools_usage{resource_type=\"nodes\",nodepool=\"default\"} 1\n",
           "karpenter_nodepools_allowed_disruptions{nodepool=\"default\",reason=\"Drifted\"} 1\n",
           "karpenter_pods_state{phase=\"Running\",ready=\"true\",scheduled=\"true\",managed="
           "\"false\",nodepool=\"\",zone=\"\",arch=\"\",capacity_type=\"\",instance_type=\"\"} 1\n",
           "karpenter_pods_state{phase=\"Pending\",ready=\"false\",scheduled=\"false\",managed="
           "\"false\"} 1\n",
           "karpenter_scheduler_unschedulable_pods_count{controller=\"provisioner\"} 0\n",
           "karpenter_cloudprovider_instance_type_offering_price_estimate{instance_type="
           "\"c-1x-amd64-linux\",capacity_type=\"spot\",zone=\"test-zone-a\"} 0.019003239\n",
           "karpenter_cloudprovider_instance_type_offering_available{instance_type="
           "\"c-1x-amd64-linux\",capacity_type=\"spot\",zone=\"test-zone-a\"} 1\n",
       })
    EXPECT_NE(text.find(line), std::string::npos) << line;
  for (const char* start :
       {"operator_nodeclaim_status_condition_count{type=\"Ready\",status=\"True\"",
        "operator_nodeclaim_status_condition_current_status_seconds{type=\"Ready\",status=\"True\"",
        "operator_node_status_condition_count{type=\"Ready\",status=\"True\",reason=\"\","
        "namespace=\"\",name=\"node-1\",karpenter_sh_nodepool=\"\",karpenter_sh_initialized="
        "\"true\"} "
        "1"})
    EXPECT_NE(text.find(start), std::string::npos) << start;
  EXPECT_EQ(text.find("termination_current_time_seconds"), std::string::npos) << "nothing goes";
}

// The budget lets none go, or the removal would begin at once.
model::NodePool pool_that_keeps_all() {
  model::NodePool pool = pool_of("default");
  pool.budgets = {{"0", {}, "", 0}};
  return pool;
}

TEST(Gauges, NodesThatAreEligibleForBeingEmpty) {
  struct Case {
    const char* name;
    std::function<void(model::NodePool&, model::Node&)> make;
    const char* count;
  };
  const Case cases[] = {
      {"nothing holds it but the budget", [](auto&, auto&) {}, "1"},
      {"a static pool", [](model::NodePool& pool, auto&) { pool.replicas = 1; }, "0"},
      {"held by its annotation",
       [](auto&, model::Node& node) {
         node.annotations = {{"karpenter.sh/do-not-disrupt", "true"}};
       },
       "0"},
      {"not empty for long enough",
       [](model::NodePool& pool, auto&) { pool.consolidate_after_millis = 3'600'000; }, "0"},
      {"never", [](model::NodePool& pool, auto&) { pool.consolidate_after_millis.reset(); }, "0"},
      {"of no pool", [](model::NodePool& pool, auto&) { pool.name = model::PoolName("other"); },
       "0"},
  };
  for (const Case& test : cases) {
    events::MemoryLog log(model::LogId("log"));
    engine::testing::Story story(log);
    model::NodePool pool = pool_that_keeps_all();
    set_the_stage(story, pool);
    bring_up_an_empty_node(story);
    story.step();
    model::Node node = story.state().nodes().slots().begin()->second.row.node;
    test.make(pool, node);
    if (pool.name.str() == "other") story.fact(events::NodePoolGone{model::PoolName("default")});
    story.fact(events::NodePoolObserved{pool});
    story.fact(events::NodeObserved{node});
    story.step();
    View view;
    view.gauges = std::make_shared<const Gauges>(gauges_of(story.state(), false));
    const std::string line =
        std::string("karpenter_voluntary_disruption_eligible_nodes{reason=\"empty\"} ") +
        test.count + "\n";
    EXPECT_NE(metrics_text(view).find(line), std::string::npos) << test.name;
  }
}

TEST(Gauges, TheQueueIsWhatTheLastPassLeft) {
  Cluster cluster;
  const auto depth = [&](int pods) {
    return "karpenter_scheduler_queue_depth{controller=\"provisioner\",scheduling_id=\"\"} " +
           std::to_string(pods) + "\n";
  };
  EXPECT_NE(cluster.text(true).find(depth(0)), std::string::npos) << "its window is open";
  const model::PodShape huge = shape_of(100'000'000);
  cluster.story.fact(events::ShapeRecorded{model::hash_of(huge), huge});
  for (const char* name : {"huge-1", "huge-2"})
    cluster.story.fact(events::PodObserved{pending_pod(name, huge)});
  cluster.story.step();
  cluster.story.step(1'100);
  EXPECT_NE(cluster.text(true).find(depth(2)), std::string::npos);
  cluster.story.fact(events::PodObserved{pending_pod("huge-3", huge)});
  cluster.story.step();
  EXPECT_NE(cluster.text(true).find(depth(2)), std::string::npos) << "not looked at yet";
  EXPECT_NE(cluster.text(true).find(
                "karpenter_scheduler_unschedulable_pods_count{controller=\"provisioner\"} 2\n"),
            std::string::npos);
  EXPECT_EQ(cluster.text(true, false).find("karpenter_scheduler_queue_depth"), std::string::npos)
      << "a standby has no queue";
}

TEST(Gauges, PodsThatNobodyHasANodeForAreCountedWhateverTheyWaitFor) {
  Cluster cluster;
  model::PodShape shape = shape_of(500);
  shape.gated = true;
  cluster.story.fact(events::ShapeRecorded{model::hash_of(shape), shape});
  model::Pod gated = pending_pod("gated", shape);
  model::Pod fresh = pending_pod("fresh", shape_of(500));
  model::Pod ended = pending_pod("ended", shape_of(500));
  gated.unschedulable = fresh.unschedulable = ended.unschedulable = false;
  ended.phase = model::PodPhase::kFailed;
  for (const model::Pod* pod : {&gated, &fresh, &ended})
    cluster.story.fact(events::PodObserved{*pod});
  cluster.story.step();
  const std::string none = "ready=\"false\",scheduled=\"false\",managed=\"false\"} ";
  EXPECT_NE(cluster.text(true).find("karpenter_pods_state{phase=\"Pending\"," + none + "3\n"),
            std::string::npos)
      << "with the one that waits";
  EXPECT_NE(cluster.text(true).find("karpenter_pods_state{phase=\"Failed\"," + none + "1\n"),
            std::string::npos);
}

TEST(Gauges, WhatIsOnItsWayOutAndForHowLong) {
  Cluster cluster;
  model::NodeClaim claim = cluster.story.state().claims().slots().begin()->second.row.claim;
  model::Node node = cluster.story.state().nodes().slots().begin()->second.row.node;
  claim.deletion_millis = node.deletion_millis = cluster.story.now();
  cluster.story.fact(events::NodeClaimObserved{claim});
  cluster.story.fact(events::NodeObserved{node});
  cluster.story.step(2'000);
  const std::string text = cluster.text(true);
  const std::string origin =
      "karpenter_kwok_sh_kwoknodeclass=\"default\",karpenter_sh_nodepool=\"default\"";
  for (const std::string& line : std::vector<std::string>{
           "operator_nodeclaim_termination_current_time_seconds{namespace=\"\",name=\"" +
               claim.name.str() + "\"," + origin + "} 2.000\n",
           "operator_node_termination_current_time_seconds{namespace=\"\",name=\"node-1\","
           "karpenter_sh_nodepool=\"\",karpenter_sh_initialized=\"true\"} 2.000\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line;
}

TEST(Gauges, WithoutObjectsOnlyTheClustersOwn) {
  Cluster cluster;
  const std::string text = cluster.text(false);
  EXPECT_NE(text.find("karpenter_cluster_utilization_percent{"), std::string::npos);
  for (const char* name :
       {"node_name=", "karpenter_pods_state", "karpenter_nodepools_", "condition_count"})
    EXPECT_EQ(text.find(name), std::string::npos) << name;
}

TEST(Gauges, AStandbyLeavesOutWhatOnlyALeaderAsksForOrDecides) {
  Cluster cluster;
  const std::string leading = cluster.text(true), standing_by = cluster.text(true, false);
  for (const char* name :
       {"karst_instances ", "karst_fleet_price_dollars_per_hour ", "karpenter_nodepools_usage{",
        "karpenter_nodepools_cost_total{", "karpenter_scheduler_unschedulable_pods_count{",
        "karpenter_cloudprovider_instance_type_offering_available{"}) {
    EXPECT_NE(leading.find(name), std::string::npos) << name;
    EXPECT_EQ(standing_by.find(name), std::string::npos) << name;
  }
  for (const char* name : {"karst_nodeclaims ", "karst_leading ", "karst_commands_open ",
                           "karpenter_cluster_state_node_count ", "karpenter_nodes_allocatable{",
                           "karpenter_pods_state{", "karpenter_nodepools_allowed_disruptions{"})
    EXPECT_NE(standing_by.find(name), std::string::npos) << name;
}

TEST(Metrics, EveryFamilyIsOursOrKarpentersAndSaidOnce) {
  Cluster cluster;
  std::istringstream lines(cluster.text(true));
  std::set<std::string> families, series;
  std::string line, family;
  while (std::getline(lines, line)) {
    if (line.starts_with("# HELP ")) {
      family = line.substr(7, line.find(' ', 7) - 7);
      EXPECT_TRUE(families.insert(family).second) << family << " twice";
      EXPECT_TRUE(family.starts_with("karst_") || family.starts_with("karpenter_") ||
                  family.starts_with("operator_"))
          << family;
    } else if (!line.starts_with("#")) {
      EXPECT_TRUE(line.starts_with(family)) << line << " is not of " << family;
      EXPECT_TRUE(series.insert(line.substr(0, line.rfind(' '))).second) << line << " twice";
    }
  }
  EXPECT_GT(families.size(), 50u);
}

}  // namespace
}  // namespace karst::daemon
