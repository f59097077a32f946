#include "exports/payload_text.h"

#include <nlohmann/json.hpp>

#include "events/codec.h"
#include "events/json_text.h"

namespace karst::exports {

base::Result<std::string> payload_text(const events::Event& event) {
  using OrderedJson = nlohmann::ordered_json;
  auto text = events::payload_json(event.envelope.type, event.payload);
  if (!text)
    return base::fail(
        text.error().with_context("position " + std::to_string(event.envelope.position.value())));
  if (event.envelope.type != events::EventType::kLaunchRequested) return text;
  const events::Body body = events::decode_body(event);
  const auto& launch = std::get<model::Launch>(std::get<model::Command>(body).spec);
  OrderedJson json = OrderedJson::parse(*text);
  if (json.contains("request")) json["request"] = launch.request;
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace karst::exports
