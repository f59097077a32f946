#include "providers/kwok/kwok.h"

#include <utility>

#include "base/time.h"
#include "providers/kwok/catalogue.h"
#include "providers/kwok/launch.h"

namespace karst::providers::kwok {
namespace {

constexpr std::int64_t kRepairMillis = 10 * base::kMillisPerMinute;
constexpr RepairPolicy kRepairPolicies[] = {
    {"Ready", model::ConditionStatus::kFalse, kRepairMillis},
    {"Ready", model::ConditionStatus::kUnknown, kRepairMillis},
};
constexpr std::string_view kLabelKeys[] = {kCpuLabel, kFamilyLabel, kMemoryLabel, kSizeLabel};
constexpr std::string_view kOwnLabels[] = {kCpuLabel, kFamilyLabel, kMemoryLabel, kSizeLabel,
                                           "karpenter.kwok.sh/kwoknodeclass"};
constexpr std::string_view kGroup = "karpenter.kwok.sh";

class Kwok final : public Provider {
 public:
  explicit Kwok(model::Catalogue catalogue) : catalogue_(std::move(catalogue)) {}
  std::string_view name() const override { return "kwok"; }
  bool understands(const model::NodeClassRef& ref) const override {
    return ref.group == kGroup && ref.kind == "KWOKNodeClass";
  }
  const model::Catalogue& embedded_catalogue() const override { return catalogue_; }
  std::span<const std::string_view> label_keys() const override { return kLabelKeys; }
  std::string_view label_domain() const override { return kGroup; }
  std::span<const std::string_view> own_labels() const override { return kOwnLabels; }
  std::span<const RepairPolicy> repair_policies() const override { return kRepairPolicies; }
  std::string encode_launch(const model::Catalogue& catalogue,
                            std::span<const LaunchSubject> subjects,
                            const model::LaunchToken& token, std::span<const model::Offer> offers,
                            const std::string& command_tag) const override {
    return kwok::encode_launch(catalogue, subjects, token, offers, command_tag);
  }

 private:
  const model::Catalogue catalogue_;
};

}  // namespace

const Provider& provider() {
  static const Kwok kProvider(make_catalogue());
  return kProvider;
}

std::unique_ptr<Provider> provider_with(model::Catalogue catalogue) {
  return std::make_unique<Kwok>(std::move(catalogue));
}

}  // namespace karst::providers::kwok
