#include "providers/kwok/launch.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "model/labels.h"
#include "model/quantity.h"

namespace karst::providers::kwok {
namespace {

using Json = nlohmann::ordered_json;

const model::InstanceType* find_type(const model::Catalogue& catalogue, const std::string& name) {
  for (const model::InstanceType& type : catalogue.types)
    if (type.name == name) return &type;
  return nullptr;
}

void add_single_values(model::Labels& labels, const std::vector<model::RequirementSpec>& specs) {
  for (const model::RequirementSpec& spec : specs)
    if (spec.op == model::Operator::kIn && spec.values.size() == 1)
      model::set_label(labels, spec.key, spec.values.front());
}

model::Labels node_labels(const model::NodeClaim& claim, const model::InstanceType* type,
                          const model::Offer& offer) {
  model::Labels labels = claim.labels;
  add_single_values(labels, claim.requirements);
  if (type != nullptr) add_single_values(labels, type->requirements);
  model::set_label(labels, model::kInstanceTypeLabel, offer.instance_type);
  model::set_label(labels, model::kZoneLabel, offer.zone);
  model::set_label(labels, model::kCapacityTypeLabel, offer.capacity_type);
  model::set_label(labels, model::kHostnameLabel, claim.name.str());
  model::set_label(labels, "kwok-partition", "a");
  model::set_label(labels, "kwok.x-k8s.io/node", "fake");
  model::set_label(labels, "eks-node-viewer/instance-price",
                   price_text(offer.price_nanos_per_hour));
  return labels;
}

Json to_json(const model::Labels& labels) {
  Json object = Json::object();
  for (const auto& [key, value] : labels) object[key] = value;
  return object;
}

// Kubernetes takes one taint per key and effect: the first one wins.
Json taints_of(const model::NodeClaim& claim) {
  std::vector<model::Taint> taints;
  const auto add = [&](const model::Taint& taint) {
    const bool known = std::any_of(taints.begin(), taints.end(), [&](const model::Taint& other) {
      return other.key == taint.key && other.effect == taint.effect;
    });
    if (!known) taints.push_back(taint);
  };
  for (const model::Taint& taint : claim.taints) add(taint);
  for (const model::Taint& taint : claim.startup_taints) add(taint);
  add({std::string(model::kUnregisteredTaintKey), "", model::TaintEffect::kNoExecute});
  Json list = Json::array();
  for (const model::Taint& taint : taints) {
    Json entry = {{"key", taint.key}};
    if (!taint.value.empty()) entry["value"] = taint.value;
    entry["effect"] = std::string(model::taint_effect_name(taint.effect));
    list.push_back(std::move(entry));
  }
  return list;
}

Json to_json(const model::Resources& resources) {
  model::Labels amounts;
  const auto add = [&](std::string_view name, std::int64_t amount, const std::string& text) {
    if (amount != 0) model::set_label(amounts, name, text);
  };
  add("cpu", resources.cpu_millis, model::format_millis(resources.cpu_millis));
  add("memory", resources.memory_bytes, model::format_bytes(resources.memory_bytes));
  add("ephemeral-storage", resources.ephemeral_bytes,
      model::format_bytes(resources.ephemeral_bytes));
  add("pods", resources.pods, std::to_string(resources.pods));
  for (const auto& [name, amount] : resources.extended) add(name, amount, std::to_string(amount));
  return to_json(amounts);
}

// Of the node class; empty when it has none.
std::string registration_delay(std::string_view node_class) {
  const Json spec = Json::parse(node_class, nullptr, false);
  if (!spec.is_object()) return "";
  const auto delay = spec.find("nodeRegistrationDelay");
  return delay != spec.end() && delay->is_string() ? delay->get<std::string>() : "";
}

Json node_object(const model::Catalogue& catalogue, const LaunchSubject& subject,
                 const model::LaunchToken& token, const model::Offer& offer,
                 const std::string& command_tag) {
  const model::NodeClaim& claim = *subject.claim;
  const std::string name = node_name(claim.name, subject.attempt);
  const model::InstanceType* type = find_type(catalogue, offer.instance_type);
  model::Labels annotations;
  model::set_label(annotations, "karst.sh/attempt", std::to_string(subject.attempt));
  model::set_label(annotations, "karst.sh/claim-uid", claim.uid.str());
  model::set_label(annotations, model::kCommandIdAnnotation, command_tag);
  model::set_label(annotations, "karst.sh/launch-token", token.str());
  model::set_label(annotations, "kwok.x-k8s.io/node", "fake");
  if (const std::string delay = registration_delay(subject.node_class); !delay.empty())
    model::set_label(annotations, kRegistrationDelayAnnotation, delay);
  Json node;
  node["apiVersion"] = "v1";
  node["kind"] = "Node";
  node["metadata"]["name"] = name;
  node["metadata"]["labels"] = to_json(node_labels(claim, type, offer));
  node["metadata"]["annotations"] = to_json(annotations);
  node["spec"]["providerID"] = "kwok://" + name;
  node["spec"]["taints"] = taints_of(claim);
  node["status"]["capacity"] = to_json(type != nullptr ? type->capacity : claim.requests);
  node["status"]["allocatable"] = to_json(type != nullptr ? type->allocatable : claim.requests);
  return node;
}

}  // namespace

std::string node_name(const model::ClaimName& claim, std::uint32_t attempt) {
  return "kwok-" + claim.str() + "-" + std::to_string(attempt);
}

std::string price_text(std::int64_t nanos_per_hour) {
  constexpr std::int64_t kNanos = 1'000'000'000;
  std::string fraction = std::to_string(nanos_per_hour % kNanos);
  fraction.insert(0, 9 - fraction.size(), '0');
  while (!fraction.empty() && fraction.back() == '0') fraction.pop_back();
  return std::to_string(nanos_per_hour / kNanos) + (fraction.empty() ? "" : "." + fraction);
}

std::string encode_launch(const model::Catalogue& catalogue,
                          std::span<const LaunchSubject> subjects, const model::LaunchToken& token,
                          std::span<const model::Offer> offers, const std::string& command_tag) {
  KARST_CHECK(!offers.empty(), "a launch order has at least one offer");
  Json nodes = Json::array();
  for (const LaunchSubject& subject : subjects)
    nodes.push_back(node_object(catalogue, subject, token, offers.front(), command_tag));
  return nodes.dump();
}

}  // namespace karst::providers::kwok
