#include "tools/solve_parts.h"

#include <algorithm>
#include <cmath>

#include "objects/words.h"

namespace karst::tools {

using objects::Context;
using objects::Object;
using objects::read_effect;
using objects::read_operator;
using objects::read_word;

simdjson::dom::element child(const simdjson::dom::element& parent, std::string_view key) {
  // An element of no document may not be asked for anything.
  static simdjson::dom::parser parser;
  static const simdjson::dom::element kEmpty = parser.parse(std::string("{}")).value();
  simdjson::dom::element element;
  return parent.at_key(key).get(element) == simdjson::SUCCESS ? element : kEmpty;
}

std::vector<model::RequirementSpec> read_requirements(const Object& parent) {
  std::vector<model::RequirementSpec> specs;
  parent.objects("requirements", [&](const Object& object) {
    specs.push_back({object.text("key"), read_operator(object), object.texts("values"),
                     object.integer32("minValues")});
  });
  return specs;
}

std::vector<model::Taint> read_taints(const Object& parent) {
  std::vector<model::Taint> taints;
  parent.objects("taints", [&](const Object& object) {
    taints.push_back({object.text("key"), object.text("value"), read_effect(object)});
  });
  return taints;
}

model::Resources read_room(const Object& parent, std::string_view key) {
  model::Resources room;
  for (const auto& [name, text] : parent.quantities(key)) {
    const bool negative = text.starts_with('-');
    const std::string_view digits = std::string_view(text).substr(negative ? 1 : 0);
    const auto rounding = negative ? model::Rounding::kUp : model::Rounding::kDown;
    const auto amount = name == "cpu" ? model::parse_quantity_millis(digits, rounding)
                                      : model::parse_quantity_units(digits, rounding);
    if (!amount) {
      Context::Scope scope(parent.context(), {key, 0});
      parent.context().fail(amount.error().message);
      return room;
    }
    room.set_amount(name, negative ? -*amount : *amount);
  }
  return room;
}

void read_case_options(const Object& root, scheduling::Options& options) {
  options.spread_domains = scheduling::SpreadDomains::kAllPools;  // beside Karpenter's answers
  root.object("options", [&](const Object& object) {
    if (read_word(object, "preferencePolicy", {"Respect", "Ignore"}) == "Ignore")
      options.preferences = scheduling::PreferencePolicy::kIgnore;
    if (read_word(object, "minValuesPolicy", {"Strict", "BestEffort"}) == "BestEffort")
      options.min_values = scheduling::MinValuesPolicy::kBestEffort;
    if (read_word(object, "reservedOfferingMode", {"Strict", "Fallback"}) == "Fallback")
      options.reserved = scheduling::ReservedMode::kFallback;
    object.object("featureGates", [&](const Object& gates) {
      if (!gates.boolean("ReservedCapacity", true))
        options.reserved = scheduling::ReservedMode::kOff;
    });
    options.instance_types_max = static_cast<std::size_t>(
        std::max<std::int64_t>(object.integer("maxInstanceTypes", 600), 1));
    for (std::string& label : object.texts("wellKnownLabels"))
      options.well_known_labels.insert(std::move(label));
    for (auto& [old, today] : object.labels("labelAliases")) options.label_aliases[old] = today;
    options.reservation_id_label = object.text("reservationIDLabel");
  });
}

void read_case_namespaces(const simdjson::dom::element& document, Context& context,
                          std::map<std::string, model::Labels>& namespaces) {
  each(document, "namespaces", context, [&](const simdjson::dom::element& one) {
    Object::from(context, one).object("metadata", [&](const Object& metadata) {
      namespaces[metadata.text("name")] = metadata.labels("labels");
    });
  });
}

namespace {

scheduling::InstanceType read_type(const simdjson::dom::element& element, Context& context) {
  const Object object = Object::from(context, element);
  scheduling::InstanceType type;
  type.name = object.text("name");
  type.requirements = read_requirements(object);
  type.capacity = read_room(object, "capacity");
  type.allocatable = read_room(object, "allocatable");
  each(element, "offerings", context, [&](const simdjson::dom::element& one) {
    const Object source = Object::from(context, one);
    scheduling::Offering offering;
    offering.requirements = read_requirements(source);
    double price = 0;
    if (child(one, "price").get(price) != simdjson::SUCCESS || price < 0 || price > 1e9) {
      const Context::Scope scope(context, {"price", 0});
      context.fail("expected dollars per hour, 0 to 1000000000");
    }
    offering.price_nanos_per_hour = std::llround(price * 1e9);
    offering.available = source.boolean("available");
    offering.reservation_capacity = source.integer("reservationCapacity");
    if (source.has("allocatable")) offering.allocatable = read_room(source, "allocatable");
    type.offerings.push_back(std::move(offering));
  });
  return type;
}

}  // namespace

std::vector<scheduling::InstanceType> read_case_types(const simdjson::dom::element& catalogues,
                                                      std::string_view pool, Context& context) {
  std::vector<scheduling::InstanceType> types;
  const Context::Scope scope(context, {"instanceTypes", 0});
  each(catalogues, pool, context,
       [&](const simdjson::dom::element& type) { types.push_back(read_type(type, context)); });
  return types;
}

void read_node_object(const Object& object, scheduling::Node& node) {
  node.present_taints.emplace();
  object.object("spec", [&](const Object& spec) { node.present_taints = read_taints(spec); });
}

void read_node_state(const Object& state, const std::set<std::string>& drivers,
                     scheduling::Node& node) {
  node.host_name = state.text("hostName");
  node.labels = state.labels("labels");
  node.taints = read_taints(state);
  node.available = read_room(state, "available");
  node.daemon_running = read_room(state, "daemonSetRequests");
  node.initialized = state.boolean("initialized");
  node.in_consolidate_after = state.boolean("underConsolidateAfter");
  state.objects("hostPorts", [&](const Object& port) {
    const std::string protocol = port.text("protocol");
    node.host_ports.push_back(
        {port.text("ip"), port.integer32("port"), protocol.empty() ? "TCP" : protocol});
  });
  state.object("volumes", [&](const Object& volumes) {
    for (const std::string& driver : drivers)
      for (const std::string& claim : volumes.texts(driver))
        node.volumes.emplace_back(driver, claim);
  });
  state.object("volumeLimits", [&](const Object& limits) {
    for (const std::string& driver : drivers)
      if (limits.has(driver)) node.attach_limits[driver] = limits.integer(driver);
  });
}

}  // namespace karst::tools
