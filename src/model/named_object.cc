#include "model/named_object.h"

namespace karst::model {
namespace {

struct KeyOf {
  template <class Object>
  ObjectKey operator()(const Object& object) const {
    if constexpr (requires { object.namespace_name; })
      return {std::string(Object::kKind), object.namespace_name, object.name};
    else
      return {std::string(Object::kKind), {}, object.name};
  }
  ObjectKey operator()(const Workload& workload) const {
    return {workload.kind, workload.namespace_name, workload.name};
  }
};

}  // namespace

ObjectKey key_of(const NamedObject& object) {
  return std::visit(KeyOf{}, object);
}

std::string place_of(const ObjectKey& key) {
  return key.namespace_name.empty() ? key.name : key.namespace_name + "/" + key.name;
}

std::optional<ShapeHash> shape_of(const NamedObject& object) {
  if (const auto* pods = std::get_if<PodTemplate>(&object)) return pods->shape;
  const auto* workload = std::get_if<Workload>(&object);
  if (workload == nullptr || workload->shape == ShapeHash{}) return std::nullopt;
  return workload->shape;
}

}  // namespace karst::model
