#include "sim/kube_scheduler.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

namespace karst::sim {

namespace {

bool compares(model::Operator op, const std::string& label, const std::string& bound) {
  char* end = nullptr;
  const long long value = std::strtoll(label.c_str(), &end, 10);
  if (end == label.c_str() || *end != '\0') return false;
  const long long limit = std::strtoll(bound.c_str(), nullptr, 10);
  switch (op) {
    case model::Operator::kGt:
      return value > limit;
    case model::Operator::kLt:
      return value < limit;
    case model::Operator::kGte:
      return value >= limit;
    case model::Operator::kLte:
      return value <= limit;
    default:
      return false;
  }
}

bool takes(const NodeEntry& entry, const PodEntry& pod) {
  const model::Node& node = entry.node;
  if (!node.ready) return false;
  std::vector<model::Taint> cordon;
  if (node.cordoned) model::add_cordon(cordon);
  if (model::first_untolerated(node.taints, pod.shape->tolerations) != nullptr ||
      model::first_untolerated(cordon, pod.shape->tolerations) != nullptr)
    return false;
  if (!selects(*pod.shape, node.labels)) return false;
  return model::fits(entry.used + pod.shape->requests, node.allocatable);
}

}  // namespace

bool matches(const model::RequirementSpec& expression, const model::Labels& labels) {
  const auto label = model::find_label(labels, expression.key);
  const bool present = label != labels.end();
  const auto listed = [&] {
    return std::find(expression.values.begin(), expression.values.end(), label->second) !=
           expression.values.end();
  };
  switch (expression.op) {
    case model::Operator::kIn:
      return present && listed();
    case model::Operator::kNotIn:
      return !present || !listed();
    case model::Operator::kExists:
      return present;
    case model::Operator::kDoesNotExist:
      return !present;
    default:
      return present && !expression.values.empty() &&
             compares(expression.op, label->second, expression.values[0]);
  }
}

bool selects(const model::PodShape& shape, const model::Labels& labels) {
  for (const auto& [key, value] : shape.node_selector)
    if (!model::has_label(labels, key) || model::label_value(labels, key) != value) return false;
  if (shape.required_terms.empty()) return true;
  return std::any_of(shape.required_terms.begin(), shape.required_terms.end(),
                     [&](const model::NodeSelectorTerm& term) {
                       return std::all_of(term.expressions.begin(), term.expressions.end(),
                                          [&](const model::RequirementSpec& expression) {
                                            return matches(expression, labels);
                                          });
                     });
}

void KubeScheduler::pod_changed(const PodEntry& entry) {
  if (entry.pod.node.empty() ? !entry.pod.unschedulable : entry.pod.terminal()) kick();
}

void KubeScheduler::pod_removed(const PodEntry& entry) {
  if (!entry.pod.node.empty()) kick();
}

void KubeScheduler::kick() {
  if (planned_ || api_.unbound().empty()) return;
  planned_ = true;
  core_.after(core_.delay(100, 500), [this] {
    planned_ = false;
    pass();
  });
}

void KubeScheduler::pass() {
  const std::vector<std::string> waiting(api_.unbound().begin(), api_.unbound().end());
  std::set<const model::PodShape*> hopeless;
  for (const std::string& uid : waiting) {
    const PodEntry* entry = api_.pod(uid);
    if (entry == nullptr || entry->shape->gated) continue;
    const NodeEntry* node = hopeless.contains(entry->shape) ? nullptr : place(*entry);
    if (node == nullptr) {
      hopeless.insert(entry->shape);
      if (!entry->pod.unschedulable)
        api_.update_pod(uid, [](model::Pod& pod) { pod.unschedulable = true; });
      continue;
    }
    const model::NodeName name = node->node.name;
    api_.update_pod(uid, [&](model::Pod& pod) {
      pod.node = name;
      pod.unschedulable = false;
    });
  }
}

const NodeEntry* KubeScheduler::place(const PodEntry& entry) const {
  for (const auto& [name, node] : api_.nodes())
    if (takes(node, entry)) return &node;
  return nullptr;
}

}  // namespace karst::sim
