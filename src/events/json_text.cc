#include "events/json_text.h"

#include <flatbuffers/idl.h>

#include <algorithm>
#include <memory>
#include <string>

#include "base/check.h"
#include "base/time.h"
#include "events/codec.h"

namespace karst::events {
namespace {

struct Schema {
  std::string_view name;
  std::string_view text;
};

constexpr Schema kSchemas[] = {
#include "schemas/schema_text.inc"
};

// All schemas as one text: the shared values first, the include lines dropped.
std::string whole_schema() {
  std::string whole;
  for (const bool common : {true, false}) {
    for (const Schema& schema : kSchemas) {
      if ((schema.name == "common.fbs") != common) continue;
      std::string_view rest = schema.text;
      while (!rest.empty()) {
        const std::size_t end = std::min(rest.find('\n'), rest.size() - 1) + 1;
        const std::string_view line = rest.substr(0, end);
        if (!line.starts_with("include ")) whole.append(line);
        rest.remove_prefix(end);
      }
      whole.push_back('\n');
    }
  }
  return whole;
}

std::unique_ptr<flatbuffers::Parser> make_parser() {
  flatbuffers::IDLOptions options;
  options.strict_json = true;
  options.indent_step = -1;
  auto parser = std::make_unique<flatbuffers::Parser>(options);
  KARST_CHECK(parser->Parse(whole_schema().c_str()), "the embedded schemas parse");
  return parser;
}

std::string quoted(std::string_view text) {
  std::string out;
  flatbuffers::EscapeString(text.data(), text.size(), &out, true, false);
  return out;
}

// {"position":… up to and with the comma before what follows.
std::string envelope_json(const Envelope& e) {
  std::string text = "{\"position\":" + std::to_string(e.position.value());
  text += ",\"log_time\":\"" + base::format_rfc3339(e.log_time.value());
  text += "\",\"wall_time\":\"" + base::format_rfc3339(e.wall_time.value());
  text += "\",\"type\":\"" + std::string(event_type_name(e.type));
  text += "\",\"stream\":" + quoted(e.stream);
  text += ",\"causation\":" + std::to_string(e.causation.value());
  text += ",\"correlation\":" + std::to_string(e.correlation.value()) + ",";
  return text;
}

}  // namespace

base::Result<std::string> payload_json(EventType type, std::string_view payload) {
  KARST_TRY(verify_payload(type, payload));
  thread_local const std::unique_ptr<flatbuffers::Parser> parser = make_parser();
  const std::string root = "karst.log." + std::string(event_type_name(type));
  KARST_CHECK(parser->SetRootType(root.c_str()), "every event type has a root table of its name");
  std::string text;
  if (!flatbuffers::GenerateText(*parser, payload.data(), &text))
    return base::fail(
        base::Kind::kCorrupt,
        "the payload of a " + std::string(event_type_name(type)) + " holds text that is not UTF-8");
  return text;
}

base::Result<std::string> event_json(const Event& event) {
  const Envelope& e = event.envelope;
  base::Result<std::string> payload = payload_json(e.type, event.payload);
  if (!payload)
    return base::fail(
        payload.error().with_context("position " + std::to_string(e.position.value())));
  return envelope_json(e) + "\"payload\":" + *payload + "}";
}

std::string withheld_json(const Envelope& envelope) {
  return envelope_json(envelope) + "\"withheld\":true}";
}

}  // namespace karst::events
