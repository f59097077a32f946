#include "tools/solve_case.h"

#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "model/labels.h"
#include "objects/pod_spec.h"
#include "tools/solve_volumes.h"

namespace karst::tools {
namespace {

using objects::Context;
using objects::Object;
using scheduling::Problem;

// The elements of an array of any length.
template <class F>
void each(const simdjson::dom::element& parent, std::string_view key, Context& context, F&& f) {
  simdjson::dom::array array;
  if (parent.at_key(key).get(array) != simdjson::SUCCESS) return;
  Context::Scope scope(context, {key, 0});
  std::size_t index = 0;
  for (const simdjson::dom::element element : array) {
    Context::Scope inner(context, {{}, index++});
    f(element);
  }
}

simdjson::dom::element child(const simdjson::dom::element& parent, std::string_view key) {
  simdjson::dom::element element;
  if (parent.at_key(key).get(element) != simdjson::SUCCESS) return {};
  return element;
}

std::vector<model::RequirementSpec> read_requirements(const Object& parent) {
  std::vector<model::RequirementSpec> specs;
  parent.objects("requirements", [&](const Object& object) {
    const auto op = model::parse_operator(object.view("operator"));
    if (!op) object.context().fail("operator is not known");
    specs.push_back({object.text("key"), op.value_or(model::Operator::kExists),
                     object.texts("values"), object.integer32("minValues")});
  });
  return specs;
}

std::vector<model::Taint> read_taints(const Object& parent) {
  std::vector<model::Taint> taints;
  parent.objects("taints", [&](const Object& object) {
    const auto effect = model::parse_taint_effect(object.view("effect"));
    if (!effect) object.context().fail("effect is not known");
    taints.push_back({object.text("key"), object.text("value"),
                      effect.value_or(model::TaintEffect::kNoSchedule)});
  });
  return taints;
}

// What a machine offers; an overcommitted node's is negative.
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

class Reader {
 public:
  explicit Reader(simdjson::dom::element document) : document_(document) {}

  base::Result<NamedProblem> read() {
    const Object root = Object::from(context_, document_);
    result_.name = root.text("name");
    if (const std::string kind = root.text("kind"); !kind.empty() && kind != "scheduling") {
      const Context::Scope scope(context_, {"kind", 0});
      context_.fail("\"" + kind +
                    "\" is not answered here; scheduling cases are, which have no kind");
      return base::fail(context_.status().error());
    }
    read_options(root);
    read_namespaces();
    read_pools();
    read_nodes();
    const simdjson::dom::element pods = child(document_, "pods");
    each(pods, "pending", context_, [&](const simdjson::dom::element& pod) {
      Object::from(context_, pod).object("metadata", [&](const Object& metadata) {
        pending_.insert(full_name(metadata));
      });
      volumes_.note(Object::from(context_, pod));
    });
    for (const scheduling::Node& node : problem().nodes)
      for (const auto& [driver, claim] : node.volumes) volumes_.note_mounted(claim);
    each(pods, "pending", context_, [&](const simdjson::dom::element& pod) { add_pending(pod); });
    each(pods, "bound", context_, [&](const simdjson::dom::element& pod) { add_bound(pod); });
    each(document_, "daemonSets", context_, [&](const simdjson::dom::element& pod) {
      Object::from(context_, pod).object("spec", [&](const Object& spec) {
        scheduling::Daemon daemon;
        objects::read_pod_spec(spec, "default", "daemon", daemon.shape);
        problem().daemons.push_back(std::move(daemon));
      });
    });
    KARST_TRY(context_.status());
    return std::move(result_);
  }

 private:
  Problem& problem() { return result_.problem; }

  static std::string namespace_of(const Object& metadata) {
    const std::string name = metadata.text("namespace");
    return name.empty() ? "default" : name;
  }
  static std::string full_name(const Object& metadata) {
    return namespace_of(metadata) + "/" + metadata.text("name");
  }

  void read_options(const Object& root) {
    scheduling::Options& options = problem().options;
    options.spread_domains = scheduling::SpreadDomains::kAllPools;  // beside Karpenter's answers
    root.object("options", [&](const Object& object) {
      if (object.view("preferencePolicy") == "Ignore")
        options.preferences = scheduling::PreferencePolicy::kIgnore;
      if (object.view("minValuesPolicy") == "BestEffort")
        options.min_values = scheduling::MinValuesPolicy::kBestEffort;
      if (object.view("reservedOfferingMode") == "Fallback")
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
    for (std::string& node : root.texts("deletingNodes")) deleting_.insert(std::move(node));
    root.object("volumes", [&](const Object& volumes) { volumes_.read(volumes); });
  }

  void read_namespaces() {
    each(document_, "namespaces", context_, [&](const simdjson::dom::element& one) {
      Object::from(context_, one).object("metadata", [&](const Object& metadata) {
        problem().namespaces[metadata.text("name")] = metadata.labels("labels");
      });
    });
  }

  void read_pools() {
    const simdjson::dom::element catalogues = child(document_, "instanceTypes");
    each(document_, "nodePools", context_, [&](const simdjson::dom::element& one) {
      const Object object = Object::from(context_, one);
      scheduling::Pool pool;
      object.object("metadata", [&](const Object& metadata) {
        pool.pool.name = model::PoolName(metadata.text("name"));
      });
      object.object("spec", [&](const Object& spec) { read_pool_spec(spec, pool.pool); });
      std::vector<scheduling::InstanceType> types;
      each(catalogues, pool.pool.name.str(), context_,
           [&](const simdjson::dom::element& type) { types.push_back(read_type(type)); });
      pool.types = std::move(types);
      problem().pools.push_back(std::move(pool));
    });
  }

  static void read_pool_spec(const Object& spec, model::NodePool& pool) {
    pool.weight = spec.integer32("weight");
    if (spec.has("replicas")) pool.replicas = spec.integer("replicas");
    constexpr std::int64_t kLimitMax = std::int64_t{1} << 61;
    const model::Resources limits = spec.resources("limits", model::Rounding::kDown, kLimitMax);
    for (const auto& [name, unused] : spec.quantities("limits"))
      pool.limits.emplace_back(name, limits.amount(name));
    spec.object("template", [&](const Object& pool_template) {
      pool_template.object("metadata", [&](const Object& metadata) {
        pool.template_labels = metadata.labels("labels");
      });
      pool_template.object("spec", [&](const Object& inner) {
        pool.requirements = read_requirements(inner);
        pool.taints = read_taints(inner);
        inner.object("nodeClassRef", [&](const Object& ref) {
          pool.node_class = {ref.text("group"), ref.text("kind"), ref.text("name")};
        });
      });
    });
  }

  scheduling::InstanceType read_type(const simdjson::dom::element& element) {
    const Object object = Object::from(context_, element);
    scheduling::InstanceType type;
    type.name = object.text("name");
    type.requirements = read_requirements(object);
    type.capacity = read_room(object, "capacity");
    type.allocatable = read_room(object, "allocatable");
    each(element, "offerings", context_, [&](const simdjson::dom::element& one) {
      const Object source = Object::from(context_, one);
      scheduling::Offering offering;
      offering.requirements = read_requirements(source);
      double price = 0;
      if (child(one, "price").get(price) != simdjson::SUCCESS || price < 0 || price > 1e9)
        context_.fail("price: expected dollars per hour");
      offering.price_nanos_per_hour = std::llround(price * 1e9);
      offering.available = source.boolean("available");
      offering.reservation_capacity = source.integer("reservationCapacity");
      if (source.has("allocatable")) offering.allocatable = read_room(source, "allocatable");
      type.offerings.push_back(std::move(offering));
    });
    return type;
  }

  void read_nodes() {
    each(document_, "nodes", context_, [&](const simdjson::dom::element& one) {
      const Object object = Object::from(context_, one);
      scheduling::Node node;
      node.name = object.text("name");
      std::string node_name;
      object.object("node", [&](const Object& inner) {
        inner.object("metadata",
                     [&](const Object& metadata) { node_name = metadata.text("name"); });
      });
      object.object("state", [&](const Object& state) { read_state(state, node); });
      if (!node_name.empty()) node_index_[node_name] = problem().nodes.size();
      problem().nodes.push_back(std::move(node));
    });
    each(document_, "absentNodes", context_, [&](const simdjson::dom::element& one) {
      scheduling::Node node;
      node.takes_pods = false;
      const Object object = Object::from(context_, one);
      object.object("metadata", [&](const Object& metadata) {
        node.name = metadata.text("name");
        node.labels = metadata.labels("labels");
      });
      object.object("spec", [&](const Object& spec) { node.taints = read_taints(spec); });
      if (node_index_.try_emplace(node.name, problem().nodes.size()).second)
        problem().nodes.push_back(std::move(node));
    });
  }

  void read_state(const Object& state, scheduling::Node& node) {
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
      for (const std::string& driver : volumes_.drivers())
        for (const std::string& claim : volumes.texts(driver))
          node.volumes.emplace_back(driver, claim);
    });
    state.object("volumeLimits", [&](const Object& limits) {
      for (const std::string& driver : volumes_.drivers())
        if (limits.has(driver)) node.attach_limits[driver] = limits.integer(driver);
    });
    // Everything that runs there counts towards the limits of its pool.
    const std::string_view pool = model::label_value(node.labels, model::kNodePoolLabel);
    const model::Resources capacity = read_room(state, "capacity");
    for (scheduling::Pool& one : problem().pools)
      if (one.pool.name.str() == pool)
        for (const auto& [name, limit] : one.pool.limits)
          one.used.emplace_back(name, capacity.amount(name));
  }

  void add_pending(const simdjson::dom::element& element) {
    const Object object = Object::from(context_, element);
    scheduling::PodGroup pod;
    std::string name;
    object.object("metadata", [&](const Object& metadata) {
      pod.namespace_name = namespace_of(metadata);
      pod.labels = metadata.labels("labels");
      pod.creation_millis = metadata.time_millis("creationTimestamp");
      name = metadata.text("name");
    });
    std::string node;
    object.object("spec", [&](const Object& spec) {
      objects::read_pod_spec(spec, pod.namespace_name, name, pod.shape);
      node = spec.text("nodeName");
    });
    pod.volumes = volumes_.of(object);
    pod.shape.volume_claims.clear();
    std::string phase;
    object.object("status", [&](const Object& status) { phase = status.text("phase"); });
    pod.voluntary = !node.empty() && phase != "Pending" && !deleting_.contains(node);
    const auto [at, is_new] =
        groups_.try_emplace(Key(model::hash_of(pod.shape), pod.namespace_name, pod.labels,
                                pod.volumes, pod.creation_millis, pod.voluntary),
                            problem().pods.size());
    if (is_new) {
      problem().pods.push_back(pod);
      result_.pods.emplace_back();
    } else {
      ++problem().pods[at->second].count;
    }
    result_.pods[at->second].push_back(pod.namespace_name + "/" + name);
  }

  void add_bound(const simdjson::dom::element& element) {
    const Object object = Object::from(context_, element);
    scheduling::BoundPods bound;
    std::string name;
    bool gone = false;
    object.object("metadata", [&](const Object& metadata) {
      bound.namespace_name = namespace_of(metadata);
      bound.labels = metadata.labels("labels");
      name = full_name(metadata);
      gone = metadata.has("deletionTimestamp");
    });
    object.object("status", [&](const Object& status) {
      gone |= status.view("phase") == "Succeeded" || status.view("phase") == "Failed";
    });
    model::PodShape shape;
    std::string node;
    object.object("spec", [&](const Object& spec) {
      objects::read_pod_spec(spec, bound.namespace_name, name, shape);
      node = spec.text("nodeName");
    });
    const auto at = node_index_.find(node);
    if (gone || at == node_index_.end() || pending_.contains(name)) return;
    bound.node = at->second;
    for (model::PodAffinityTerm& term : shape.affinity)
      if (term.anti && term.preferred_weight == 0) bound.anti_affinity.push_back(std::move(term));
    problem().bound.push_back(std::move(bound));
  }

  using Key = std::tuple<model::ShapeHash, std::string, model::Labels,
                         std::vector<scheduling::Volume>, std::int64_t, bool>;

  simdjson::dom::element document_;
  Context context_;
  NamedProblem result_;
  VolumeReader volumes_;
  std::map<std::string, std::size_t> node_index_;  // by name of the Node object
  std::set<std::string> deleting_;
  std::set<std::string> pending_;
  std::map<Key, std::size_t> groups_;
};

}  // namespace

base::Result<NamedProblem> read_case(simdjson::dom::element document) {
  return Reader(document).read();
}

}  // namespace karst::tools
