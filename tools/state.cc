#include <fmt/format.h>

#include <algorithm>

#include "base/time.h"
#include "daemon/words.h"
#include "engine/replay.h"
#include "model/labels.h"
#include "tools/open_log.h"
#include "tools/talk.h"

namespace karst::tools {
namespace {

using Rows = std::vector<std::vector<Json>>;
using State = projections::ClusterState;

std::string age(const State& state, std::int64_t since_millis) {
  if (since_millis == 0) return "";
  return daemon::duration_text(
      std::max<std::int64_t>(0, state.last_log_time().value() - since_millis) / 1000 * 1000);
}

std::string pod_status(const projections::PodRow& row) {
  if (row.deletion_millis != 0) return "Terminating";
  switch (row.phase) {
    case model::PodPhase::kPending:
      return row.node == nullptr ? "Pending" : "Starting";
    case model::PodPhase::kRunning:
      return "Running";
    case model::PodPhase::kSucceeded:
      return "Succeeded";
    case model::PodPhase::kFailed:
      return "Failed";
    case model::PodPhase::kUnknown:
      return "Unknown";
  }
  return "?";
}

void print_pods(const State& state, Format format) {
  Rows rows;
  for (const std::string& uid : state.pods().all_uids()) {
    const projections::PodRow& row = state.pods().row_of(uid);
    const std::string expected = !row.expected_claim.empty()  ? row.expected_claim.str()
                                 : !row.expected_node.empty() ? row.expected_node.str()
                                                              : "";
    rows.push_back({row.namespace_name == nullptr ? "" : *row.namespace_name, row.name,
                    pod_status(row), row.node == nullptr ? "" : *row.node, expected,
                    age(state, row.creation_millis), uid});
  }
  std::sort(rows.begin(), rows.end());
  print_rows({"namespace", "name", "status", "node", "expected_on", "age", "uid"}, rows, format);
}

void print_nodes(const State& state, Format format) {
  Rows rows;
  for (const auto& [name, slot] : state.nodes().slots()) {
    const model::Node& node = slot.row.node;
    const projections::NodePods* pods = state.pods().on(name.str());
    const model::Resources used = pods == nullptr ? model::Resources{} : pods->requests;
    rows.push_back({name.str(),
                    std::string(model::label_value(node.labels, model::kInstanceTypeLabel)),
                    std::string(model::label_value(node.labels, model::kCapacityTypeLabel)),
                    std::string(model::label_value(node.labels, model::kZoneLabel)),
                    std::string(model::label_value(node.labels, model::kNodePoolLabel)), node.ready,
                    pods == nullptr ? std::size_t{0} : pods->slots.size(), daemon::size_text(used),
                    daemon::size_text(node.allocatable), age(state, node.creation_millis)});
  }
  print_rows({"name", "type", "capacity", "zone", "nodepool", "ready", "pods", "requested",
              "allocatable", "age"},
             rows, format);
}

std::string claim_phase(const projections::ClaimRow& row) {
  if (row.gone_at.value() != 0) return "Gone";
  if (row.leaving()) return "Leaving";
  if (row.initialized_at.value() != 0) return "Initialized";
  if (row.registered_at.value() != 0) return "Registered";
  if (row.launched()) return "Launched";
  return row.launch_refused ? "Refused" : "Created";
}

void print_claims(const State& state, Format format) {
  Rows rows;
  for (const auto& [name, slot] : state.claims().slots()) {
    const projections::ClaimRow& row = slot.row;
    const model::Offer& offer = row.instance.offer;
    rows.push_back({name.str(), offer.instance_type, offer.capacity_type, offer.zone,
                    row.node.str(), claim_phase(row), row.claim.pool.str(),
                    row.launched() ? daemon::dollars(offer.price_nanos_per_hour) : "",
                    row.delete_reason, age(state, row.created_at.value()),
                    row.instance.provider_id.str()});
  }
  print_rows({"name", "type", "capacity", "zone", "node", "phase", "nodepool", "price_per_hour",
              "leaving_because", "age", "id"},
             rows, format);
}

void print_pools(const State& state, Format format) {
  Rows rows;
  for (const auto& [name, slot] : state.pools().slots()) {
    const model::NodePool& pool = slot.row.pool;
    std::int64_t nodes = 0;
    for (const auto& [node, node_slot] : state.nodes().slots())
      nodes += model::label_value(node_slot.row.node.labels, model::kNodePoolLabel) == name.str();
    std::string limits;
    for (const auto& [resource, amount] : pool.limits)
      limits += fmt::format("{}{}={}", limits.empty() ? "" : ",", resource, amount);
    rows.push_back({name.str(), pool.node_class.name, nodes, pool.weight, limits});
  }
  print_rows({"name", "nodeclass", "nodes", "weight", "limits"}, rows, format);
}

void print_commands(const State& state, Format format) {
  Rows rows;
  for (const auto& [position, slot] : state.commands().slots()) {
    const projections::CommandRow& row = slot.row;
    rows.push_back({position.value(),
                    std::string(model::command_kind_name(model::kind_of(row.command.spec))),
                    model::subject_of(row.command.spec), row.command.reason, row.attempt,
                    row.state == projections::CommandState::kOpen ? "open" : "unclear",
                    age(state, row.opened_at.value())});
  }
  print_rows({"id", "kind", "subject", "reason", "attempt", "state", "age"}, rows, format);
}

void print_summary(const State& state, Format format) {
  std::int64_t price = 0;
  for (const auto& [name, slot] : state.claims().slots())
    if (slot.row.launched()) price += slot.row.instance.offer.price_nanos_per_hour;
  Json value;
  value["log"] = state.log_id().str();
  value["position"] = state.last_position().value();
  value["log_time"] = base::format_rfc3339(state.last_log_time().value());
  value["rounds"] = state.rounds();
  value["pods"] = state.pods().size();
  value["pods_pending"] = state.pods().pending().size();
  value["nodes"] = state.nodes().size();
  value["claims"] = state.claims().size();
  value["instances"] = state.instances().size();
  value["pools"] = state.pools().size();
  value["commands_open"] = state.commands().size();
  value["price_per_hour"] = daemon::dollars(price);
  value["digest"] = fmt::format("{:016x}{:016x}", state.digest().high, state.digest().low);
  print_value(value, format);
}

}  // namespace

int state(const StateOptions& options) {
  auto log = open_for_reading(options.data);
  if (!log) return report(log.error());
  model::Position until((*log)->end().value() - 1);
  if (!options.at.empty()) {
    auto place = parse_place(**log, options.at, "--at");
    if (!place) return finish(*log, report(place.error()));
    until = *place;
  }
  State folded;
  auto from = engine::rebuild(**log, nullptr, until, folded);
  if (!from) return report(from.error());
  if (options.table == "pods")
    print_pods(folded, options.format);
  else if (options.table == "nodes")
    print_nodes(folded, options.format);
  else if (options.table == "claims")
    print_claims(folded, options.format);
  else if (options.table == "pools")
    print_pools(folded, options.format);
  else if (options.table == "commands")
    print_commands(folded, options.format);
  else
    print_summary(folded, options.format);
  return finish(*log, kExitDone);
}

}  // namespace karst::tools
