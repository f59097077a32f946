// /metrics: the text to the letter, counters of what happens.
#include "daemon/metrics.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/engine/way_down.h"

namespace karst::daemon {
namespace {

using namespace engine::testing;

TEST(MetricsText, IsExact) {
  MetricsText text;
  text.family("karst_x_total", MetricType::kCounter, "Counts.");
  text.sample(3, {{"a", "quote\" slash\\ line\n"}, {"b", ""}});
  text.family("karst_y", MetricType::kGauge, "Gauges.");
  text.sample_scaled(1'500, 3);
  text.sample_scaled(-5, 3);
  EXPECT_EQ(text.take(),
            "# HELP karst_x_total Counts.\n# TYPE karst_x_total counter\n"
            "karst_x_total{a=\"quote\\\" slash\\\\ line\\n\",b=\"\"} 3\n"
            "# HELP karst_y Gauges.\n# TYPE karst_y gauge\nkarst_y 1.500\nkarst_y -0.005\n");
}

TEST(MetricsText, AHistogramAddsUp) {
  constexpr std::int64_t kBounds[] = {5, 1'000, 1'250};
  Histogram histogram(kBounds);
  for (const std::int64_t millis : {5, 6, 1'000, 1'001, 9'000}) histogram.add(millis);
  MetricsText text;
  text.family("karst_h", MetricType::kHistogram, "How long.");
  text.histogram(histogram, {{"pool", "p"}});
  EXPECT_EQ(text.take(),
            "# HELP karst_h How long.\n# TYPE karst_h histogram\n"
            "karst_h_bucket{pool=\"p\",le=\"0.005\"} 1\n"
            "karst_h_bucket{pool=\"p\",le=\"1\"} 3\n"
            "karst_h_bucket{pool=\"p\",le=\"1.25\"} 4\n"
            "karst_h_bucket{pool=\"p\",le=\"+Inf\"} 5\n"
            "karst_h_sum{pool=\"p\"} 11.012\nkarst_h_count{pool=\"p\"} 5\n");
}

TEST(MetricsText, ASummaryHasTheQuantilesOfTheLatest) {
  MetricsText text;
  text.family("karst_s", MetricType::kSummary, "How long.");
  text.summary(Summary());
  EXPECT_EQ(text.take(),
            "# HELP karst_s How long.\n# TYPE karst_s summary\nkarst_s_sum 0.000\n"
            "karst_s_count 0\n");
  Summary summary;
  for (int i = 0; i < 100; ++i) summary.add(1'000'000);  // pushed out by those that follow
  for (std::int64_t i = 1; i <= static_cast<std::int64_t>(Summary::kRecentMax); ++i)
    summary.add(i * 10);
  EXPECT_EQ(summary.quantile(0), 10);
  EXPECT_EQ(summary.quantile(50), 2'500);
  EXPECT_EQ(summary.quantile(99), 4'950);
  EXPECT_EQ(summary.quantile(100), 5'000);
  EXPECT_EQ(summary.count(), 600u);
}

Happening seen(HappeningKind kind, const std::string& reason = "") {
  Happening h;
  h.kind = kind;
  h.claim = "default-a";
  h.pool = "default";
  h.node = "node-a";
  h.offer = {"c-1x", "zone-a", "spot", 1};
  h.reason = reason;
  return h;
}

TEST(Counters, OneLineForEachThingThatHappens) {
  Happening leaving = seen(HappeningKind::kLeaving, "empty");
  leaving.policy = "WhenEmpty";
  leaving.mode = "graceful";
  leaving.count = 3;
  Happening node_gone = seen(HappeningKind::kNodeGone);
  node_gone.millis = 2'000;
  node_gone.lifetime_millis = 3'600'000;
  Happening claim_gone = seen(HappeningKind::kClaimGone);
  claim_gone.millis = 4'000;
  Happening bound = seen(HappeningKind::kPodBound);
  bound.millis = 300;
  bound.placed_millis = 90;
  Happening runs = seen(HappeningKind::kPodRuns);
  runs.millis = 700;
  runs.placed_millis = 490;
  Happening asked = seen(HappeningKind::kCloudAnswered, "Create");
  asked.millis = 20;
  asked.text = "InsufficientCapacityError";
  Happening drained = seen(HappeningKind::kConditionChanged, "Drained");
  drained.args = {"Unknown", "True", "Drained", ""};
  drained.millis = 9'000;
  Happening of_pool = seen(HappeningKind::kConditionChanged, "Ready");
  of_pool.claim.clear();
  of_pool.args = {"True", "False", "A", ""};
  of_pool.millis = 400;
  Happening unhealthy = seen(HappeningKind::kLeaving, "unhealthy");
  unhealthy.args = {"ready", "ami-1"};
  Happening instance_gone = seen(HappeningKind::kInstanceGone);
  instance_gone.millis = 7'000;
  Happening expected = seen(HappeningKind::kPodsExpected);
  expected.decided_millis = {1'100, 1'200};
  Happening interrupted = seen(HappeningKind::kInterrupted, "spot_interrupted");
  interrupted.lifetime_millis = 4'000;
  Happening shadow = seen(HappeningKind::kNotSent, "provisioned");
  shadow.args = {"create-nodeclaim", "log-1"};
  Happening relaxed = seen(HappeningKind::kClaimCreated, "provisioned");
  relaxed.text = "true";
  struct Case {
    Happening happening;
    std::string line;
  };
  const std::vector<Case> cases = {
      {seen(HappeningKind::kClaimCreated, "provisioned"),
       "karpenter_nodeclaims_created_total{reason=\"provisioned\",nodepool=\"default\","
       "min_values_relaxed=\"false\"} 1\n"},
      {relaxed,
       "karpenter_nodeclaims_created_total{reason=\"provisioned\",nodepool=\"default\","
       "min_values_relaxed=\"true\"} 1\n"},
      {seen(HappeningKind::kRegistered),
       "karpenter_nodes_created_total{nodepool=\"default\",zone=\"zone-a\"} 1\n"},
      {leaving,
       "karpenter_nodeclaims_disrupted_total{reason=\"empty\",nodepool=\"default\",capacity_type="
       "\"spot\",consolidation_policy=\"WhenEmpty\",termination_mode=\"graceful\"} 1\n"},
      {leaving,
       "karpenter_pods_disruption_initiated_total{reason=\"empty\",nodepool=\"default\","
       "capacity_type=\"spot\",consolidation_policy=\"WhenEmpty\",termination_mode=\"graceful\"} "
       "3\n"},
      {leaving,
       "karpenter_voluntary_disruption_decisions_total{decision=\"delete\",reason=\"empty\","
       "consolidation_type=\"empty\"} 1\n"},
      {leaving,
       "karpenter_voluntary_disruption_decisions_by_nodepool_total{nodepool=\"default\",decision="
       "\"delete\",reason=\"empty\",consolidation_type=\"empty\"} 1\n"},
      {unhealthy,
       "karpenter_nodeclaims_unhealthy_disrupted_total{condition=\"ready\",nodepool=\"default\","
       "capacity_type=\"spot\",image_id=\"ami-1\"} 1\n"},
      {seen(HappeningKind::kCalledOff, "needed_again"),
       "karpenter_voluntary_disruption_failed_validations_total{consolidation_type=\"empty\"} "
       "1\n"},
      {instance_gone,
       "karpenter_nodeclaims_instance_termination_duration_seconds_bucket{nodepool=\"default\",le="
       "\"8\"} 1\n"},
      {node_gone, "operator_node_termination_duration_seconds_bucket{le=\"2\"} 1\n"},
      {claim_gone, "operator_nodeclaim_termination_duration_seconds_bucket{le=\"4\"} 1\n"},
      {node_gone, "karpenter_nodes_terminated_total{nodepool=\"default\",zone=\"zone-a\"} 1\n"},
      {node_gone,
       "karpenter_nodes_termination_duration_seconds{nodepool=\"default\",quantile=\"0.5\"} "
       "2.000\n"},
      {node_gone,
       "karpenter_nodes_lifetime_duration_seconds_bucket{nodepool=\"default\",le=\"3600\"} 1\n"},
      {claim_gone,
       "karpenter_nodeclaims_terminated_total{nodepool=\"default\",capacity_type=\"spot\",zone="
       "\"zone-a\"} 1\n"},
      {claim_gone,
       "karpenter_nodeclaims_termination_duration_seconds_bucket{nodepool=\"default\",le=\"4\"} "
       "1\n"},
      {bound, "karpenter_pods_bound_duration_seconds_bucket{le=\"0.3\"} 1\n"},
      {bound, "karpenter_pods_provisioning_bound_duration_seconds_bucket{le=\"0.1\"} 1\n"},
      {runs, "karpenter_pods_provisioning_startup_duration_seconds_bucket{le=\"0.5\"} 1\n"},
      {expected, "karpenter_pods_scheduling_decision_duration_seconds_bucket{le=\"1.25\"} 2\n"},
      {runs, "karpenter_pods_startup_duration_seconds{quantile=\"0.99\"} 0.700\n"},
      {asked,
       "karpenter_cloudprovider_duration_seconds_bucket{controller=\"karst\",method=\"Create\","
       "provider=\"kwok\",le=\"0.025\"} 1\n"},
      {asked,
       "karpenter_cloudprovider_errors_total{controller=\"karst\",method=\"Create\",provider="
       "\"kwok\",error=\"InsufficientCapacityError\"} 1\n"},
      {interrupted, "karpenter_interruption_message_queue_duration_seconds_bucket{le=\"4\"} 1\n"},
      {seen(HappeningKind::kInterrupted, "spot_interrupted"),
       "karpenter_interruption_received_messages_total{message_type=\"spot_interrupted\"} 1\n"},
      {drained, "karpenter_nodes_drained_total{nodepool=\"default\"} 1\n"},
      {drained,
       "operator_nodeclaim_status_condition_transitions_total{type=\"Drained\",status=\"True\","
       "reason=\"Drained\"} 1\n"},
      {drained,
       "operator_nodeclaim_status_condition_transition_seconds_bucket{type=\"Drained\",status="
       "\"Unknown\",le=\"16\"} 1\n"},
      {of_pool,
       "operator_nodepool_status_condition_transitions_total{type=\"Ready\",status=\"False\","
       "reason=\"A\"} 1\n"},
      {of_pool,
       "operator_nodepool_status_condition_transition_seconds_bucket{type=\"Ready\",status="
       "\"True\",le=\"0.5\"} 1\n"},
      {seen(HappeningKind::kEvicted, "empty"),
       "karpenter_pods_drained_total{reason=\"Empty\"} 1\n"},
      {seen(HappeningKind::kEvicted, "expired"),
       "karpenter_pods_drained_total{reason=\"Forceful Termination\"} 1\n"},
      {seen(HappeningKind::kEvicted, "empty"),
       "karpenter_pods_eviction_requests_total{code=\"200\"} 1\n"},
      {seen(HappeningKind::kEvictionHeld, "blocked"),
       "karpenter_pods_eviction_requests_total{code=\"429\"} 1\n"},
      {seen(HappeningKind::kEvictionHeld, "invalid"),
       "karpenter_pods_eviction_requests_total{code=\"422\"} 1\n"},
      {shadow, "karst_not_sent_total{kind=\"create-nodeclaim\"} 1\n"},
  };
  for (const Case& c : cases) {
    View view;
    view.counters.cloud = "kwok";
    EXPECT_EQ(metrics_text(view).find(c.line), std::string::npos) << c.line;
    view.counters.count(c.happening);
    EXPECT_NE(metrics_text(view).find(c.line), std::string::npos) << c.line << metrics_text(view);
  }
}

// As in Karpenter, nobody is disrupted when a static pool is made smaller.
TEST(Counters, AStaticPoolThatShrinksDisruptsNobody) {
  View view;
  Happening leaving = seen(HappeningKind::kLeaving, "overprovisioned");
  leaving.count = 3;
  view.counters.count(leaving);
  const std::string text = metrics_text(view);
  for (const char* name :
       {"karpenter_nodeclaims_disrupted_total{", "karpenter_pods_disruption_initiated_total{"})
    EXPECT_EQ(text.find(name), std::string::npos) << name;
}

TEST(Counters, APassIsARoundInWhichPodsWerePlaced) {
  Counters counters;
  counters.count_pass({seen(HappeningKind::kPodWaiting)}, 5);
  EXPECT_EQ(counters.scheduling.count(), 0u);
  counters.count_pass({seen(HappeningKind::kPodsExpected), seen(HappeningKind::kPodsExpected)}, 5);
  EXPECT_EQ(counters.scheduling.count(), 1u);
}

TEST(Counters, AnEvaluationIsARoundInWhichARemovalBegins) {
  Counters counters;
  counters.count_pass({seen(HappeningKind::kLeaving, "expired")}, 5);
  EXPECT_TRUE(counters.evaluations.empty());
  counters.count_pass(
      {seen(HappeningKind::kLeaving, "empty"), seen(HappeningKind::kLeaving, "empty")}, 5);
  ASSERT_EQ(counters.evaluations.size(), 1u);
  EXPECT_EQ(counters.evaluations.begin()->first, (LabelValues{"empty", "empty"}));
  EXPECT_EQ(counters.evaluations.begin()->second.count(), 1u);
}

// What the Watcher makes of a log.
Counters counted(const events::MemoryLog& log, const projections::ClusterState& state) {
  Counters counters;
  Watcher watcher;
  std::vector<Happening> happenings;
  auto cursor = log.read(model::Position(1));
  EXPECT_TRUE(cursor);
  for (model::Position at{1}; cursor && at < log.end(); at = model::Position(at.value() + 1)) {
    auto event = (*cursor)->next();
    EXPECT_TRUE(event && *event);
    if (event && *event) watcher.see(**event, state, happenings);
  }
  for (const Happening& h : happenings) counters.count(h);
  return counters;
}

// How long pods waited for a decision and for their nodes.
TEST(Counters, AStorysPodsAreTimed) {
  events::MemoryLog log(model::LogId("log"));
  engine::testing::Story story(log);
  set_the_stage(story);
  add_pods(story, 2);
  ASSERT_EQ(create_claims(story).size(), 1u);
  for (const char* name : {"pod-0", "pod-1"}) {
    model::Pod pod = pending_pod(name, shape_of(500));
    pod.unschedulable = false;
    pod.node = model::NodeName("node-1");
    pod.creation_millis = 1'800'000'000'000;
    pod.phase = model::PodPhase::kRunning;
    story.fact(events::PodObserved{pod});
  }
  story.step(5'000);
  const Counters counters = counted(log, story.state());
  EXPECT_EQ(counters.pods_decided.count(), 2u);
  EXPECT_EQ(counters.pods_decided.sum(), 2 * 1'100) << "the batch window and a round";
  EXPECT_EQ(counters.pods_placed_bound.count(), 2u);
  EXPECT_EQ(counters.pods_placed_bound.sum(), 2 * 5'100);
  EXPECT_EQ(counters.pods_placed_started.count(), 2u);
}

TEST(Counters, AnInstanceIsTimedUntilItIsProvenGone) {
  WayDown down;
  down.leave();
  down.answer_read_back();
  auto found = down.story.take<model::FindInstances>();
  ASSERT_EQ(found.size(), 1u);
  const auto& row = down.story.state().claims().slots().begin()->second.row;
  model::Instance instance = row.instance;
  down.story.answer(found[0], model::OutcomeKind::kDone, {instance});
  down.story.step();
  const auto ended = down.story.take<model::Terminate>();
  ASSERT_EQ(ended.size(), 1u);
  down.story.answer(ended[0], model::OutcomeKind::kDone);
  down.story.step();
  down.story.step(20'000);
  found = down.story.take<model::FindInstances>();
  ASSERT_EQ(found.size(), 1u);
  const Counters before = counted(down.log(), down.story.state());
  EXPECT_TRUE(before.instance_terminations.empty());
  down.story.answer(found[0], model::OutcomeKind::kDone);
  down.story.step();
  const Counters after = counted(down.log(), down.story.state());
  ASSERT_EQ(after.instance_terminations.count("default"), 1u);
  EXPECT_EQ(after.instance_terminations.at("default").sum(), 20'200);
}

}  // namespace
}  // namespace karst::daemon
