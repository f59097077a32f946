#include "tools/solve_checks.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/nearest.h"
#include "objects/schema.h"
#include "objects/words.h"

namespace karst::tools {
namespace {

using objects::Context;
using objects::Object;
using objects::read_word;
using simdjson::dom::element;

constexpr std::int64_t kFormatVersion = 1;

const std::vector<std::string_view> kCaseKeys = {"absentNodes",
                                                 "allowedDisruptions",
                                                 "candidates",
                                                 "daemonSets",
                                                 "deletingNodes",
                                                 "disruptionClass",
                                                 "entry",
                                                 "expected",
                                                 "formatVersion",
                                                 "group",
                                                 "instanceTypes",
                                                 "kind",
                                                 "methodOrder",
                                                 "name",
                                                 "namespaces",
                                                 "nodePools",
                                                 "nodes",
                                                 "now",
                                                 "onlyMethod",
                                                 "options",
                                                 "podDisruptionBudgets",
                                                 "pods",
                                                 "source",
                                                 "volumes"};
const std::vector<std::string_view> kPodsKeys = {"bound", "ignored", "pending"};
const std::vector<std::string_view> kOptionKeys = {
    "enforceConsolidateAfter", "featureGates",         "labelAliases",
    "maxInstanceTypes",        "minValuesPolicy",      "preferencePolicy",
    "reservationIDLabel",      "reservedOfferingMode", "wellKnownLabels"};
const std::vector<std::string_view> kNodeKeys = {"name", "node", "nodeClaim", "pods", "state"};
const std::vector<std::string_view> kStateKeys = {"allocatable",    "available",
                                                  "beingDisrupted", "bufferPods",
                                                  "capacity",       "daemonSetRequests",
                                                  "hostName",       "hostPorts",
                                                  "initialized",    "labels",
                                                  "managed",        "markedForDeletion",
                                                  "nominated",      "registered",
                                                  "taints",         "underConsolidateAfter",
                                                  "volumeLimits",   "volumes"};
const std::vector<std::string_view> kTypeKeys = {"allocatable", "capacity", "name",
                                                 "offerings",   "overhead", "requirements"};
const std::vector<std::string_view> kOfferingKeys = {
    "allocatable", "available",    "capacityOverride",   "overheadOverride",
    "price",       "requirements", "reservationCapacity"};

// Keys that come twice, in any object: a reader would take one of the two.
class Twins {
 public:
  explicit Twins(Context& context) : context_(context) {}
  // As deep as the parser lets a document be (objects::kDepthMax).
  void walk(const element& value) {
    simdjson::dom::object object;
    simdjson::dom::array array;
    if (value.get(object) == simdjson::SUCCESS) {
      walk_object(object);
    } else if (value.get(array) == simdjson::SUCCESS) {
      std::size_t index = 0;
      for (const element one : array) step("[" + std::to_string(index++) + "]", one);
    }
  }

 private:
  void walk_object(const simdjson::dom::object& object) {
    std::vector<std::string_view> keys;
    for (const auto& [key, value] : object) keys.push_back(key);
    std::sort(keys.begin(), keys.end());
    if (const auto twin = std::adjacent_find(keys.begin(), keys.end()); twin != keys.end()) {
      const std::string path = path_ + (path_.empty() ? "" : ".") + std::string(*twin);
      const Context::Scope scope(context_, {path, 0});
      context_.fail("comes twice; remove one");
    }
    for (const auto& [key, value] : object)
      step((path_.empty() ? "" : ".") + std::string(key), value);
  }
  void step(const std::string& name, const element& value) {
    if (!value.is_object() && !value.is_array()) return;
    const std::size_t length = path_.size();
    path_ += name;
    walk(value);
    path_.resize(length);
  }

  Context& context_;
  std::string path_;
};

// A key that is nearly a known one was meant to be that one. Others are the recorder's.
void check_keys(const element& value, const std::vector<std::string_view>& known,
                Context& context) {
  simdjson::dom::object object;
  if (value.get(object) != simdjson::SUCCESS) return;
  for (const auto& [key, unused] : object) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    const std::string_view near = base::nearest(key, known);
    if (near.empty()) continue;
    const Context::Scope scope(context, {key, 0});
    context.fail("unknown field; did you mean " + std::string(near) + "?");
  }
}

// Misspelt fields of Kubernetes' objects, as deep as the schema knows them.
class CheckedNames {
 public:
  explicit CheckedNames(Context& context) : context_(context) {}

  // Each element of a list at the end of a path; `field`: not the element, but this field of it.
  void walk_each(const element& document, std::initializer_list<std::string_view> path,
                 std::string_view type, std::string_view field = {}) {
    each(document, path, [&](const element& one) {
      const objects::Type& known = objects::Schema::instance().type(type);
      if (field.empty()) return walk(known, one);
      inside(one, field, [&](const element& inner) { walk(known, inner); });
    });
  }

  // What is no object of Kubernetes.
  void walk_own(const element& document) {
    each(document, {"nodes"}, [&](const element& node) {
      check(node, kNodeKeys);
      inside(node, "state", [&](const element& state) { check(state, kStateKeys); });
    });
    simdjson::dom::object pools;
    if (document.at_key("instanceTypes").get(pools) != simdjson::SUCCESS) return;
    for (const auto& [pool, types] : pools)
      each(document, {"instanceTypes", pool}, [&](const element& type) {
        check(type, kTypeKeys);
        each(type, {"offerings"}, [&](const element& one) { check(one, kOfferingKeys); });
      });
  }

 private:
  void walk(const objects::Type& type, const element& value) {
    simdjson::dom::object object;
    if (value.get(object) != simdjson::SUCCESS) return;
    for (const auto& [key, inner] : object) {
      const auto known = type.fields.find(key);
      if (known == type.fields.end())
        refuse(type, key);
      else if (known->second.type != nullptr)
        step("." + std::string(key),
             [&] { walk(*known->second.type, known->second.containers, inner); });
    }
  }
  void walk(const objects::Type& type, std::string_view containers, const element& value) {
    simdjson::dom::object object;
    simdjson::dom::array array;
    if (containers.empty()) {
      walk(type, value);
    } else if (containers.starts_with("[]") && value.get(array) == simdjson::SUCCESS) {
      std::size_t index = 0;
      for (const element one : array)
        step("[" + std::to_string(index++) + "]", [&] { walk(type, containers.substr(2), one); });
    } else if (containers.starts_with("{}") && value.get(object) == simdjson::SUCCESS) {
      for (const auto& [key, one] : object)
        step("[" + std::string(key) + "]", [&] { walk(type, containers.substr(2), one); });
    }
  }
  // f(element) for each of the list at the end of the path.
  template <class F>
  void each(const element& from, std::initializer_list<std::string_view> path, const F& f) {
    element at = from;
    const std::size_t length = path_.size();
    for (const std::string_view key : path) {
      element next;
      if (at.at_key(key).get(next) != simdjson::SUCCESS) return path_.resize(length);
      at = next;
      path_ += (path_.empty() ? "" : ".") + std::string(key);
    }
    simdjson::dom::array array;
    if (at.get(array) == simdjson::SUCCESS) {
      std::size_t index = 0;
      for (const element one : array) step("[" + std::to_string(index++) + "]", [&] { f(one); });
    }
    path_.resize(length);
  }
  template <class F>
  void inside(const element& from, std::string_view field, const F& f) {
    element inner;
    if (from.at_key(field).get(inner) == simdjson::SUCCESS)
      step("." + std::string(field), [&] { f(inner); });
  }
  void check(const element& value, const std::vector<std::string_view>& known) {
    simdjson::dom::object object;
    if (value.get(object) != simdjson::SUCCESS) return;
    for (const auto& [key, unused] : object)
      if (std::find(known.begin(), known.end(), key) == known.end()) refuse(known, key);
  }
  void refuse(const objects::Type& type, std::string_view key) {
    std::vector<std::string_view> names;
    for (const auto& [name, field] : type.fields) names.push_back(name);
    refuse(names, key);
  }
  void refuse(const std::vector<std::string_view>& names, std::string_view key) {
    const std::string_view near = base::nearest(key, names);
    if (near.empty()) return;  // the recorder's
    const std::string path = path_ + "." + std::string(key);
    const Context::Scope scope(context_, {path, 0});
    context_.fail("unknown field; did you mean " + std::string(near) + "?");
  }
  template <class Walk>
  void step(const std::string& name, const Walk& walk) {
    const std::size_t length = path_.size();
    path_ += name;
    walk();
    path_.resize(length);
  }

  Context& context_;
  std::string path_;
};

void check_names(const element& document, Context& context) {
  CheckedNames names(context);
  names.walk_own(document);
  for (const std::string_view pods : {"pending", "bound"})
    names.walk_each(document, {"pods", pods}, "Pod");
  names.walk_each(document, {"daemonSets"}, "Pod");
  names.walk_each(document, {"nodePools"}, "NodePool");
  names.walk_each(document, {"nodes"}, "Node", "node");
  names.walk_each(document, {"nodes"}, "NodeClaim", "nodeClaim");
  names.walk_each(document, {"absentNodes"}, "Node");
  names.walk_each(document, {"podDisruptionBudgets"}, "PodDisruptionBudget");
  names.walk_each(document, {"volumes", "persistentVolumeClaims"}, "PersistentVolumeClaim");
  names.walk_each(document, {"volumes", "persistentVolumes"}, "PersistentVolume");
  names.walk_each(document, {"volumes", "storageClasses"}, "StorageClass");
  names.walk_each(document, {"volumes", "csiNodes"}, "CSINode");
}

void check_at_least(const Object& object, std::string_view key, std::int64_t least) {
  const std::int64_t number = object.integer(key, least);
  if (number >= least) return;
  const Context::Scope scope(object.context(), {key, 0});
  object.context().fail("must be at least " + std::to_string(least) + ", found " +
                        std::to_string(number));
}

}  // namespace

void check_case(const element& document, Context& context) {
  Twins(context).walk(document);
  check_keys(document, kCaseKeys, context);
  check_names(document, context);
  const Object root = Object::from(context, document);
  if (const std::int64_t version = root.integer("formatVersion", kFormatVersion);
      version != kFormatVersion) {
    const Context::Scope scope(context, {"formatVersion", 0});
    context.fail(std::to_string(version) + " is not known: expected 1");
  }
  for (const auto& [name, known] : {std::pair("pods", &kPodsKeys), {"options", &kOptionKeys}}) {
    element part;
    if (document.at_key(name).get(part) != simdjson::SUCCESS) continue;
    const Context::Scope scope(context, {name, 0});
    check_keys(part, *known, context);
  }
  for (const std::string_view name : {"pods", "instanceTypes", "volumes"})
    root.object(name, [](const Object&) {});
  root.object("options",
              [&](const Object& options) { check_at_least(options, "maxInstanceTypes", 1); });
}

void check_pod_spec(const Object& spec) {
  spec.objects("tolerations", [](const Object& toleration) {
    read_word(toleration, "operator", {"Equal", "Exists"});
  });
  spec.objects("topologySpreadConstraints", [](const Object& spread) {
    check_at_least(spread, "maxSkew", 1);
    check_at_least(spread, "minDomains", 1);
    read_word(spread, "whenUnsatisfiable", {"DoNotSchedule", "ScheduleAnyway"});
    read_word(spread, "nodeAffinityPolicy", {"Honor", "Ignore"});
    read_word(spread, "nodeTaintsPolicy", {"Honor", "Ignore"});
  });
}

void check_pool_spec(const Object& spec) {
  spec.object("disruption", [](const Object& disruption) {
    disruption.objects("budgets", [](const Object& budget) {
      const std::vector<std::string> reasons = budget.texts("reasons");
      const Context::Scope scope(budget.context(), {"reasons", 0});
      for (std::size_t i = 0; i < reasons.size(); ++i) {
        if (reasons[i] == "Underutilized" || reasons[i] == "Empty" || reasons[i] == "Drifted")
          continue;
        const Context::Scope element_scope(budget.context(), {{}, i});
        budget.context().fail("\"" + reasons[i].substr(0, 40) +
                              "\" is not known: expected Underutilized, Empty or Drifted");
      }
    });
  });
}

}  // namespace karst::tools
