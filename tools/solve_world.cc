#include "tools/solve_world.h"

#include <algorithm>
#include <map>
#include <set>

#include "model/labels.h"
#include "objects/cluster.h"
#include "objects/named.h"
#include "objects/pod.h"
#include "objects/pod_spec.h"
#include "objects/words.h"
#include "tools/solve_checks.h"
#include "tools/solve_parts.h"
#include "tools/solve_volumes.h"

namespace karst::tools {
namespace {

using disruption::World;
using objects::Context;
using objects::Object;

const model::Condition* condition_of(const std::vector<model::Condition>& conditions,
                                     std::string_view type) {
  for (const model::Condition& condition : conditions)
    if (condition.type == type) return &condition;
  return nullptr;
}

bool is_true(const std::vector<model::Condition>& conditions, std::string_view type) {
  const model::Condition* condition = condition_of(conditions, type);
  return condition != nullptr && condition->status == model::ConditionStatus::kTrue;
}

std::int64_t since(const std::vector<model::Condition>& conditions, std::string_view type) {
  const model::Condition* condition = condition_of(conditions, type);
  return condition == nullptr ? 0 : condition->transition_millis;
}

constexpr char kMethodNames[] =
    "StaticDrift, Drift, Emptiness, MultiNodeConsolidation or SingleNodeConsolidation";

class WorldReader {
 public:
  WorldReader(QuestionKind kind, simdjson::dom::element document) : document_(document) {
    question_.kind = kind;
  }

  base::Result<Question> read() {
    check_case(document_, context_);
    const Object root = Object::from(context_, document_);
    question_.name = root.text("name");
    check_parts(root);
    world().now = base::LogTime(root.time_millis("now"));
    read_case_options(root, world().base.options);
    root.object("options", [&](const Object& options) {
      options.object("featureGates", [&](const Object& gates) {
        world().spot_to_spot = gates.boolean("SpotToSpotConsolidation");
      });
    });
    read_case_namespaces(document_, context_, world().base.namespaces);
    root.object("volumes", [&](const Object& volumes) { volumes_.read(volumes); });
    read_pools();
    read_nodes();
    read_budgets();
    read_pods();
    each(document_, "daemonSets", context_,
         [&](const simdjson::dom::element& one) { read_daemon(one); });
    read_ask(root);
    KARST_TRY(context_.status());
    return std::move(question_);
  }

 private:
  World& world() { return question_.world; }

  void read_pods() {
    const Context::Scope scope(context_, {"pods", 0});
    const simdjson::dom::element pods = child(document_, "pods");
    for (const std::string_view list : {"pending", "bound"})
      each(pods, list, context_,
           [&](const simdjson::dom::element& pod) { volumes_.note(Object::from(context_, pod)); });
    for (const std::string_view list : {"pending", "bound"})
      each(pods, list, context_, [&](const simdjson::dom::element& pod) { read_pod(pod); });
  }

  // What is left out would count as "there is none": an answer to another question.
  void check_parts(const Object& root) {
    for (const char* key : {"now", "nodePools", "nodes", "pods", "podDisruptionBudgets"})
      if (!root.has(key)) context_.fail(std::string(key) + " is missing");
    root.object("pods", [&](const Object& pods) {
      for (const char* key : {"pending", "bound"})
        if (!pods.has(key)) context_.fail(std::string(key) + " is missing");
    });
    check_once("nodePools", document_, [](const Object& one) { return name_of(one); });
    check_once("nodes", document_, [](const Object& one) { return one.text("name"); });
    std::set<std::string> pods;  // a pod is bound or pending
    const Context::Scope scope(context_, {"pods", 0});
    for (const std::string_view list : {"pending", "bound"})
      check_once(
          list, child(document_, "pods"), [](const Object& one) { return name_of(one); }, pods);
  }
  static std::string name_of(const Object& one) {
    std::string name;
    one.object("metadata", [&](const Object& metadata) {
      name = metadata.text("namespace") + "/" + metadata.text("name");
    });
    return name;
  }
  template <class NameOf>
  void check_once(std::string_view list, const simdjson::dom::element& parent, NameOf&& name_of,
                  std::set<std::string>& seen) {
    each(parent, list, context_, [&](const simdjson::dom::element& element) {
      if (const std::string name = name_of(Object::from(context_, element));
          !seen.insert(name).second)
        context_.fail("\"" + name + "\" comes twice");
    });
  }
  template <class NameOf>
  void check_once(std::string_view list, const simdjson::dom::element& parent, NameOf&& name_of) {
    std::set<std::string> seen;
    check_once(list, parent, name_of, seen);
  }

  void read_pools() {
    const simdjson::dom::element catalogues = child(document_, "instanceTypes");
    each(document_, "nodePools", context_, [&](const simdjson::dom::element& one) {
      disruption::Pool pool;
      const Object object = Object::from(context_, one);
      object.object("spec", check_pool_spec);
      pool.pool.pool = objects::read_node_pool(object);
      pool.ready = is_true(pool.pool.pool.conditions, "Ready");
      world().pools.push_back(std::move(pool));
    });
    for (disruption::Pool& pool : world().pools)
      pool.pool.types = read_case_types(catalogues, pool.pool.pool.name.str(), context_);
  }

  void read_nodes() {
    each(document_, "nodes", context_, [&](const simdjson::dom::element& one) {
      const Object object = Object::from(context_, one);
      disruption::Node node;
      scheduling::Node seen;
      node.name = object.text("name");
      seen.name = node.name;
      node.has_node = object.has("node");
      node.managed = object.has("nodeClaim");
      std::string node_name = node.name;
      object.object("node", [&](const Object& inner) {
        read_node(inner, node, node_name);
        read_node_object(inner, seen);
      });
      object.object("nodeClaim", [&](const Object& claim) { read_claim(claim, node); });
      object.object("state", [&](const Object& state) { read_state(state, node, seen); });
      node_index_[node_name] = world().nodes.size();
      world().nodes.push_back(std::move(node));
      world().base.nodes.push_back(std::move(seen));
    });
  }

  static void read_node(const Object& object, disruption::Node& node, std::string& name) {
    object.object("metadata", [&](const Object& metadata) {
      name = metadata.text("name");
      node.annotations = metadata.labels("annotations");
      node.leaving |= metadata.has("deletionTimestamp");
    });
    object.object("status", [&](const Object& status) {
      status.objects("conditions", [&](const Object& condition) {
        if (condition.view("type") == "Ready") node.ready = condition.view("status") == "True";
      });
    });
  }

  static void read_claim(const Object& object, disruption::Node& node) {
    const model::NodeClaim claim = objects::read_node_claim(object);
    node.leaving |= claim.deletion_millis != 0;
    node.has_grace_period = claim.termination_grace_millis.has_value();
    node.consolidatable = is_true(claim.conditions, "Consolidatable");
    node.drifted = is_true(claim.conditions, "Drifted");
    node.drifted_millis = since(claim.conditions, "Drifted");
    node.initialized_millis = since(claim.conditions, "Initialized");
    node.terminated = is_true(claim.conditions, "InstanceTerminating");
    object.object("status", [&](const Object& status) {
      node.last_pod_event_millis = status.time_millis("lastPodEventTime");
    });
  }

  void read_state(const Object& state, disruption::Node& node, scheduling::Node& seen) {
    read_node_state(state, volumes_.drivers(), seen);
    node.managed &= state.boolean("managed", true);
    node.initialized = seen.initialized;
    node.leaving |= state.boolean("markedForDeletion");
    node.queued = state.boolean("beingDisrupted");
    node.nominated = state.boolean("nominated");
    node.buffer_pods = state.integer("bufferPods");
    node.labels = seen.labels;
    node.capacity = read_room(state, "capacity");
    for (const auto& [driver, claim] : seen.volumes) volumes_.note_mounted(claim);
  }

  void read_budgets() {
    each(document_, "podDisruptionBudgets", context_, [&](const simdjson::dom::element& one) {
      auto reduced = objects::reduce_named("PodDisruptionBudget", one, false);
      if (!reduced) return context_.fail(reduced.error().message);
      auto& budget = std::get<model::DisruptionBudget>(reduced->object);
      world().pod_budgets.push_back(std::move(budget));
    });
  }

  std::size_t shape_index(model::PodShape shape, const model::ShapeHash& hash) {
    const auto [at, is_new] = shapes_.try_emplace(hash, world().shapes.size());
    if (is_new) world().shapes.push_back(std::move(shape));
    return at->second;
  }

  void read_pod(const simdjson::dom::element& element) {
    const Object object = Object::from(context_, element);
    object.object("spec", check_pod_spec);
    objects::ReducedPod reduced = objects::read_pod(object);
    disruption::Pod pod;
    pod.namespace_name = reduced.pod.namespace_name;
    pod.name = reduced.pod.name;
    pod.labels = reduced.pod.labels;
    pod.terminal = reduced.pod.terminal();
    pod.mirror = reduced.mirror;
    pod.creation_millis = reduced.pod.creation_millis;
    pod.deletion_millis = reduced.pod.deletion_millis;
    pod.start_millis = reduced.pod.start_millis;
    object.object("status", [&](const Object& status) {
      status.objects("conditions", [&](const Object& condition) {
        if (condition.view("type") == "Ready") pod.unready = condition.view("status") == "False";
      });
    });
    pod.volumes = volumes_.of(object);
    if (pod.volumes.size() < reduced.shape.volume_claims.size())
      pod.volume_error = "its volumes cannot be reached";
    pod.provisionable = reduced.pod.unschedulable && reduced.pod.node.empty() &&
                        reduced.pod.nominated_node.empty() && !reduced.mirror &&
                        reduced.shape.owner_kind != model::OwnerKind::kDaemonSet;
    pod.shape = shape_index(std::move(reduced.shape), reduced.pod.shape);
    const auto node = node_index_.find(reduced.pod.node.str());
    if (node == node_index_.end() && !reduced.pod.node.empty()) return;  // of no node that we see
    if (node != node_index_.end()) {
      pod.node = node->second;
      world().nodes[pod.node].pods.push_back(world().pods.size());
    }
    world().pods.push_back(std::move(pod));
  }

  // A DaemonSet, or the pod that it makes.
  void read_daemon(const simdjson::dom::element& element) {
    scheduling::Daemon daemon;
    Object::from(context_, element).object("spec", [&](const Object& spec) {
      model::Labels labels;
      if (spec.has("template"))
        objects::read_pod_template(spec, "default", "daemon", labels, daemon.shape);
      else
        objects::read_pod_spec(spec, "default", "daemon", daemon.shape);
    });
    world().base.daemons.push_back(std::move(daemon));
  }

  void read_ask(const Object& root) {
    if (objects::read_word(root, "disruptionClass", {"graceful", "eventual"}) == "eventual")
      question_.disruption = disruption::DisruptionClass::kEventual;
    std::vector<std::string> names = root.texts("methodOrder");
    if (const std::string only = root.text("onlyMethod"); !only.empty()) {
      names = {only};
      question_.candidates.emplace();
      for (const std::string& name : root.texts("candidates")) add_candidate(name);
      root.object("allowedDisruptions", [&](const Object& allowed) {
        for (const disruption::Pool& pool : world().pools)
          question_.allowed[pool.pool.pool.name.str()] = allowed.integer(pool.pool.pool.name.str());
      });
    }
    if (question_.kind == QuestionKind::kCandidate && world().nodes.empty()) {
      const Context::Scope scope(context_, {"nodes", 0});
      context_.fail("none: the question is about the first of them");
    }
    const Context::Scope scope(context_, {question_.candidates ? "onlyMethod" : "methodOrder", 0});
    for (const std::string& name : names) {
      const auto* const method =
          std::find_if(std::begin(disruption::kMethods), std::end(disruption::kMethods),
                       [&](auto one) { return disruption::method_name(one) == name; });
      if (method == std::end(disruption::kMethods))
        context_.fail("\"" + name + "\" is no method: expected " + kMethodNames);
      else
        question_.methods.push_back(*method);
    }
    if (question_.kind == QuestionKind::kDisruption && names.empty())
      context_.fail(std::string("is missing: expected a list of ") + kMethodNames);
  }

  void add_candidate(const std::string& name) {
    const Context::Scope scope(context_, {"candidates", 0});
    for (std::size_t i = 0; i < world().nodes.size(); ++i) {
      if (world().nodes[i].name != name) continue;
      if (disruption::pool_of(world(), world().nodes[i]) == nullptr)
        return context_.fail("the pool of \"" + name + "\" is not known");
      return question_.candidates->push_back(i);
    }
    context_.fail("there is no node \"" + name + "\"");
  }

  simdjson::dom::element document_;
  Context context_;
  Question question_;
  VolumeReader volumes_;
  std::map<std::string, std::size_t> node_index_;  // by name of the Node object
  std::map<model::ShapeHash, std::size_t> shapes_;
};

}  // namespace

std::optional<QuestionKind> question_kind(simdjson::dom::element document) {
  std::string_view kind;
  if (document.at_key("kind").get(kind) != simdjson::SUCCESS) return std::nullopt;
  if (kind == "disruption") return QuestionKind::kDisruption;
  if (kind == "candidate") return QuestionKind::kCandidate;
  return std::nullopt;
}

base::Result<Question> read_question(QuestionKind kind, simdjson::dom::element document) {
  return WorldReader(kind, document).read();
}

}  // namespace karst::tools
