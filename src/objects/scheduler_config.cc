#include "objects/scheduler_config.h"

#include <limits>
#include <set>
#include <utility>

#include "objects/manifest_rules.h"
#include "objects/name_rules.h"
#include "objects/schema.h"

namespace karst::objects {
namespace {

// What the types of the fields cannot say.
void check_default_spread(Review& review, const TreeValue& spread) {
  check_range(review, spread, "maxSkew", 1, kInt32Max);
  check_range(review, spread, "minDomains", 1, kInt32Max);
  for (const std::string_view key : {"topologyKey", "whenUnsatisfiable"})
    if (const TreeValue* text = spread.find(key); text != nullptr && text->text.empty())
      refuse_field(review, spread, key, "must not be empty");
  if (!spread.text_of("topologyKey").empty())
    check_text(review, spread, "topologyKey", bad_label_key);
  if (spread.find("minDomains") != nullptr &&
      spread.text_of("whenUnsatisfiable") == "ScheduleAnyway")
    refuse_field(review, spread, "minDomains", "needs whenUnsatisfiable DoNotSchedule");
  for (const std::string_view key : {"labelSelector", "matchLabelKeys"})
    if (spread.find(key) != nullptr)
      refuse_field(
          review, spread, key,
          "must not be given: which pods count is told from each pod's Services and owner");
}

model::SpreadConstraint spread_of(const TreeValue& value) {
  model::SpreadConstraint spread;
  spread.topology_key = value.text_of("topologyKey");
  spread.max_skew = static_cast<std::int32_t>(number_of(value, "maxSkew", 1));
  spread.min_domains = static_cast<std::int32_t>(number_of(value, "minDomains", 0));
  spread.schedule_anyway = value.text_of("whenUnsatisfiable") == "ScheduleAnyway";
  spread.ignore_node_affinity = value.text_of("nodeAffinityPolicy") == "Ignore";
  spread.honor_node_taints = value.text_of("nodeTaintsPolicy") == "Honor";
  return spread;
}

std::vector<model::SpreadConstraint> read_spreads(Review& review, const TreeValue& config) {
  std::vector<model::SpreadConstraint> spreads;
  const TreeValue* list = config.at({"podTopologySpread", "defaultConstraints"});
  if (list == nullptr || !list->is(TreeValue::Type::kList)) return spreads;
  Review::Scope outer(review, "podTopologySpread");
  Review::Scope inner(review, "defaultConstraints");
  if (list->items.size() > kDefaultSpreadsMax)
    review.refuse(list->line, "more than " + std::to_string(kDefaultSpreadsMax) + " elements");
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    const TreeValue& one = list->items[i];
    if (!one.is(TreeValue::Type::kMap)) continue;  // refused by its type
    Review::Scope element(review, i);
    check_default_spread(review, one);
    if (!seen.emplace(one.text_of("topologyKey"), one.text_of("whenUnsatisfiable")).second)
      review.refuse(one.line, "the same topologyKey and whenUnsatisfiable are there twice");
    spreads.push_back(spread_of(one));
  }
  return spreads;
}

base::Error refused(const std::vector<Refusal>& refusals) {
  std::string text = refusals.size() == 1 ? "" : std::to_string(refusals.size()) + " errors:";
  for (const Refusal& one : refusals) text += (text.empty() ? "" : "\n  ") + one.text();
  return {base::Kind::kInvalid, std::move(text)};
}

}  // namespace

base::Result<std::vector<model::SpreadConstraint>> read_scheduler_config(const std::string& file,
                                                                         std::string_view text) {
  const auto documents = read_documents(text, kSchedulerConfigBytesMax);
  Review review(file);
  if (!documents) {
    // "line N: what" of the tree readers
    const std::string& message = documents.error().message;
    constexpr std::string_view kLine = "line ";
    return base::fail(base::Kind::kInvalid, message.starts_with(kLine)
                                                ? file + ":" + message.substr(kLine.size())
                                                : file + ": " + message);
  }
  std::vector<model::SpreadConstraint> spreads;
  for (std::size_t i = 0; i < documents->size(); ++i) {
    const TreeValue& one = (*documents)[i];
    if (i > 0) {
      review.refuse(one.line, "expected one document, found another");
    } else if (!one.is(TreeValue::Type::kMap)) {
      review.refuse(one.line, "expected podTopologySpread, found " + describe(one));
    } else {
      Schema::instance().check(review, "SchedulerConfig", one);
      spreads = read_spreads(review, one);
    }
  }
  if (review.count() > 0) return base::fail(refused(review.refusals()));
  return spreads;
}

bool add_default_spread(const std::vector<model::SpreadConstraint>& spreads,
                        const model::Labels& labels, model::PodShape& shape) {
  if (!shape.spread.empty()) return false;
  std::string_view key;
  if (shape.owner_kind == model::OwnerKind::kReplicaSet) key = "pod-template-hash";
  if (shape.owner_kind == model::OwnerKind::kStatefulSet) key = "controller-revision-hash";
  if (key.empty() || !model::has_label(labels, key)) return false;
  for (const model::SpreadConstraint& given : spreads) {
    model::SpreadConstraint spread = given;
    spread.match_label_keys = {std::string(key)};
    shape.spread.push_back(std::move(spread));
  }
  return !spreads.empty();
}

}  // namespace karst::objects
