#include "objects/volumes.h"

#include <algorithm>

#include "base/time.h"

namespace karst::objects {
namespace {

constexpr std::string_view kDefaultClass = "storageclass.kubernetes.io/is-default-class";
constexpr std::string_view kDefaultClassBeta = "storageclass.beta.kubernetes.io/is-default-class";
constexpr std::int64_t kNanosWholeMax = 1'000'000'000;  // dollars, or per cent

std::vector<model::RequirementSpec> read_ordered_expressions(const Object& parent,
                                                             std::string_view key) {
  std::vector<model::RequirementSpec> specs;
  parent.objects(key, [&](const Object& expression) {
    model::RequirementSpec spec;
    spec.key = expression.text("key");
    spec.op = model::parse_operator(expression.view("operator")).value_or(model::Operator::kIn);
    spec.values = expression.texts("values");
    std::sort(spec.values.begin(), spec.values.end());
    specs.push_back(std::move(spec));
  });
  return specs;
}

bool is_deleting(const Object& metadata) {
  return metadata.time_millis("deletionTimestamp") != 0;
}

// In-tree volumes of clouds whose driver took over, by their CSI name.
std::string driver_of(const Object& spec) {
  std::string driver;
  spec.object("csi", [&](const Object& csi) { driver = csi.text("driver"); });
  if (spec.has("awsElasticBlockStore")) driver = "ebs.csi.aws.com";
  return driver;
}

}  // namespace

base::Result<model::VolumeClaim> reduce_volume_claim(simdjson::dom::element object) {
  Context context;
  const Object root = Object::from(context, object);
  model::VolumeClaim claim;
  root.object("metadata", [&](const Object& metadata) {
    claim.namespace_name = metadata.text("namespace");
    claim.name = metadata.text("name");
    claim.deleting = is_deleting(metadata);
  });
  root.object("spec", [&](const Object& spec) {
    if (spec.has("storageClassName")) claim.storage_class = spec.text("storageClassName");
    claim.volume = spec.text("volumeName");
    const std::vector<std::string> modes = spec.texts("accessModes");
    claim.once_per_pod = std::find(modes.begin(), modes.end(), "ReadWriteOncePod") != modes.end();
  });
  root.object("status", [&](const Object& status) { claim.lost = status.view("phase") == "Lost"; });
  KARST_TRY(context.status());
  return claim;
}

base::Result<model::PersistentVolume> reduce_volume(simdjson::dom::element object) {
  Context context;
  const Object root = Object::from(context, object);
  model::PersistentVolume volume;
  root.object("metadata", [&](const Object& metadata) {
    volume.name = metadata.text("name");
    volume.deleting = is_deleting(metadata);
  });
  root.object("spec", [&](const Object& spec) {
    volume.driver = driver_of(spec);
    volume.storage_class = spec.text("storageClassName");
    volume.on_node = spec.has("local") || spec.has("hostPath");
    spec.object("nodeAffinity", [&](const Object& affinity) {
      affinity.object("required", [&](const Object& required) {
        required.objects("nodeSelectorTerms", [&](const Object& term) {
          volume.topology.push_back(read_ordered_expressions(term, "matchExpressions"));
        });
      });
    });
  });
  KARST_TRY(context.status());
  return volume;
}

base::Result<model::StorageClass> reduce_storage_class(simdjson::dom::element object) {
  Context context;
  const Object root = Object::from(context, object);
  model::StorageClass storage;
  root.object("metadata", [&](const Object& metadata) {
    storage.name = metadata.text("name");
    const model::Labels annotations = metadata.labels("annotations");
    storage.is_default = model::label_value(annotations, kDefaultClass) == "true" ||
                         model::label_value(annotations, kDefaultClassBeta) == "true";
  });
  storage.provisioner = root.text("provisioner");
  storage.immediate = root.view("volumeBindingMode") != "WaitForFirstConsumer";
  root.objects("allowedTopologies", [&](const Object& term) {
    storage.topology.push_back(read_ordered_expressions(term, "matchLabelExpressions"));
  });
  KARST_TRY(context.status());
  return storage;
}

base::Result<model::CsiNode> reduce_csi_node(simdjson::dom::element object) {
  Context context;
  const Object root = Object::from(context, object);
  model::CsiNode node;
  root.object("metadata", [&](const Object& metadata) { node.name = metadata.text("name"); });
  root.object("spec", [&](const Object& spec) {
    spec.objects("drivers", [&](const Object& driver) {
      driver.object("allocatable", [&](const Object& allocatable) {
        if (allocatable.has("count"))
          node.limits.emplace_back(driver.text("name"), allocatable.integer("count"));
      });
    });
  });
  std::sort(node.limits.begin(), node.limits.end());
  KARST_TRY(context.status());
  return node;
}

base::Result<model::VolumeAttachment> reduce_volume_attachment(simdjson::dom::element object) {
  Context context;
  const Object root = Object::from(context, object);
  model::VolumeAttachment attachment;
  root.object("metadata", [&](const Object& metadata) { attachment.name = metadata.text("name"); });
  root.object("spec", [&](const Object& spec) {
    attachment.node = spec.text("nodeName");
    spec.object("source", [&](const Object& source) {
      attachment.volume = source.text("persistentVolumeName");
    });
  });
  KARST_TRY(context.status());
  return attachment;
}

base::Result<model::NodeOverlay> reduce_overlay(simdjson::dom::element object) {
  Context context;
  const Object root = Object::from(context, object);
  model::NodeOverlay overlay;
  root.object("metadata", [&](const Object& metadata) {
    overlay.name = metadata.text("name");
    overlay.uid = metadata.text("uid");
    overlay.generation = metadata.integer("generation");
  });
  root.object("spec", [&](const Object& spec) {
    overlay.weight = spec.integer32("weight");
    overlay.requirements = read_ordered_expressions(spec, "requirements");
    overlay.capacity = spec.resources("capacity", model::Rounding::kDown);
    if (spec.has("price")) {
      overlay.price_nanos_per_hour = parse_nanos(spec.view("price"));
      if (!overlay.price_nanos_per_hour) context.fail("price: expected a decimal number");
    }
    std::string_view adjustment = spec.view("priceAdjustment");
    if (adjustment.empty()) return;
    const bool percent = adjustment.ends_with('%');
    if (percent) adjustment.remove_suffix(1);
    const auto nanos = parse_nanos(adjustment);
    if (!nanos) return context.fail("priceAdjustment: expected a decimal number");
    if (percent)
      overlay.percent_micros = *nanos / 1000;
    else
      overlay.adjustment_nanos_per_hour = nanos;
  });
  KARST_TRY(context.status());
  return overlay;
}

std::optional<std::int64_t> parse_nanos(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  std::int64_t whole = 0;
  std::int64_t fraction = 0;
  std::int64_t place = 100'000'000;
  bool point = false;
  bool digits = false;
  for (const char c : text) {
    if (c == '.' && !point) {
      point = true;
      continue;
    }
    if (c < '0' || c > '9') return std::nullopt;
    digits = true;
    if (point) {
      fraction += place * (c - '0');
      place /= 10;
    } else if ((whole = whole * 10 + (c - '0')) > kNanosWholeMax) {
      return std::nullopt;
    }
  }
  if (!digits) return std::nullopt;
  const std::int64_t nanos = whole * 1'000'000'000 + fraction;
  return negative ? -nanos : nanos;
}

}  // namespace karst::objects
