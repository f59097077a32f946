#include "providers/aws/aws.h"

#include "base/time.h"
#include "providers/aws/catalogue.h"
#include "providers/aws/class_status.h"
#include "providers/aws/class_types.h"
#include "providers/aws/drift.h"
#include "providers/aws/launch.h"
#include "providers/aws/release.h"
#include "providers/aws/resolution.h"

namespace karst::providers::aws {
namespace {

// As Karpenter's AWS provider tolerates them (v1.14).
constexpr std::int64_t kRepairMillis = 30 * base::kMillisPerMinute;
constexpr std::int64_t kRepairAcceleratorMillis = 10 * base::kMillisPerMinute;
constexpr RepairPolicy kRepairPolicies[] = {
    {"Ready", model::ConditionStatus::kFalse, kRepairMillis},
    {"Ready", model::ConditionStatus::kUnknown, kRepairMillis},
    {"AcceleratedHardwareReady", model::ConditionStatus::kFalse, kRepairAcceleratorMillis},
    {"StorageReady", model::ConditionStatus::kFalse, kRepairMillis},
    {"NetworkingReady", model::ConditionStatus::kFalse, kRepairMillis},
    {"KernelReady", model::ConditionStatus::kFalse, kRepairMillis},
    {"ContainerRuntimeReady", model::ConditionStatus::kFalse, kRepairMillis},
};

class Aws final : public Provider {
 public:
  std::string_view name() const override { return "aws"; }
  bool understands(const model::NodeClassRef& ref) const override {
    return ref.group == kNodeClassGroup && ref.kind == kNodeClassKind;
  }
  const model::Catalogue& embedded_catalogue() const override {
    static const model::Catalogue kAll = embedded_base_catalogue();
    return kAll;
  }
  std::span<const std::string_view> label_keys() const override { return aws::label_keys(); }
  std::string_view label_domain() const override { return kNodeClassGroup; }
  std::span<const std::string_view> own_labels() const override { return aws::own_labels(); }
  std::string_view reservation_label() const override { return kReservationIdLabel; }
  bool depends_on_class() const override { return true; }
  bool reads_catalogue() const override { return true; }

  // Nothing can be had of a class that nobody has looked for in the account.
  std::vector<model::InstanceType> types_for(
      const model::Catalogue& catalogue, const model::NodeClass& node_class,
      std::string_view resolved, std::span<const SeenMemory> seen_memory) const override {
    const auto spec = read_node_class_spec(node_class.spec_json);
    const auto found = read_resolved(resolved);
    // Nor of one that an order would be refused for (encode_launch).
    if (!spec || !found || check_node_class(*spec)) return {};
    return aws::types_for(catalogue, *spec, *found, seen_memory);
  }

  std::string encode_resolve(const model::NodeClass& node_class) const override {
    return read_node_class_spec(node_class.spec_json) ? aws::encode_resolve(node_class) : "";
  }
  std::string class_hash(const model::NodeClass& node_class,
                         std::string_view resolved) const override {
    const auto found = read_resolved(resolved);
    if (!found) return {};
    return node_class_hash(node_class.spec_json, found->cluster.ca).value_or(std::string());
  }
  std::string_view class_hash_version() const override { return kNodeClassHashVersion; }
  std::string encode_release(const model::NodeClass& node_class) const override {
    return aws::encode_release(node_class);
  }
  NodeClassStatus status_of(const model::NodeClass& node_class,
                            std::string_view resolved) const override {
    const auto spec = read_node_class_spec(node_class.spec_json);
    if (!spec) return {unusable(node_class.generation, spec.error().message), ""};
    return {conditions_of(resolved), status_fields(resolved)};
  }
  std::vector<std::optional<std::string>> drift_of(
      const model::Catalogue& catalogue, const model::NodeClass& node_class,
      std::string_view resolved, std::span<const DriftSubject> subjects) const override {
    return aws::drift_of(catalogue, node_class, resolved, subjects);
  }
  std::vector<std::string> shifted_zones(std::string_view resolved) const override {
    return aws::shifted_zones(resolved);
  }
  std::vector<std::string> ending_reservations(std::string_view resolved) const override {
    return aws::ending_reservations(resolved);
  }
  std::span<const RepairPolicy> repair_policies() const override { return kRepairPolicies; }

  std::size_t claims_per_order(const model::NodeClass& node_class) const override {
    const auto spec = read_node_class_spec(node_class.spec_json);
    return spec ? aws::claims_per_order(*spec) : model::kLaunchItemsMax;
  }
  std::string encode_launch(const model::Catalogue& catalogue,
                            std::span<const LaunchSubject> subjects,
                            const model::LaunchToken& token, std::span<const model::Offer> offers,
                            const std::string& command_tag) const override {
    LaunchInput input;
    input.catalogue = &catalogue;
    input.subjects = subjects;
    input.offers = offers;
    input.token = token.str();
    input.command_tag = command_tag;
    return aws::encode_launch(input);
  }
  std::vector<model::AddressUse> addresses_of(std::string_view request) const override {
    return aws::addresses_of(request);
  }
};

}  // namespace

const Provider& provider() {
  static const Aws kProvider;
  return kProvider;
}

}  // namespace karst::providers::aws
