#include "exports/payload_text.h"

#include <nlohmann/json.hpp>

#include "base/sha256.h"
#include "events/codec.h"
#include "events/json_text.h"

namespace karst::exports {
namespace {

using Json = nlohmann::ordered_json;
using events::EventType;

constexpr std::string_view kUserDataKey = "userData";

Json only_hash(std::string_view bytes) {
  return {{"sha256", base::hex_lower(base::sha256(bytes))}, {"bytes", bytes.size()}};
}

std::string masked_launch(const events::Event& event, std::string_view text) {
  const events::Body body = events::decode_body(event);
  const auto& launch = std::get<model::Launch>(std::get<model::Command>(body).spec);
  Json json = Json::parse(text);
  if (json.contains("request")) json["request"] = only_hash(launch.request);
  return json.dump();
}

std::string masked_class(const events::Event& event, std::string_view text) {
  const events::Body body = events::decode_body(event);
  const std::string& spec = std::get<events::NodeClassObserved>(body).node_class.spec_json;
  Json json = Json::parse(text);
  if (!json.contains("spec_json")) return std::string(text);
  Json inner = Json::parse(spec, nullptr, false);
  if (!inner.is_object()) {
    json["spec_json"] = only_hash(spec);
  } else if (inner.contains(kUserDataKey)) {
    const Json value = inner[kUserDataKey];
    inner[kUserDataKey] = only_hash(value.is_string() ? value.get<std::string>() : value.dump());
    json["spec_json"] = inner.dump();
  }
  return json.dump();
}

}  // namespace

base::Result<std::string> payload_text(const events::Event& event) {
  auto text = events::payload_json(event.envelope.type, event.payload);
  if (!text)
    return base::fail(
        text.error().with_context("position " + std::to_string(event.envelope.position.value())));
  if (event.envelope.type == EventType::kLaunchRequested) return masked_launch(event, *text);
  if (event.envelope.type == EventType::kNodeClassObserved) return masked_class(event, *text);
  return text;
}

}  // namespace karst::exports
