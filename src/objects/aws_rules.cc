// EC2NodeClass: what its schema demands of values.
#include <algorithm>
#include <limits>

#include "objects/manifest_rules.h"

namespace karst::objects {
namespace {

constexpr std::int64_t kInt32Max = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t kTermsMax = 30;
constexpr std::size_t kDisksMax = 50;
constexpr std::size_t kInterfacesMax = 150;
constexpr std::string_view kOurTags[] = {"eks:eks-cluster-name", "karpenter.sh/nodepool",
                                         "karpenter.sh/nodeclaim",
                                         "karpenter.k8s.aws/ec2nodeclass"};
constexpr std::string_view kFamilies[] = {"al2",         "al2023",      "bottlerocket",
                                          "windows2019", "windows2022", "windows2025"};

void check_terms(Review& review, const TreeValue& spec, std::string_view name, bool required) {
  const TreeValue* terms = spec.find(name);
  if (required) check_not_empty(review, spec, name);
  if (terms == nullptr) return;
  if (terms->items.size() > kTermsMax) refuse_field(review, spec, name, "more than 30 elements");
  Review::Scope scope(review, name);
  for (std::size_t i = 0; i < terms->items.size(); ++i) {
    Review::Scope inner(review, i);
    if (terms->items[i].fields.empty()) review.refuse(terms->items[i].line, "must not be empty");
  }
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
  return out;
}

void check_image(Review& review, const TreeValue& spec) {
  const TreeValue* terms = spec.find("amiSelectorTerms");
  if (terms == nullptr || terms->items.empty()) return;
  std::string family;
  for (const TreeValue& term : terms->items) {
    const std::string_view alias = term.text_of("alias");
    if (alias.empty()) continue;
    family = std::string(alias.substr(0, alias.find('@')));
    const bool known =
        std::find(std::begin(kFamilies), std::end(kFamilies), family) != std::end(kFamilies);
    if (!known || alias.find('@') == alias.npos || alias.ends_with('@'))
      return refuse_field(review, spec, "amiSelectorTerms",
                          "alias \"" + std::string(alias.substr(0, 40)) +
                              "\": expected FAMILY@VERSION such as al2023@latest");
    if (family.starts_with("windows") && !alias.ends_with("@latest"))
      return refuse_field(review, spec, "amiSelectorTerms", "a windows alias must end in @latest");
    if (terms->items.size() > 1 || term.fields.size() > 1)
      return refuse_field(review, spec, "amiSelectorTerms",
                          "an alias must be the only term and stand alone");
  }
  const std::string_view given = spec.text_of("amiFamily");
  if (family.empty() && given.empty())
    refuse_field(review, spec, "amiFamily", "must be there when no amiSelectorTerms has an alias");
  if (!family.empty() && !given.empty() && given != "Custom" && lower(given) != family)
    refuse_field(review, spec, "amiFamily", "must be that of the alias, or Custom");
}

void check_tags(Review& review, const TreeValue& spec) {
  const TreeValue* tags = spec.find("tags");
  if (tags == nullptr) return;
  Review::Scope scope(review, "tags");
  for (const TreeField& field : tags->fields) {
    const bool ours =
        std::find(std::begin(kOurTags), std::end(kOurTags), field.key) != std::end(kOurTags);
    if (field.key.empty()) review.refuse(field.line, "an empty key");
    if (ours || field.key.starts_with("kubernetes.io/cluster"))
      review.refuse(field.key, field.line, "is a tag that the controller sets");
  }
}

void check_spec(Review& review, const TreeValue& spec) {
  check_terms(review, spec, "subnetSelectorTerms", true);
  check_terms(review, spec, "securityGroupSelectorTerms", true);
  check_terms(review, spec, "amiSelectorTerms", true);
  check_terms(review, spec, "capacityReservationSelectorTerms", false);
  check_image(review, spec);
  check_tags(review, spec);
  const bool role = !spec.text_of("role").empty();
  if (role == !spec.text_of("instanceProfile").empty())
    review.refuse(role ? "instanceProfile" : "role", spec.line,
                  "exactly one of role and instanceProfile must be there");
  check_range(review, spec, "ipPrefixCount", 0, kInt32Max);
  const TreeValue* disks = spec.find("blockDeviceMappings");
  if (disks != nullptr) {
    if (disks->items.size() > kDisksMax)
      refuse_field(review, spec, "blockDeviceMappings", "more than 50 elements");
    const auto roots =
        std::count_if(disks->items.begin(), disks->items.end(), [](const auto& disk) {
          return disk.find("rootVolume") != nullptr && disk.find("rootVolume")->text == "true";
        });
    if (roots > 1)
      refuse_field(review, spec, "blockDeviceMappings", "only one may have rootVolume: true");
  }
  const TreeValue* interfaces = spec.find("networkInterfaces");
  if (interfaces != nullptr && interfaces->items.size() > kInterfacesMax)
    refuse_field(review, spec, "networkInterfaces", "more than 150 elements");
}

// "20Gi", "100G", "1Ti", "2T".
std::string bad_size(std::string_view text) {
  struct Unit {
    std::string_view name;
    std::int64_t most;
  };
  constexpr Unit kUnits[] = {{"Gi", 59000}, {"Ti", 58}, {"G", 64000}, {"T", 64}};
  for (const Unit& unit : kUnits) {
    if (!text.ends_with(unit.name)) continue;
    const std::string_view digits = text.substr(0, text.size() - unit.name.size());
    if (digits.empty() || digits.size() > 5 ||
        digits.find_first_not_of("0123456789") != digits.npos)
      break;
    std::int64_t size = 0;
    for (const char c : digits) size = size * 10 + (c - '0');
    if (size >= 1 && size <= unit.most) return {};
    return "must be 1" + std::string(unit.name) + " to " + std::to_string(unit.most) +
           std::string(unit.name) + ", found \"" + std::string(text) + "\"";
  }
  return "expected a size in Gi, G, Ti or T such as 50Gi, found \"" +
         std::string(text.substr(0, 40)) + "\"";
}

void check_disk(Review& review, const TreeValue& disk) {
  check_text(review, disk, "volumeSize", bad_size);
  if (disk.find("volumeSize") == nullptr && disk.find("snapshotID") == nullptr)
    review.refuse(disk.line, "volumeSize or snapshotID must be there");
  check_range(review, disk, "volumeInitializationRate", 100, 300);
}

void check_metadata_options(Review& review, const TreeValue& options) {
  check_range(review, options, "httpPutResponseHopLimit", 1, 64);
}

void check_placement_group(Review& review, const TreeValue& selector) {
  if ((selector.find("name") == nullptr) == (selector.find("id") == nullptr))
    review.refuse(selector.line, "exactly one of name and id must be there");
}

}  // namespace

std::vector<RuleEntry> aws_rules() {
  return {{"EC2NodeClassSpec", check_spec},
          {"BlockDevice", check_disk},
          {"MetadataOptions", check_metadata_options},
          {"PlacementGroupSelector", check_placement_group}};
}

}  // namespace karst::objects
