#include "tools/solve_case.h"

#include <map>
#include <set>
#include <tuple>

#include "model/labels.h"
#include "objects/pod_spec.h"
#include "tools/solve_checks.h"
#include "tools/solve_parts.h"
#include "tools/solve_volumes.h"

namespace karst::tools {
namespace {

using objects::Context;
using objects::Object;
using scheduling::Problem;

class Reader {
 public:
  explicit Reader(simdjson::dom::element document) : document_(document) {}

  base::Result<NamedProblem> read() {
    check_case(document_, context_);
    const Object root = Object::from(context_, document_);
    result_.name = root.text("name");
    if (const std::string kind = root.text("kind"); !kind.empty() && kind != "scheduling") {
      const Context::Scope scope(context_, {"kind", 0});
      context_.fail("\"" + kind +
                    "\" is not known: expected disruption, candidate, or none for scheduling");
      return base::fail(context_.status().error());
    }
    if (!root.has("pods")) {
      context_.fail("pods is missing: expected the pods to place, as docs/oracle.md has them");
      return base::fail(context_.status().error());
    }
    read_options(root);
    read_case_namespaces(document_, context_, problem().namespaces);
    read_pools();
    read_nodes();
    read_pods();
    each(document_, "daemonSets", context_, [&](const simdjson::dom::element& pod) {
      Object::from(context_, pod).object("spec", [&](const Object& spec) {
        scheduling::Daemon daemon;
        check_pod_spec(spec);
        objects::read_pod_spec(spec, "default", "daemon", daemon.shape);
        problem().daemons.push_back(std::move(daemon));
      });
    });
    KARST_TRY(context_.status());
    return std::move(result_);
  }

 private:
  Problem& problem() { return result_.problem; }

  void read_pods() {
    const Context::Scope scope(context_, {"pods", 0});
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
  }

  static std::string namespace_of(const Object& metadata) {
    const std::string name = metadata.text("namespace");
    return name.empty() ? "default" : name;
  }
  static std::string full_name(const Object& metadata) {
    return namespace_of(metadata) + "/" + metadata.text("name");
  }

  void read_options(const Object& root) {
    read_case_options(root, problem().options);
    for (std::string& node : root.texts("deletingNodes")) deleting_.insert(std::move(node));
    root.object("volumes", [&](const Object& volumes) { volumes_.read(volumes); });
  }

  void read_pools() {
    const simdjson::dom::element catalogues = child(document_, "instanceTypes");
    each(document_, "nodePools", context_, [&](const simdjson::dom::element& one) {
      const Object object = Object::from(context_, one);
      scheduling::Pool pool;
      object.object("metadata", [&](const Object& metadata) {
        pool.pool.name = model::PoolName(metadata.text("name"));
      });
      object.object("spec", [&](const Object& spec) {
        check_pool_spec(spec);
        read_pool_spec(spec, pool.pool);
      });
      problem().pools.push_back(std::move(pool));
    });
    for (scheduling::Pool& pool : problem().pools)
      pool.types = read_case_types(catalogues, pool.pool.name.str(), context_);
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

  void read_nodes() {
    each(document_, "nodes", context_, [&](const simdjson::dom::element& one) {
      const Object object = Object::from(context_, one);
      scheduling::Node node;
      node.name = object.text("name");
      std::string node_name;
      object.object("node", [&](const Object& inner) {
        inner.object("metadata", [&](const Object& metadata) {
          node_name = metadata.text("name");
          note_host(metadata);
        });
        read_node_object(inner, node);
      });
      object.object("state", [&](const Object& state) {
        read_node_state(state, volumes_.drivers(), node);
        count_used(state, node);
      });
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
        note_host(metadata);
      });
      object.object("spec", [&](const Object& spec) { node.taints = read_taints(spec); });
      if (node_index_.try_emplace(node.name, problem().nodes.size()).second)
        problem().nodes.push_back(std::move(node));
    });
  }

  void note_host(const Object& metadata) {
    if (model::has_label(metadata.labels("labels"), model::kHostnameLabel))
      named_hosts_.insert(metadata.text("name"));
  }

  void count_used(const Object& state, const scheduling::Node& node) {
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
      check_pod_spec(spec);
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
    // On a node without the label a term over hosts binds nobody. The daemon's nodes all have it.
    const bool has_host = named_hosts_.contains(node);
    for (model::PodAffinityTerm& term : shape.affinity)
      if (term.anti && term.preferred_weight == 0 &&
          (has_host || term.topology_key != model::kHostnameLabel))
        bound.anti_affinity.push_back(std::move(term));
    problem().bound.push_back(std::move(bound));
  }

  using Key = std::tuple<model::ShapeHash, std::string, model::Labels,
                         std::vector<scheduling::Volume>, std::int64_t, bool>;

  simdjson::dom::element document_;
  Context context_;
  NamedProblem result_;
  VolumeReader volumes_;
  std::map<std::string, std::size_t> node_index_;  // by name of the Node object
  std::set<std::string> named_hosts_;              // Node objects with the label of their host
  std::set<std::string> deleting_;
  std::set<std::string> pending_;
  std::map<Key, std::size_t> groups_;
};

}  // namespace

base::Result<NamedProblem> read_case(simdjson::dom::element document) {
  return Reader(document).read();
}

}  // namespace karst::tools
