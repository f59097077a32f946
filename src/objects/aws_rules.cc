// EC2NodeClass: what its schema demands of values.
#include <algorithm>
#include <initializer_list>
#include <limits>
#include <set>

#include "base/utf8.h"
#include "objects/manifest_rules.h"

namespace karst::objects {
namespace {

constexpr std::size_t kTermsMax = 30;
constexpr std::size_t kTermTagsMax = 20;
constexpr std::size_t kAccountDigits = 12;
constexpr std::size_t kDisksMax = 50;
constexpr std::size_t kInterfacesMax = 150;
constexpr std::string_view kOurTags[] = {"eks:eks-cluster-name", "karpenter.sh/nodepool",
                                         "karpenter.sh/nodeclaim",
                                         "karpenter.k8s.aws/ec2nodeclass"};
constexpr std::string_view kFamilies[] = {"al2",         "al2023",      "bottlerocket",
                                          "windows2019", "windows2022", "windows2025"};

bool has(const TreeValue& object, std::string_view name) {
  return object.find(name) != nullptr;
}

bool has_any(const TreeValue& object, std::initializer_list<std::string_view> names) {
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view name) { return has(object, name); });
}

// Whether the text is `prefix` and then small letters and digits.
std::string bad_id(std::string_view text) {
  for (const std::string_view prefix : {"subnet-", "sg-", "ami-", "cr-", "pg-"})
    if (text.starts_with(prefix) && text.size() > prefix.size() &&
        text.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz", prefix.size()) == text.npos)
      return {};
  return "expected an id of EC2's such as subnet-0123456789abcdef0, found \"" +
         std::string(base::cut_utf8(text, 40)) + "\"";
}

std::string bad_owner(std::string_view text) {
  const bool good =
      text.size() == kAccountDigits && text.find_first_not_of("0123456789") == text.npos;
  return good ? std::string() : "expected an account of 12 digits";
}

// What a list of selectors demands of its terms: each names one of `names`, and these stand alone.
// The API server refuses a list only when all its terms break the second rule; of images, when one
// does.
struct TermRules {
  std::string_view list;
  std::initializer_list<std::string_view> names;
  std::vector<std::pair<std::string_view, std::vector<std::string_view>>> alone;
  bool each = false;
};

void check_term_tags(Review& review, const TreeValue& term) {
  const TreeValue* tags = term.find("tags");
  if (tags == nullptr) return;
  if (tags->fields.size() > kTermTagsMax) refuse_field(review, term, "tags", "more than 20 tags");
  for (const TreeField& tag : tags->fields)
    if (tag.key.empty() || tag.value.text.empty())
      refuse_field(review, term, "tags", "an empty key or value");
}

void check_term_rules(Review& review, const TreeValue& spec, const TermRules& rules) {
  const TreeValue* terms = spec.find(rules.list);
  if (terms == nullptr || terms->items.empty()) return;
  Review::Scope scope(review, rules.list);
  for (const auto& [name, others] : rules.alone) {
    const auto broken = [&, key = name, &beside = others](const TreeValue& term) {
      return has(term, key) && std::any_of(beside.begin(), beside.end(),
                                           [&](std::string_view one) { return has(term, one); });
    };
    const auto count = std::count_if(terms->items.begin(), terms->items.end(), broken);
    if (rules.each ? count > 0 : count == static_cast<std::ptrdiff_t>(terms->items.size()))
      review.refuse(terms->line, std::string(name) + " must stand alone in its term");
  }
  for (std::size_t i = 0; i < terms->items.size(); ++i) {
    const TreeValue& term = terms->items[i];
    Review::Scope inner(review, i);
    if (!term.fields.empty() && !has_any(term, rules.names))
      review.refuse(term.line, "names nothing to select by");
    check_text(review, term, "id", bad_id);
    check_text(review, term, "ownerID", bad_owner);
    check_term_tags(review, term);
  }
}

void check_all_terms(Review& review, const TreeValue& spec) {
  check_term_rules(review, spec, {"subnetSelectorTerms", {"tags", "id"}, {{"id", {"tags"}}}});
  check_term_rules(review, spec,
                   {"securityGroupSelectorTerms",
                    {"tags", "id", "name"},
                    {{"id", {"tags", "name"}}, {"name", {"tags", "id"}}}});
  check_term_rules(review, spec,
                   {"capacityReservationSelectorTerms",
                    {"tags", "id", "instanceMatchCriteria"},
                    {{"id", {"tags", "ownerID", "instanceMatchCriteria"}}}});
  check_term_rules(review, spec,
                   {"amiSelectorTerms",
                    {"tags", "id", "name", "alias", "ssmParameter"},
                    {{"id", {"alias", "tags", "name", "owner"}}},
                    true});
}

void check_interfaces(Review& review, const TreeValue& spec) {
  const TreeValue* interfaces = spec.find("networkInterfaces");
  if (interfaces == nullptr || interfaces->items.empty()) return;
  if (interfaces->items.size() > kInterfacesMax)
    refuse_field(review, spec, "networkInterfaces", "more than 150 elements");
  std::set<std::pair<std::int64_t, std::int64_t>> pairs;
  std::set<std::int64_t> efa_only;
  bool first = false;
  for (const TreeValue& one : interfaces->items) {
    const std::int64_t card = number_of(one, "networkCardIndex", 0);
    const std::int64_t device = number_of(one, "deviceIndex", 0);
    const bool efa = one.text_of("interfaceType") == "efa-only";
    first = first || (card == 0 && device == 0 && !efa);
    if (card < 0 || device < 0) refuse_field(review, spec, "networkInterfaces", "an index below 0");
    if (!pairs.insert({card, device}).second)
      refuse_field(review, spec, "networkInterfaces", "the same card and device are there twice");
    if (efa && !efa_only.insert(card).second)
      refuse_field(review, spec, "networkInterfaces", "more than one efa-only of a card");
  }
  if (!first)
    refuse_field(review, spec, "networkInterfaces",
                 "card 0, device 0 must be there, of the type interface");
}

void check_tracking(Review& review, const TreeValue& tracking) {
  if (tracking.fields.empty()) review.refuse(tracking.line, "must not be empty");
  check_range(review, tracking, "tcpEstablishedTimeout", 60, 432'000);
  check_range(review, tracking, "udpStreamTimeout", 60, 180);
  check_range(review, tracking, "udpTimeout", 30, 60);
}

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
                          "alias \"" + std::string(base::cut_utf8(alias, 40)) +
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
  check_all_terms(review, spec);
  check_image(review, spec);
  check_tags(review, spec);
  check_interfaces(review, spec);
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
         std::string(base::cut_utf8(text, 40)) + "\"";
}

void check_disk(Review& review, const TreeValue& disk) {
  check_text(review, disk, "volumeSize", bad_size);
  if (disk.find("volumeSize") == nullptr && disk.find("snapshotID") == nullptr)
    review.refuse(disk.line, "volumeSize or snapshotID must be there");
  check_range(review, disk, "volumeInitializationRate", 100, 300);
  if (has(disk, "volumeInitializationRate") && disk.text_of("snapshotID").empty())
    refuse_field(review, disk, "volumeInitializationRate", "needs snapshotID");
}

void check_metadata_options(Review& review, const TreeValue& options) {
  check_range(review, options, "httpPutResponseHopLimit", 1, 64);
}

void check_placement_group(Review& review, const TreeValue& selector) {
  if ((selector.find("name") == nullptr) == (selector.find("id") == nullptr))
    review.refuse(selector.line, "exactly one of name and id must be there");
  check_text(review, selector, "id", bad_id);
}

}  // namespace

std::vector<RuleEntry> aws_rules() {
  return {{"EC2NodeClassSpec", check_spec},
          {"BlockDevice", check_disk},
          {"ConnectionTracking", check_tracking},
          {"MetadataOptions", check_metadata_options},
          {"PlacementGroupSelector", check_placement_group}};
}

}  // namespace karst::objects
