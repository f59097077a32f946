#include "objects/named.h"

#include "objects/capacity_buffer.h"
#include "objects/pod.h"
#include "objects/pod_spec.h"
#include "objects/volumes.h"

namespace karst::objects {
namespace {

using simdjson::dom::element;

base::Result<model::Namespace> reduce_namespace(element object) {
  Context context;
  const Object root = Object::from(context, object);
  model::Namespace space;
  root.object("metadata", [&](const Object& metadata) {
    space.name = metadata.text("name");
    space.labels = metadata.labels("labels");
  });
  KARST_TRY(context.status());
  return space;
}

// A number or a percentage, as text; empty when absent.
std::string int_or_text(element object, std::string_view pointer) {
  element value;
  if (object.at_pointer(pointer).get(value)) return {};
  std::string_view text;
  if (!value.get_string().get(text)) return std::string(text);
  std::int64_t number = 0;
  return value.get_int64().get(number) ? std::string() : std::to_string(number);
}

base::Result<model::DisruptionBudget> reduce_budget(element object) {
  Context context;
  const Object root = Object::from(context, object);
  model::DisruptionBudget budget;
  root.object("metadata", [&](const Object& metadata) {
    budget.namespace_name = metadata.text("namespace");
    budget.name = metadata.text("name");
    budget.uid = metadata.text("uid");
  });
  budget.selector.matches_nothing = true;
  root.object("spec", [&](const Object& spec) {
    budget.selector = read_selector(spec, "selector");
    budget.spares_unready = spec.view("unhealthyPodEvictionPolicy") == "AlwaysAllow";
  });
  const std::string most = int_or_text(object, "/spec/maxUnavailable");
  budget.fully_blocking =
      most == "0" || most == "0%" || int_or_text(object, "/spec/minAvailable") == "100%";
  root.object("status", [&](const Object& status) {
    budget.disruptions_allowed = status.integer("disruptionsAllowed");
  });
  KARST_TRY(context.status());
  return budget;
}

base::Result<ReducedObject> reduce_pod_template(element object) {
  Context context;
  const Object root = Object::from(context, object);
  model::PodTemplate pods;
  model::PodShape shape;
  root.object("metadata", [&](const Object& metadata) {
    pods.namespace_name = metadata.text("namespace");
    pods.name = metadata.text("name");
  });
  read_pod_template(root, pods.namespace_name, pods.name, pods.labels, shape);
  KARST_TRY(context.status());
  pods.shape = model::hash_of(shape);
  return ReducedObject{std::move(pods), std::move(shape)};
}

base::Result<ReducedObject> reduce_workload(std::string_view kind, element object,
                                            bool with_shapes) {
  Context context;
  const Object root = Object::from(context, object);
  model::Workload workload;
  workload.kind = kind;
  root.object("metadata", [&](const Object& metadata) {
    workload.namespace_name = metadata.text("namespace");
    workload.name = metadata.text("name");
    workload.uid = metadata.text("uid");
    metadata.objects("ownerReferences", [&](const Object& owner) {
      if (!owner.boolean("controller")) return;
      workload.owner_kind = owner.text("kind");
      workload.owner_name = owner.text("name");
    });
  });
  ReducedObject reduced;
  root.object("spec", [&](const Object& spec) {
    workload.replicas = spec.integer("replicas", 1);
    if (!with_shapes) return;
    model::PodShape& shape = reduced.shape.emplace();
    read_pod_template(spec, workload.namespace_name, workload.name, workload.labels, shape);
    shape.owner_kind =
        kind == "StatefulSet" ? model::OwnerKind::kStatefulSet : model::OwnerKind::kReplicaSet;
    workload.shape = model::hash_of(shape);
  });
  KARST_TRY(context.status());
  reduced.object = std::move(workload);
  return reduced;
}

template <class T>
base::Result<ReducedObject> without_shape(base::Result<T> reduced) {
  if (!reduced) return base::fail(std::move(reduced.error()));
  return ReducedObject{std::move(*reduced), {}};
}

base::Result<ReducedObject> reduce(std::string_view kind, element object, bool with_shapes) {
  if (kind == "PersistentVolumeClaim") return without_shape(reduce_volume_claim(object));
  if (kind == "PersistentVolume") return without_shape(reduce_volume(object));
  if (kind == "StorageClass") return without_shape(reduce_storage_class(object));
  if (kind == "CSINode") return without_shape(reduce_csi_node(object));
  if (kind == "VolumeAttachment") return without_shape(reduce_volume_attachment(object));
  if (kind == "Namespace") return without_shape(reduce_namespace(object));
  if (kind == "PodDisruptionBudget") return without_shape(reduce_budget(object));
  if (kind == "NodeOverlay") return without_shape(reduce_overlay(object));
  if (kind == "CapacityBuffer") return without_shape(reduce_capacity_buffer(object));
  if (kind == "PodTemplate") return reduce_pod_template(object);
  return reduce_workload(kind, object, with_shapes);
}

}  // namespace

base::Result<ReducedObject> reduce_named(std::string_view kind, element object, bool with_shapes) {
  auto reduced = reduce(kind, object, with_shapes);
  if (reduced && model::key_of(reduced->object).name.empty())
    return base::fail(base::Kind::kInvalid, "metadata.name is missing");
  return reduced;
}

}  // namespace karst::objects
