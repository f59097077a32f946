#include "providers/aws/resolution.h"

#include <nlohmann/json.hpp>

#include "providers/aws/json_fields.h"

namespace karst::providers::aws {
namespace {

using nlohmann::json;

struct StatusName {
  model::ConditionStatus status;
  const char* name;
};
constexpr StatusName kStatuses[] = {{model::ConditionStatus::kTrue, "True"},
                                    {model::ConditionStatus::kFalse, "False"},
                                    {model::ConditionStatus::kUnknown, "Unknown"}};

std::string dumped(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

json without(json object, std::initializer_list<const char*> keys) {
  for (const char* key : keys) object.erase(key);
  return object;
}

json reservation_status(const json& reservation) {
  json out = without(reservation, {"available"});
  if (text_of(out, "endTime").empty()) out.erase("endTime");
  if (out.value("interruptible", json(false)) != json(true)) out.erase("interruptible");
  return out;
}

json image_status(const json& image) {
  json out = without(image, {"created"});
  if (out.value("deprecated", json(false)) != json(true)) out.erase("deprecated");
  for (json& requirement : out["requirements"])
    if (requirement["values"].empty()) requirement.erase("values");
  return out;
}

}  // namespace

std::string encode_resolve(const model::NodeClass& node_class) {
  return dumped({{"name", node_class.ref.name},
                 {"uid", node_class.uid},
                 {"generation", node_class.generation},
                 {"spec", node_class.spec_json}});
}

base::Result<NodeClassSubject> read_resolve(std::string_view bytes) {
  const json question = json::parse(bytes, nullptr, /*allow_exceptions=*/false);
  if (!question.is_object() || !question.contains("generation") ||
      !question["generation"].is_number_integer())
    return base::fail(base::Kind::kInvalid, "the bytes of a question about a node class");
  auto spec = read_node_class_spec(text_of(question, "spec"));
  if (!spec) return base::fail(std::move(spec.error()));
  return NodeClassSubject{text_of(question, "name"), text_of(question, "uid"),
                          question["generation"].get<std::int64_t>(), std::move(*spec)};
}

std::string to_json(const Resolution& resolution, std::int64_t generation) {
  json out = json::parse(to_json(resolution.resolved), nullptr, /*allow_exceptions=*/false);
  out["generation"] = generation;
  json conditions = json::array();
  for (const model::Condition& one : resolution.conditions)
    for (const StatusName& status : kStatuses)
      if (status.status == one.status)
        conditions.push_back({{"type", one.type},
                              {"status", status.name},
                              {"reason", one.reason},
                              {"message", one.message}});
  out["conditions"] = std::move(conditions);
  return dumped(out);
}

std::vector<model::Condition> conditions_of(std::string_view resolution_json) {
  const json stored = json::parse(resolution_json, nullptr, /*allow_exceptions=*/false);
  std::vector<model::Condition> conditions;
  if (!stored.is_object() || !stored.contains("conditions")) {
    conditions.push_back({"Ready", model::ConditionStatus::kUnknown, "AwaitingReconciliation",
                          "nothing was asked yet", 0, 0});
    return conditions;
  }
  const json& generation = stored.value("generation", json(0));
  for (const json& one : stored["conditions"]) {
    if (!one.is_object()) continue;
    model::Condition condition;
    condition.type = text_of(one, "type");
    condition.reason = text_of(one, "reason");
    condition.message = text_of(one, "message");
    for (const StatusName& status : kStatuses)
      if (text_of(one, "status") == status.name) condition.status = status.status;
    if (generation.is_number_integer())
      condition.observed_generation = generation.get<std::int64_t>();
    conditions.push_back(std::move(condition));
  }
  return conditions;
}

std::string status_fields(std::string_view resolution_json) {
  if (!read_resolved(resolution_json)) return {};
  const json stored = json::parse(resolution_json, nullptr, /*allow_exceptions=*/false);
  // null: a field that is to go.
  json status = {{"subnets", nullptr},
                 {"securityGroups", nullptr},
                 {"amis", nullptr},
                 {"capacityReservations", nullptr},
                 {"instanceProfile", nullptr}};
  for (const json& subnet : stored["subnets"])
    status["subnets"].push_back(without(subnet, {"free"}));
  if (!stored["securityGroups"].empty()) status["securityGroups"] = stored["securityGroups"];
  for (const json& image : stored["images"]) status["amis"].push_back(image_status(image));
  for (const json& one : stored["capacityReservations"])
    status["capacityReservations"].push_back(reservation_status(one));
  if (!text_of(stored, "instanceProfile").empty())
    status["instanceProfile"] = stored["instanceProfile"];
  return dumped(status);
}

}  // namespace karst::providers::aws
