#include <fmt/format.h>

#include <algorithm>

#include "base/time.h"
#include "daemon/words.h"
#include "model/labels.h"
#include "tools/open_log.h"
#include "tools/talk.h"

namespace karst::tools {
namespace {

using State = projections::ClusterState;

// Each row twice: cells for people, and an object for programs, with numbers in base units, units
// in the keys, and times as RFC 3339.
class Listing {
 public:
  explicit Listing(std::vector<std::string> columns) : columns_(std::move(columns)) {}
  void add(std::vector<Json> cells, Json object) {
    rows_.push_back({std::move(cells), std::move(object)});
  }
  void print(Format format) {
    std::stable_sort(rows_.begin(), rows_.end(),
                     [](const Row& a, const Row& b) { return a.cells < b.cells; });
    std::vector<std::vector<Json>> cells;
    Json objects = Json::array();
    for (Row& row : rows_) {
      cells.push_back(std::move(row.cells));
      objects.push_back(std::move(row.object));
    }
    if (format == Format::kTable) return print_rows(columns_, cells, format);
    print_value(objects, format);
  }

 private:
  struct Row {
    std::vector<Json> cells;
    Json object;
  };
  std::vector<std::string> columns_;
  std::vector<Row> rows_;
};

std::string age(const State& state, std::int64_t since_millis) {
  if (since_millis == 0) return "";
  return daemon::duration_text(
      std::max<std::int64_t>(0, state.last_log_time().value() - since_millis));
}

Json time_json(std::int64_t millis) {
  return millis == 0 ? Json() : Json(base::format_rfc3339(millis));
}

std::string with_unit(const std::string& resource) {
  if (resource == "cpu") return "cpu_millicores";
  if (resource == "memory") return "memory_bytes";
  return resource == "ephemeral-storage" ? "ephemeral_storage_bytes" : resource;
}

Json resources_of(const model::Resources& resources) {
  Json value = {{with_unit("cpu"), resources.cpu_millis},
                {with_unit("memory"), resources.memory_bytes},
                {with_unit("ephemeral-storage"), resources.ephemeral_bytes},
                {"pods", resources.pods}};
  for (const auto& [name, amount] : resources.extended) value[name] = amount;
  return value;
}

std::string pod_status(const projections::PodRow& row) {
  if (row.deletion_millis != 0) return "Terminating";
  if (row.phase == model::PodPhase::kPending && row.node != nullptr) return "Starting";
  return std::string(daemon::phase_name(row.phase));
}

void print_pods(const State& state, Format format) {
  Listing list({"namespace", "name", "status", "node", "expected_on", "age", "uid"});
  for (const std::string& uid : state.pods().all_uids()) {
    const projections::PodRow& row = state.pods().row_of(uid);
    const std::string space = row.namespace_name == nullptr ? "" : *row.namespace_name;
    const std::string node = row.node == nullptr ? "" : *row.node;
    const std::string expected = !row.expected_claim.empty()  ? row.expected_claim.str()
                                 : !row.expected_node.empty() ? row.expected_node.str()
                                                              : "";
    list.add(
        {space, row.name, pod_status(row), node, expected, age(state, row.creation_millis), uid},
        {{"namespace", space},
         {"name", row.name},
         {"status", pod_status(row)},
         {"node", node},
         {"expected_on", expected},
         {"created", time_json(row.creation_millis)},
         {"uid", uid}});
  }
  list.print(format);
}

void print_nodes(const State& state, Format format) {
  Listing list({"name", "type", "capacity", "zone", "nodepool", "ready", "pods", "requested",
                "allocatable", "age"});
  for (const auto& [name, slot] : state.nodes().slots()) {
    const model::Node& node = slot.row.node;
    const projections::NodePods* pods = state.pods().on(name.str());
    const model::Resources used = pods == nullptr ? model::Resources{} : pods->requests;
    const std::size_t count = pods == nullptr ? 0 : pods->slots.size();
    const auto label = [&](std::string_view key) {
      return std::string(model::label_value(node.labels, key));
    };
    const std::string type = label(model::kInstanceTypeLabel), zone = label(model::kZoneLabel),
                      capacity = label(model::kCapacityTypeLabel),
                      pool = label(model::kNodePoolLabel);
    list.add({name.str(), type, capacity, zone, pool, node.ready, count, daemon::size_text(used),
              daemon::size_text(node.allocatable), age(state, node.creation_millis)},
             {{"name", name.str()},
              {"type", type},
              {"capacity", capacity},
              {"zone", zone},
              {"nodepool", pool},
              {"ready", node.ready},
              {"pods", count},
              {"requested", resources_of(used)},
              {"allocatable", resources_of(node.allocatable)},
              {"created", time_json(node.creation_millis)}});
  }
  list.print(format);
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
  Listing list({"name", "type", "capacity", "zone", "node", "phase", "nodepool", "price_per_hour",
                "leaving_because", "age", "id"});
  for (const auto& [name, slot] : state.claims().slots()) {
    const projections::ClaimRow& row = slot.row;
    const model::Offer& offer = row.instance.offer;
    const std::string price = row.launched() ? daemon::dollars(offer.price_nanos_per_hour) : "";
    list.add(
        {name.str(), offer.instance_type, offer.capacity_type, offer.zone, row.node.str(),
         claim_phase(row), row.claim.pool.str(), price, row.delete_reason,
         age(state, row.created_at.value()), row.instance.provider_id.str()},
        {{"name", name.str()},
         {"type", offer.instance_type},
         {"capacity", offer.capacity_type},
         {"zone", offer.zone},
         {"node", row.node.str()},
         {"phase", claim_phase(row)},
         {"nodepool", row.claim.pool.str()},
         {"price_nanodollars_per_hour", row.launched() ? Json(offer.price_nanos_per_hour) : Json()},
         {"leaving_because", row.delete_reason},
         {"created", time_json(row.created_at.value())},
         {"id", row.instance.provider_id.str()}});
  }
  list.print(format);
}

void print_pools(const State& state, Format format) {
  Listing list({"name", "nodeclass", "nodes", "weight", "limits"});
  for (const auto& [name, slot] : state.pools().slots()) {
    const model::NodePool& pool = slot.row.pool;
    std::int64_t nodes = 0;
    for (const auto& [node, node_slot] : state.nodes().slots())
      nodes += model::label_value(node_slot.row.node.labels, model::kNodePoolLabel) == name.str();
    std::string text;
    Json limits = Json::object();
    for (const auto& [resource, amount] : pool.limits) {
      text += fmt::format("{}{}={}", text.empty() ? "" : ",", with_unit(resource), amount);
      limits[with_unit(resource)] = amount;
    }
    list.add({name.str(), pool.node_class.name, nodes, pool.weight, text},
             {{"name", name.str()},
              {"nodeclass", pool.node_class.name},
              {"nodes", nodes},
              {"weight", pool.weight},
              {"limits", limits}});
  }
  list.print(format);
}

void print_commands(const State& state, Format format) {
  Listing list({"id", "kind", "subject", "reason", "attempt", "state", "age"});
  for (const auto& [position, slot] : state.commands().slots()) {
    const projections::CommandRow& row = slot.row;
    const std::string kind(model::command_kind_name(model::kind_of(row.command.spec)));
    const std::string subject = model::subject_of(row.command.spec);
    const bool open = row.state == projections::CommandState::kOpen;
    list.add({position.value(), kind, subject, row.command.reason, row.attempt,
              open ? "open" : "unclear", age(state, row.opened_at.value())},
             {{"id", position.value()},
              {"kind", kind},
              {"subject", subject},
              {"reason", row.command.reason},
              {"attempt", row.attempt},
              {"state", open ? "open" : "unclear"},
              {"opened", time_json(row.opened_at.value())}});
  }
  list.print(format);
}

void print_objects(const State& state, Format format) {
  Listing list({"kind", "namespace", "name", "seen_at"});
  for (const auto& [key, slot] : state.objects().slots())
    list.add({key.kind, key.namespace_name, key.name, slot.row.position.value()},
             {{"kind", key.kind},
              {"namespace", key.namespace_name},
              {"name", key.name},
              {"seen_at", slot.row.position.value()}});
  list.print(format);
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
  value["objects"] = state.objects().size();
  value["commands_open"] = state.commands().size();
  if (format == Format::kTable)
    value["price_per_hour"] = daemon::dollars(price);
  else
    value["price_nanodollars_per_hour"] = price;
  value["digest"] = fmt::format("{:016x}{:016x}", state.digest().high, state.digest().low);
  print_value(value, format);
}

std::string access_text(const StateOptions& options) {
  std::string text = "state";
  if (!options.at.empty()) text += " --at " + options.at;
  if (!options.table.empty()) text += " " + options.table;
  return text;
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
  record_access(options.data, access_text(options));
  const auto state = state_at(*log, until);
  if (!state) return report(state.error());
  const State& folded = *state;
  if (options.table == "pods")
    print_pods(folded, options.format);
  else if (options.table == "nodes")
    print_nodes(folded, options.format);
  else if (options.table == "claims")
    print_claims(folded, options.format);
  else if (options.table == "pools")
    print_pools(folded, options.format);
  else if (options.table == "objects")
    print_objects(folded, options.format);
  else if (options.table == "commands")
    print_commands(folded, options.format);
  else
    print_summary(folded, options.format);
  return finish(*log, kExitDone);
}

}  // namespace karst::tools
