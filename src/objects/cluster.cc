#include "objects/cluster.h"

#include <algorithm>

#include "base/time.h"
#include "base/utf8.h"
#include "model/pool_hash.h"
#include "objects/words.h"

namespace karst::objects {
namespace {

constexpr std::int64_t kExpireAfterMillis = 720 * base::kMillisPerHour;  // the CRD's default
constexpr std::int64_t kLimitMax = std::int64_t{1} << 61;                // only compared with
constexpr std::string_view kManifestAnnotation = "kubectl.kubernetes.io/last-applied-configuration";

bool is_our_annotation(std::string_view key) {
  const std::string_view domain = key.substr(0, key.find('/'));
  return domain == "karst.sh" || domain == "karpenter.sh" || domain.ends_with(".karpenter.sh");
}

std::vector<model::Taint> read_taints(const Object& parent, std::string_view key) {
  std::vector<model::Taint> taints;
  parent.objects(key, [&](const Object& object) {
    taints.push_back({object.text("key"), object.text("value"), read_effect(object)});
  });
  std::sort(taints.begin(), taints.end());
  return taints;
}

// In the manifest's order: the values of an instance type requirement are in price order.
std::vector<model::RequirementSpec> read_requirements(const Object& parent) {
  std::vector<model::RequirementSpec> specs;
  parent.objects("requirements", [&](const Object& object) {
    model::RequirementSpec spec;
    spec.key = object.text("key");
    spec.op = read_operator(object);
    spec.values = object.texts("values");
    spec.min_values = object.integer32("minValues");
    specs.push_back(std::move(spec));
  });
  return specs;
}

model::NodeClassRef read_class_ref(const Object& parent) {
  model::NodeClassRef ref;
  parent.object("nodeClassRef", [&](const Object& object) {
    ref = {object.text("group"), object.text("kind"), object.text("name")};
  });
  return ref;
}

// none for "Never", `fallback` when absent.
std::optional<std::int64_t> read_duration(const Object& parent, std::string_view key,
                                          std::optional<std::int64_t> fallback) {
  const std::string_view text = parent.view(key);
  if (text.empty()) return fallback;
  if (text == "Never") return std::nullopt;
  const auto millis = base::parse_go_duration_millis(text);
  if (!millis) {
    Context::Scope scope(parent.context(), {key, 0});
    parent.context().fail("expected a duration such as 30m or Never, found \"" +
                          std::string(base::cut_utf8(text, 40)) + "\"");
  }
  return millis;
}

bool has_finalizer(const Object& metadata, std::string_view which = model::kTerminationFinalizer) {
  const auto finalizers = metadata.texts("finalizers");
  return std::find(finalizers.begin(), finalizers.end(), which) != finalizers.end();
}

model::ConditionStatus condition_status(std::string_view status) {
  if (status == "True") return model::ConditionStatus::kTrue;
  return status == "False" ? model::ConditionStatus::kFalse : model::ConditionStatus::kUnknown;
}

std::vector<model::Condition> read_conditions(const Object& status) {
  std::vector<model::Condition> conditions;
  status.objects("conditions", [&](const Object& object) {
    conditions.push_back({object.text("type"), condition_status(object.view("status")),
                          object.text("reason"), object.text("message", kMessageBytesMax),
                          object.time_millis("lastTransitionTime"),
                          object.integer("observedGeneration")});
  });
  std::sort(conditions.begin(), conditions.end(),
            [](const auto& a, const auto& b) { return a.type < b.type; });
  return conditions;
}

model::Budget read_budget(const Object& object) {
  model::Budget budget;
  if (object.has("nodes")) budget.nodes = object.text("nodes");
  budget.reasons = object.texts("reasons");
  std::sort(budget.reasons.begin(), budget.reasons.end());
  budget.schedule = object.text("schedule");
  budget.duration_millis = read_duration(object, "duration", 0).value_or(0);
  return budget;
}

// Where nothing is said of budgets there is one of a tenth of the nodes, the API server's default;
// a list without any limits nothing.
void read_disruption(const Object& spec, model::NodePool& pool) {
  bool given = false;
  spec.object("disruption", [&](const Object& disruption) {
    pool.consolidate_after_millis = read_duration(disruption, "consolidateAfter", 0);
    const std::string_view policy = read_word(
        disruption, "consolidationPolicy", {"WhenEmpty", "WhenEmptyOrUnderutilized", "Balanced"});
    if (policy == "WhenEmpty")
      pool.consolidation_policy = model::ConsolidationPolicy::kWhenEmpty;
    else if (policy == "Balanced")
      pool.consolidation_policy = model::ConsolidationPolicy::kBalanced;
    given = disruption.has("budgets");
    disruption.objects("budgets",
                       [&](const Object& object) { pool.budgets.push_back(read_budget(object)); });
  });
  if (!given) pool.budgets.push_back({});
}

// `[]` and `{}` count in the drift hash, absence does not. The bit says only that the field is
// there: with content it says nothing.
void note_empty(const Object& parent, std::string_view key, std::int64_t field,
                model::NodePool& pool) {
  if (parent.has(key)) pool.empty_fields |= field;
}

void read_pool_template(const Object& spec, model::NodePool& pool) {
  spec.object("template", [&](const Object& pool_template) {
    pool_template.object("metadata", [&](const Object& metadata) {
      pool.template_labels = metadata.labels("labels");
      pool.template_annotations = metadata.labels("annotations");
      note_empty(metadata, "labels", model::kEmptyLabels, pool);
      note_empty(metadata, "annotations", model::kEmptyAnnotations, pool);
    });
    pool_template.object("spec", [&](const Object& inner) {
      pool.requirements = read_requirements(inner);
      pool.taints = read_taints(inner, "taints");
      pool.startup_taints = read_taints(inner, "startupTaints");
      note_empty(inner, "taints", model::kEmptyTaints, pool);
      note_empty(inner, "startupTaints", model::kEmptyStartupTaints, pool);
      pool.node_class = read_class_ref(inner);
      pool.expire_after_millis = read_duration(inner, "expireAfter", kExpireAfterMillis);
      pool.expire_after = inner.text("expireAfter");
      pool.termination_grace_millis = read_duration(inner, "terminationGracePeriod", std::nullopt);
    });
  });
}

void read_claim_metadata(const Object& metadata, model::NodeClaim& claim) {
  claim.name = model::ClaimName(metadata.text("name"));
  claim.uid = model::ClaimUid(metadata.text("uid"));
  claim.labels = metadata.labels("labels");
  claim.annotations = metadata.labels("annotations");
  std::erase_if(claim.annotations,
                [](const auto& entry) { return entry.first == kManifestAnnotation; });
  claim.pool = model::PoolName(model::label_value(claim.labels, model::kNodePoolLabel));
  claim.has_finalizer = has_finalizer(metadata);
  claim.creation_millis = metadata.time_millis("creationTimestamp");
  claim.deletion_millis = metadata.time_millis("deletionTimestamp");
  metadata.objects("ownerReferences", [&](const Object& owner) {
    if (owner.view("kind") == "NodePool") claim.pool_uid = owner.text("uid");
  });
}

}  // namespace

base::Result<model::Node> reduce_node(simdjson::dom::element object) {
  Context context;
  const Object root = Object::from(context, object);
  model::Node node;
  root.object("metadata", [&](const Object& metadata) {
    node.uid = model::NodeUid(metadata.text("uid"));
    node.name = model::NodeName(metadata.text("name"));
    node.labels = metadata.labels("labels");
    node.annotations = metadata.labels("annotations");
    std::erase_if(node.annotations,
                  [](const auto& entry) { return !is_our_annotation(entry.first); });
    node.has_finalizer = has_finalizer(metadata);
    node.creation_millis = metadata.time_millis("creationTimestamp");
    node.deletion_millis = metadata.time_millis("deletionTimestamp");
  });
  root.object("spec", [&](const Object& spec) {
    node.provider_id = model::ProviderId(spec.text("providerID"));
    node.taints = read_taints(spec, "taints");
    node.cordoned = spec.boolean("unschedulable");
  });
  root.object("status", [&](const Object& status) {
    node.capacity = status.resources("capacity", model::Rounding::kDown);
    node.allocatable = status.resources("allocatable", model::Rounding::kDown);
    status.objects("conditions", [&](const Object& condition) {
      const std::string_view type = condition.view("type");
      const model::ConditionStatus now = condition_status(condition.view("status"));
      const bool good = now == model::ConditionStatus::kTrue;
      if (type == "Ready") node.ready = good;
      const auto& repaired = model::kRepairConditions;
      if (!good && std::find(std::begin(repaired), std::end(repaired), type) != std::end(repaired))
        node.troubles.push_back(
            {std::string(type), now, "", "", condition.time_millis("lastTransitionTime"), 0});
    });
    std::sort(node.troubles.begin(), node.troubles.end(),
              [](const auto& a, const auto& b) { return a.type < b.type; });
  });
  if (node.uid.empty() || node.name.empty())
    context.fail("metadata.uid or metadata.name is missing");
  KARST_TRY(context.status());
  return node;
}

model::NodePool read_node_pool(const Object& root) {
  model::NodePool pool;
  pool.expire_after_millis = kExpireAfterMillis;
  pool.consolidate_after_millis = 0;
  root.object("metadata", [&](const Object& metadata) {
    pool.name = model::PoolName(metadata.text("name"));
    pool.uid = metadata.text("uid");
    pool.generation = metadata.integer("generation");
    pool.deletion_millis = metadata.time_millis("deletionTimestamp");
    pool.creation_millis = metadata.time_millis("creationTimestamp");
    metadata.object("annotations", [&](const Object& annotations) {
      pool.hash = annotations.text(model::kPoolHashAnnotation);
      pool.hash_version = annotations.text(model::kPoolHashVersionAnnotation);
    });
  });
  root.object("status", [&](const Object& status) {
    pool.conditions = read_conditions(status);
    pool.status_resources = status.resources("resources", model::Rounding::kDown, kLimitMax);
    pool.status_nodes = status.integer("nodes");
    pool.node_class_observed_generation = status.integer("nodeClassObservedGeneration");
  });
  root.object("spec", [&](const Object& spec) {
    read_pool_template(spec, pool);
    read_disruption(spec, pool);
    const model::Resources limits = spec.resources("limits", model::Rounding::kDown, kLimitMax);
    for (const auto& [name, unused] : spec.quantities("limits"))
      pool.limits.emplace_back(name, limits.amount(name));
    std::sort(pool.limits.begin(), pool.limits.end());
    pool.weight = spec.integer32("weight");
    if (spec.has("replicas")) pool.replicas = spec.integer("replicas");
  });
  return pool;
}

base::Result<model::NodePool> reduce_node_pool(simdjson::dom::element object) {
  Context context;
  model::NodePool pool = read_node_pool(Object::from(context, object));
  if (pool.uid.empty() || pool.name.empty())
    context.fail("metadata.uid or metadata.name is missing");
  KARST_TRY(context.status());
  return pool;
}

model::NodeClaim read_node_claim(const Object& root) {
  model::NodeClaim claim;
  root.object("metadata", [&](const Object& metadata) { read_claim_metadata(metadata, claim); });
  root.object("spec", [&](const Object& spec) {
    claim.requirements = read_requirements(spec);
    spec.object("resources", [&](const Object& resources) {
      claim.requests = resources.resources("requests", model::Rounding::kUp);
    });
    claim.taints = read_taints(spec, "taints");
    claim.startup_taints = read_taints(spec, "startupTaints");
    claim.node_class = read_class_ref(spec);
    claim.expire_after_millis = read_duration(spec, "expireAfter", kExpireAfterMillis);
    claim.termination_grace_millis = read_duration(spec, "terminationGracePeriod", std::nullopt);
  });
  root.object("status", [&](const Object& status) {
    claim.provider_id = model::ProviderId(status.text("providerID"));
    claim.node_name = model::NodeName(status.text("nodeName"));
    claim.capacity = status.resources("capacity", model::Rounding::kDown);
    claim.allocatable = status.resources("allocatable", model::Rounding::kDown);
    claim.conditions = read_conditions(status);
  });
  return claim;
}

base::Result<model::NodeClaim> reduce_node_claim(simdjson::dom::element object) {
  Context context;
  model::NodeClaim claim = read_node_claim(Object::from(context, object));
  if (claim.uid.empty() || claim.name.empty())
    context.fail("metadata.uid or metadata.name is missing");
  KARST_TRY(context.status());
  return claim;
}

base::Result<model::NodeClass> reduce_node_class(simdjson::dom::element object,
                                                 std::string_view group, std::string_view kind) {
  Context context;
  const Object root = Object::from(context, object);
  model::NodeClass node_class;
  node_class.ref = {std::string(group), std::string(kind), {}};
  node_class.spec_json = "{}";
  root.object("metadata", [&](const Object& metadata) {
    node_class.ref.name = metadata.text("name");
    node_class.uid = metadata.text("uid");
    node_class.generation = metadata.integer("generation");
    node_class.deletion_millis = metadata.time_millis("deletionTimestamp");
    node_class.has_finalizer = has_finalizer(metadata, model::class_finalizer(group));
    metadata.object("annotations", [&](const Object& annotations) {
      node_class.hash = annotations.text(model::class_hash_key(group, kind));
      node_class.hash_version = annotations.text(model::class_hash_version_key(group, kind));
    });
  });
  simdjson::dom::element spec;
  if (!object["spec"].get(spec)) node_class.spec_json = canonical_json(spec);
  root.object("status", [&](const Object& status) {
    for (model::Condition& condition : read_conditions(status)) {
      if (condition.type != "Ready") continue;
      node_class.ready = condition.status == model::ConditionStatus::kTrue;
      node_class.ready_condition = std::move(condition);
    }
  });
  if (node_class.uid.empty() || node_class.ref.name.empty())
    context.fail("metadata.uid or metadata.name is missing");
  KARST_TRY(context.status());
  return node_class;
}

}  // namespace karst::objects
