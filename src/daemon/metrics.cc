#include "daemon/metrics.h"

#include <fmt/format.h>

#include <cstdlib>

#include "daemon/version.h"

namespace karst::daemon {
namespace {

std::string escaped(std::string_view value) {
  std::string out;
  for (const char c : value) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out;
}

void counters(MetricsText& text, std::string_view name, std::string_view help,
              std::string_view label, const std::map<std::string, std::uint64_t>& values) {
  text.family(name, MetricType::kCounter, help);
  for (const auto& [key, value] : values)
    text.sample(static_cast<std::int64_t>(value), {{label, key}});
}

void gauge(MetricsText& text, std::string_view name, std::string_view help, std::size_t value) {
  text.family(name, MetricType::kGauge, help);
  text.sample(static_cast<std::int64_t>(value));
}

void counter(MetricsText& text, std::string_view name, std::string_view help, std::uint64_t value) {
  text.family(name, MetricType::kCounter, help);
  text.sample(static_cast<std::int64_t>(value));
}

void karst_families(MetricsText& text, const View& view) {
  text.family("karst_build_info", MetricType::kGauge, "1; what is running, in the labels.");
  text.sample(1, {{"version", build_version()}, {"decision_version", decision_version()}});
  gauge(text, "karst_ready", "1 when every source has been listed and the log takes writes.",
        view.ready() ? 1 : 0);
  text.family("karst_source_listed", MetricType::kGauge,
              "1 when a full list of this kind has ended since the start.");
  for (const auto& [kind, listed] : view.sources) text.sample(listed ? 1 : 0, {{"kind", kind}});
  gauge(text, "karst_log_position", "Position of the last event in the log.",
        static_cast<std::size_t>(view.through.value()));
  text.family("karst_log_time_seconds", MetricType::kGauge, "Log time of the last round.");
  text.sample_scaled(view.log_time.value(), 3);
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
  gauge(text, "karst_instances", "Instances in the state.", view.instances);
  text.family("karst_fleet_price_dollars_per_hour", MetricType::kGauge,
              "Price of all instances of ours, at the price they were launched for.");
  text.sample_scaled(view.fleet_price_nanos_per_hour, 9);
  counter(text, "karst_notices_dropped_total", "Log lines that nobody took, since the start.",
          view.notices_dropped);
  counters(text, "karst_launches_refused_total", "Launches that the cloud refused, by reason.",
           "reason", view.counters.launches_refused);
}

void karpenter_families(MetricsText& text, const View& view) {
  gauge(text, "karpenter_cluster_state_node_count", "Current count of nodes in cluster state.",
        view.nodes);
  gauge(text, "karpenter_cluster_state_synced",
        "Returns 1 if cluster state is synced and 0 otherwise.", view.ready() ? 1 : 0);
  gauge(text, "karpenter_scheduler_queue_depth", "The number of pods that wait to be scheduled.",
        view.pods_pending);
  counters(text, "karpenter_nodeclaims_created_total",
           "Number of nodeclaims created in total, by nodepool.", "nodepool",
           view.counters.claims_created);
  text.family("karpenter_nodeclaims_terminated_total", MetricType::kCounter,
              "Number of nodeclaims terminated in total, by nodepool, capacity type and zone.");
  for (const auto& [key, value] : view.counters.claims_terminated) {
    text.sample(static_cast<std::int64_t>(value),
                {{"nodepool", key[0]}, {"capacity_type", key[1]}, {"zone", key[2]}});
  }
  counters(text, "karpenter_nodes_created_total", "Number of nodes created in total, by nodepool.",
           "nodepool", view.counters.nodes_created);
  counters(text, "karpenter_nodes_terminated_total",
           "Number of nodes terminated in total, by nodepool.", "nodepool",
           view.counters.nodes_terminated);
  counters(text, "karpenter_interruption_received_messages_total",
           "Count of interruption messages received, by kind.", "message_type",
           view.counters.interruptions);
}

}  // namespace

void MetricsText::family(std::string_view name, MetricType type, std::string_view help) {
  name_ = name;
  text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name,
                       type == MetricType::kCounter ? "counter" : "gauge");
}

void MetricsText::begin(const Labels& labels) {
  text_ += name_;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    text_ +=
        fmt::format("{}{}=\"{}\"", i == 0 ? "{" : ",", labels[i].first, escaped(labels[i].second));
  }
  if (!labels.empty()) text_ += '}';
}

void MetricsText::sample(std::int64_t value, const Labels& labels) {
  begin(labels);
  text_ += fmt::format(" {}\n", value);
}

void MetricsText::sample_scaled(std::int64_t value, int decimals, const Labels& labels) {
  begin(labels);
  std::int64_t scale = 1;
  for (int i = 0; i < decimals; ++i) scale *= 10;
  text_ += fmt::format(" {}{}.{:0{}}\n", value < 0 ? "-" : "", std::llabs(value) / scale,
                       std::llabs(value) % scale, decimals);
}

std::string metrics_text(const View& view) {
  MetricsText text;
  karst_families(text, view);
  karpenter_families(text, view);
  return text.take();
}

}  // namespace karst::daemon
