#include "tools/solve_spread.h"

#include <algorithm>

namespace karst::tools {
namespace {

// Every Service that selects the pods, and their owner, together.
model::LabelSelector selector_of(const std::vector<objects::ManifestService>& services,
                                 const objects::ManifestPods* owner, const model::Pod& pod) {
  model::LabelSelector selector;
  if (owner != nullptr && owner->selector) selector = *owner->selector;
  for (const objects::ManifestService& service : services) {
    if (service.selector.empty() || service.namespace_name != pod.namespace_name) continue;
    const bool selects =
        std::all_of(service.selector.begin(), service.selector.end(), [&](const auto& label) {
          return model::has_label(pod.labels, label.first) &&
                 model::label_value(pod.labels, label.first) == label.second;
        });
    if (!selects) continue;
    for (const auto& [key, value] : service.selector)
      selector.expressions.push_back({key, model::Operator::kIn, {value}, 0});
  }
  std::sort(selector.expressions.begin(), selector.expressions.end());
  const auto end = std::unique(selector.expressions.begin(), selector.expressions.end());
  selector.expressions.erase(end, selector.expressions.end());
  return selector;
}

}  // namespace

bool add_default_spread(const std::vector<model::SpreadConstraint>& spreads,
                        const std::vector<objects::ManifestService>& services,
                        const objects::ManifestPods* owner, objects::ManifestPods& pods) {
  model::PodShape& shape = pods.pod.shape;
  if (!shape.spread.empty()) return true;
  const model::LabelSelector selector = selector_of(services, owner, pods.pod.pod);
  if (selector.expressions.empty()) return false;
  for (const model::SpreadConstraint& given : spreads) {
    model::SpreadConstraint spread = given;
    spread.selector = selector;
    shape.spread.push_back(std::move(spread));
  }
  return true;
}

}  // namespace karst::tools
