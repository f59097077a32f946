#include "objects/capacity_buffer.h"

#include <algorithm>

namespace karst::objects {

base::Result<model::CapacityBuffer> reduce_capacity_buffer(simdjson::dom::element object) {
  Context context;
  const Object root = Object::from(context, object);
  model::CapacityBuffer buffer;
  root.object("metadata", [&](const Object& metadata) {
    buffer.namespace_name = metadata.text("namespace");
    buffer.name = metadata.text("name");
    buffer.uid = metadata.text("uid");
    buffer.generation = metadata.integer("generation");
  });
  root.object("spec", [&](const Object& spec) {
    buffer.strategy = spec.text("provisioningStrategy");
    spec.object("podTemplateRef",
                [&](const Object& ref) { buffer.template_name = ref.text("name"); });
    spec.object("scalableRef", [&](const Object& ref) {
      buffer.scalable_kind = ref.text("kind");
      buffer.scalable_name = ref.text("name");
    });
    if (spec.has("replicas")) buffer.replicas = spec.integer("replicas");
    if (spec.has("percentage")) buffer.percentage = spec.integer("percentage");
    const model::Resources limits = spec.resources("limits", model::Rounding::kDown);
    for (const auto& [name, unused] : spec.quantities("limits"))
      buffer.limits.emplace_back(name, limits.amount(name));
    std::sort(buffer.limits.begin(), buffer.limits.end());
  });
  KARST_TRY(context.status());
  return buffer;
}

}  // namespace karst::objects
