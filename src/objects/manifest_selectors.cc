#include "objects/manifest_selectors.h"

namespace karst::objects {

ManifestService service_of(const TreeValue& object) {
  const TreeValue* metadata = object.find("metadata");
  ManifestService service;
  if (metadata != nullptr) service.namespace_name = metadata->text_of("namespace");
  if (service.namespace_name.empty()) service.namespace_name = "default";
  if (const TreeValue* selector = object.at({"spec", "selector"}))
    for (const TreeField& field : selector->fields)
      model::set_label(service.selector, field.key, field.value.text);
  return service;
}

std::optional<model::LabelSelector> selector_of(const TreeValue& workload,
                                                const std::string& kind) {
  if (kind != "Deployment" && kind != "ReplicaSet" && kind != "StatefulSet" &&
      kind != "ReplicationController")
    return std::nullopt;
  const bool plain = kind == "ReplicationController";
  const TreeValue* given = workload.at({"spec", "selector"});
  if (plain && given == nullptr) given = workload.at({"spec", "template", "metadata", "labels"});
  if (given == nullptr) return std::nullopt;
  model::LabelSelector selector;
  if (const TreeValue* labels = plain ? given : given->find("matchLabels"))
    for (const TreeField& field : labels->fields)
      selector.expressions.push_back({field.key, model::Operator::kIn, {field.value.text}, 0});
  const TreeValue* expressions = plain ? nullptr : given->find("matchExpressions");
  for (std::size_t i = 0; expressions != nullptr && i < expressions->items.size(); ++i) {
    const TreeValue& one = expressions->items[i];
    const auto op = model::parse_operator(one.text_of("operator"));
    model::RequirementSpec spec{
        std::string(one.text_of("key")), op.value_or(model::Operator::kExists), {}, 0};
    if (const TreeValue* values = one.find("values"))
      for (const TreeValue& value : values->items) spec.values.push_back(value.text);
    selector.expressions.push_back(std::move(spec));
  }
  return selector;
}

}  // namespace karst::objects
