#include "tools/solve_checks.h"

#include <algorithm>
#include <string>
#include <vector>

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
    const std::string_view near = objects::nearest(key, known);
    if (near.empty()) continue;
    const Context::Scope scope(context, {key, 0});
    context.fail("unknown field; did you mean " + std::string(near) + "?");
  }
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
