#include "daemon/metrics.h"

#include <initializer_list>
#include <map>

#include "daemon/version.h"

namespace karst::daemon {
namespace {

using Names = std::initializer_list<std::string_view>;

MetricsText::Labels labelled(Names names, const LabelValues& values) {
  MetricsText::Labels labels;
  std::size_t i = 0;
  for (const std::string_view name : names) labels.emplace_back(name, values[i++]);
  return labels;
}

void counters(MetricsText& text, std::string_view name, std::string_view help, Names names,
              const Counters::Counts& counts) {
  text.family(name, MetricType::kCounter, help);
  for (const auto& [values, count] : counts)
    text.sample(static_cast<std::int64_t>(count), labelled(names, values));
}

void gauge(MetricsText& text, std::string_view name, std::string_view help, std::size_t value,
           const MetricsText::Labels& labels = {}) {
  text.family(name, MetricType::kGauge, help);
  text.sample(static_cast<std::int64_t>(value), labels);
}

void counter(MetricsText& text, std::string_view name, std::string_view help, std::uint64_t value) {
  text.family(name, MetricType::kCounter, help);
  text.sample(static_cast<std::int64_t>(value));
}

void histograms(MetricsText& text, std::string_view name, std::string_view help,
                std::string_view label, const std::map<std::string, Histogram>& by) {
  text.family(name, MetricType::kHistogram, help);
  for (const auto& [value, histogram] : by) text.histogram(histogram, {{label, value}});
}

void histograms(MetricsText& text, std::string_view name, std::string_view help, Names names,
                const std::map<LabelValues, Histogram>& by) {
  text.family(name, MetricType::kHistogram, help);
  for (const auto& [values, histogram] : by) text.histogram(histogram, labelled(names, values));
}

void histogram(MetricsText& text, std::string_view name, std::string_view help,
               const Histogram& histogram) {
  text.family(name, MetricType::kHistogram, help);
  text.histogram(histogram);
}

void karst_families(MetricsText& text, const View& view) {
  text.family("karst_build_info", MetricType::kGauge, "1; what is running, in the labels.");
  text.sample(1, {{"version", build_version()}, {"decision_version", decision_version()}});
  gauge(text, "karst_ready", "1 when every source has been listed and the log takes writes.",
        view.ready() ? 1 : 0);
  gauge(text, "karst_shadow", "1 when it decides and sends nothing.", view.shadow ? 1 : 0);
  gauge(text, "karst_leading", "1 when this replica decides, 0 when it stands by.",
        view.leading ? 1 : 0);
  gauge(text, "karst_epoch", "The epoch that this replica led in last; 0 without a lease.",
        static_cast<std::size_t>(view.epoch));
  text.family("karst_source_listed", MetricType::kGauge,
              "1 when a full list of this kind has ended since the start.");
  for (const auto& [kind, listed] : view.sources) text.sample(listed ? 1 : 0, {{"kind", kind}});
  text.family("karst_source_heard_time_seconds", MetricType::kGauge,
              "Log time when a list of this kind ended, or its watch showed that it lives.");
  for (const auto& [source, time] : view.heard)
    text.sample_scaled(time.value(), 3, {{"source", source}});
  gauge(text, "karst_log_position", "Position of the last event in the log.",
        static_cast<std::size_t>(view.through.value()));
  text.family("karst_log_time_seconds", MetricType::kGauge, "Log time of the last round.");
  text.sample_scaled(view.log_time.value(), 3);
  gauge(text, "karst_index_position", "Position of the last event in the log's index.",
        static_cast<std::size_t>(view.index.through.value()));
  gauge(text, "karst_index_lag_events",
        "Events of the log that are on stable storage and not in its index, as of the latest round "
        "or, between rounds, the latest look for work; 0: the index has them all.",
        static_cast<std::size_t>(view.index.events));
  text.family("karst_index_lag_seconds", MetricType::kGauge,
              "Seconds since the indexer found events on stable storage that are not in the index, "
              "and has not caught up with since; 0: at its latest look, every 0.2 s, the index had "
              "them all.");
  text.sample_scaled(view.index.since_millis, 3);
  counter(text, "karst_rounds_total", "Rounds since the start.", view.counters.rounds);
  counter(text, "karst_facts_total", "Facts that told something new, since the start.",
          view.counters.facts);
  counter(text, "karst_decisions_total", "Decisions since the start.", view.counters.decisions);
  counter(text, "karst_log_append_failures_total", "Appends that found no space, since the start.",
          view.counters.failed_appends);
  gauge(text, "karst_disk_full", "1 while the log finds no space; nothing new is started.",
        view.disk_full ? 1 : 0);
  text.family("karst_round_seconds", MetricType::kGauge, "How long the latest round took.");
  text.sample_scaled(view.round_millis, 3);
  gauge(text, "karst_inbox_facts", "Facts that wait for the engine.", view.inbox);
  gauge(text, "karst_commands_open", "Commands without an outcome.", view.commands_open);
  gauge(text, "karst_pods", "Pods in the state.", view.pods);
  gauge(text, "karst_nodeclaims", "NodeClaims in the state.", view.claims);
  if (view.leading) {  // a standby does not ask the cloud
    gauge(text, "karst_instances", "Instances in the state.", view.instances);
    text.family("karst_fleet_price_dollars_per_hour", MetricType::kGauge,
                "Price of all instances of ours, at the price they were launched for.");
    text.sample_scaled(view.fleet_price_nanos_per_hour, 9);
  }
  counter(text, "karst_notices_dropped_total", "Log lines that nobody took, since the start.",
          view.notices_dropped);
  counters(text, "karst_launches_refused_total", "Launches that the cloud refused, by reason.",
           {"reason"}, view.counters.launches_refused);
  counters(text, "karst_pods_evicted_total", "Pods that were asked to leave, by reason.",
           {"reason"}, view.counters.evictions);
  counters(text, "karst_not_sent_total", "What a shadow has decided and not sent, by kind.",
           {"kind"}, view.counters.not_sent);
  counters(text, "karst_inputs_refused_total",
           "Objects and messages that could not be read; what was known of one stays.", {"source"},
           view.counters.inputs_refused);
}

void nodeclaim_families(MetricsText& text, const Counters& c) {
  counters(text, "karpenter_nodeclaims_created_total",
           "NodeClaims made, by the reason and the node pool.",
           {"reason", "nodepool", "min_values_relaxed"}, c.claims_created);
  counters(text, "karpenter_nodeclaims_terminated_total", "NodeClaims that are gone.",
           {"nodepool", "capacity_type", "zone"}, c.claims_terminated);
  const Names disrupted = {"reason", "nodepool", "capacity_type", "consolidation_policy",
                           "termination_mode"};
  counters(text, "karpenter_nodeclaims_disrupted_total", "NodeClaims that were given up.",
           disrupted, c.claims_disrupted);
  counters(text, "karpenter_nodeclaims_unhealthy_disrupted_total",
           "NodeClaims that were given up because their nodes were unhealthy.",
           {"condition", "nodepool", "capacity_type", "image_id"}, c.unhealthy);
  counters(text, "karpenter_pods_disruption_initiated_total",
           "Pods on nodes whose NodeClaim was given up, that need another place.", disrupted,
           c.pods_disrupted);
  histograms(text, "karpenter_nodeclaims_termination_duration_seconds",
             "From a NodeClaim's deletion until it is gone.", "nodepool", c.claim_terminations);
  histograms(text, "karpenter_nodeclaims_instance_termination_duration_seconds",
             "From the termination of an instance until it is proven gone.", "nodepool",
             c.instance_terminations);
  counters(text, "karpenter_nodes_created_total", "Nodes that have joined.", {"nodepool", "zone"},
           c.nodes_created);
  counters(text, "karpenter_nodes_terminated_total", "Nodes that are gone.", {"nodepool", "zone"},
           c.nodes_terminated);
  text.family("karpenter_nodes_termination_duration_seconds", MetricType::kSummary,
              "From a node's deletion until it is gone.");
  for (const auto& [pool, summary] : c.node_terminations)
    text.summary(summary, {{"nodepool", pool}});
  counters(text, "karpenter_nodes_drained_total", "Nodes whose pods have left before they went.",
           {"nodepool"}, c.nodes_drained);
  counters(text, "karpenter_pods_eviction_requests_total", "Evictions, by the answer.", {"code"},
           c.eviction_requests);
  counters(text, "karpenter_pods_drained_total", "Pods that were made to leave a node, by reason.",
           {"reason"}, c.pods_drained);
  histograms(text, "karpenter_nodes_lifetime_duration_seconds", "Age of nodes that are gone.",
             "nodepool", c.node_lifetimes);
}

void status_families(MetricsText& text, const Counters& c) {
  const Names change = {"type", "status", "reason"}, before = {"type", "status"};
  counters(text, "operator_nodeclaim_status_condition_transitions_total",
           "Changes of the conditions of NodeClaims.", change, c.claim_transitions);
  counters(text, "operator_nodepool_status_condition_transitions_total",
           "Changes of the conditions of NodePools.", change, c.pool_transitions);
  histograms(text, "operator_nodeclaim_status_condition_transition_seconds",
             "How long a condition of a NodeClaim had this status before it changed.", before,
             c.claim_condition_times);
  histograms(text, "operator_nodepool_status_condition_transition_seconds",
             "How long a condition of a NodePool had this status before it changed.", before,
             c.pool_condition_times);
  histogram(text, "operator_nodeclaim_termination_duration_seconds",
            "From a NodeClaim's deletion until it is gone.", c.claims_terminated_times);
  histogram(text, "operator_node_termination_duration_seconds",
            "From a node's deletion until it is gone.", c.nodes_terminated_times);
}

void pod_families(MetricsText& text, const View& view) {
  const Counters& c = view.counters;
  text.family("karpenter_pods_startup_duration_seconds", MetricType::kSummary,
              "From a pod's creation until it runs, of pods that were seen waiting.");
  text.summary(c.pods_started);
  histogram(text, "karpenter_pods_bound_duration_seconds",
            "From a pod's creation until it has a node, of pods that were seen waiting.",
            c.pods_bound);
  histogram(text, "karpenter_pods_scheduling_decision_duration_seconds",
            "From a waiting pod's first sight until it is decided about.", c.pods_decided);
  histogram(text, "karpenter_pods_provisioning_bound_duration_seconds",
            "From a pod's first place to come until it has a node.", c.pods_placed_bound);
  histogram(text, "karpenter_pods_provisioning_startup_duration_seconds",
            "From a pod's first place to come until it runs.", c.pods_placed_started);
  text.family("karpenter_scheduler_scheduling_duration_seconds", MetricType::kHistogram,
              "How long the rounds took in which pods were placed.");
  text.histogram(c.scheduling, {{"controller", "provisioner"}});
}

void cloud_families(MetricsText& text, const Counters& c) {
  text.family("karpenter_cloudprovider_duration_seconds", MetricType::kHistogram,
              "From a command to the cloud until its answer.");
  for (const auto& [method, histogram] : c.cloud_calls)
    text.histogram(histogram, {{"controller", "karst"}, {"method", method}, {"provider", c.cloud}});
  text.family("karpenter_cloudprovider_errors_total", MetricType::kCounter,
              "Answers of the cloud that were no success.");
  for (const auto& [values, count] : c.cloud_errors)
    text.sample(static_cast<std::int64_t>(count), {{"controller", "karst"},
                                                   {"method", values[0]},
                                                   {"provider", c.cloud},
                                                   {"error", values[1]}});
  counters(text, "karpenter_interruption_received_messages_total",
           "Count of interruption messages received, by kind.", {"message_type"}, c.interruptions);
  text.family("karpenter_interruption_deleted_messages_total", MetricType::kCounter,
              "Interruption messages that were taken off their queue.");
  text.sample(static_cast<std::int64_t>(c.messages_deleted));
  histogram(text, "karpenter_interruption_message_queue_duration_seconds",
            "Age of interruption messages when they were taken up.", c.message_ages);
}

void disruption_families(MetricsText& text, const Counters& c) {
  counters(text, "karpenter_voluntary_disruption_decisions_total",
           "Voluntary removals that were begun.", {"decision", "reason", "consolidation_type"},
           c.voluntary_decisions);
  counters(text, "karpenter_voluntary_disruption_decisions_by_nodepool_total",
           "Voluntary removals that were begun, by node pool.",
           {"nodepool", "decision", "reason", "consolidation_type"}, c.decisions_by_pool);
  histograms(text, "karpenter_voluntary_disruption_decision_evaluation_duration_seconds",
             "How long the rounds took in which voluntary removals were begun.",
             {"reason", "consolidation_type"}, c.evaluations);
  counters(text, "karpenter_voluntary_disruption_failed_validations_total",
           "Voluntary removals that were called off, because the node was needed again.",
           {"consolidation_type"}, c.called_off);
}

void cluster_families(MetricsText& text, const View& view) {
  text.family("karpenter_build_info", MetricType::kGauge, "1; what is running, in the labels.");
  text.sample(1, {{"version", build_version()},
                  {"goversion", ""},
                  {"goarch", ""},
                  {"commit", decision_version()}});
  gauge(text, "karpenter_cluster_state_node_count", "Current count of nodes in cluster state.",
        view.nodes);
  gauge(text, "karpenter_cluster_state_synced",
        "Returns 1 if cluster state is synced and 0 otherwise.", view.ready() ? 1 : 0);
  text.family("karpenter_cluster_state_unsynced_time_seconds", MetricType::kGauge,
              "For how long the cluster state has not been synced.");
  text.sample_scaled(view.unsynced_millis, 3);
}

void gauge_samples(MetricsText& text, const View& view) {
  if (view.gauges == nullptr) return;
  for (const GaugeFamily& family : gauge_families()) {
    const auto samples = view.gauges->samples.find(family.name);
    if (samples == view.gauges->samples.end()) continue;
    if (family.leader_only && !view.leading) continue;
    text.family(family.name, MetricType::kGauge, family.help);
    for (const Gauge& sample : samples->second)
      text.sample_scaled(sample.value, sample.decimals,
                         MetricsText::Labels(sample.labels.begin(), sample.labels.end()));
  }
}

}  // namespace

std::string metrics_text(const View& view) {
  MetricsText text;
  karst_families(text, view);
  cluster_families(text, view);
  nodeclaim_families(text, view.counters);
  status_families(text, view.counters);
  pod_families(text, view);
  cloud_families(text, view.counters);
  disruption_families(text, view.counters);
  gauge_samples(text, view);
  return text.take();
}

std::string log_sizes_text(const LogSizesView& view) {
  MetricsText text;
  const auto bytes = [&](std::string_view name, std::string_view help, std::uint64_t value) {
    text.family(name, MetricType::kGauge, help);
    text.sample(static_cast<std::int64_t>(value));
  };
  bytes("karst_log_bytes", "All files in the log's folder.", view.sizes.log_bytes);
  bytes("karst_log_disk_free_bytes", "Free on the disk of the log.", view.sizes.free_bytes);
  bytes("karst_log_disk_bytes", "Size of the disk of the log.", view.sizes.disk_bytes);
  bytes("karst_log_archive_first_position",
        "First position in the archive, 1 until its oldest segments expire; 0 without one.",
        view.archived_from);
  bytes("karst_log_archived_position", "Last position in the archive; 0 without one.",
        view.archived_to);
  bytes("karst_log_first_position", "First position at hand; 1 until the log is trimmed.",
        view.first);
  if (view.growth_bytes_per_day) {
    text.family("karst_log_growth_bytes_per_day", MetricType::kGauge,
                "What the log grew in the last day, or by that pace since the start.");
    text.sample(*view.growth_bytes_per_day);
  }
  return text.take();
}

}  // namespace karst::daemon
