#include "events/json_text.h"

#include <flatbuffers/idl.h>
#include <flatbuffers/util.h>

#include <algorithm>
#include <map>
#include <string>

#include "base/check.h"
#include "base/time.h"
#include "events/codec.h"
#include "events/json_plan.h"

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

JsonPlan make_plan() {
  flatbuffers::Parser parser;
  KARST_CHECK(parser.Parse(whole_schema().c_str()), "the embedded schemas parse");
  return JsonPlan(parser);
}

// Every type's table in the plan, by its number.
struct Plans {
  JsonPlan plan = make_plan();
  std::map<EventType, std::size_t> tables;

  std::size_t of(EventType type) {
    const auto [at, added] = tables.try_emplace(type, 0);
    if (added) at->second = plan.find(event_type_name(type));
    return at->second;
  }
};

// REQUIRES: `payload` has been verified.
void append_payload(EventType type, std::string_view payload, TextWriter& out) {
  thread_local Plans plans;
  plans.plan.append(plans.of(type), payload.data(), out);
}

// How much text to expect: names of fields take about as much as what they hold.
constexpr std::size_t kTextGuess = 512;
std::size_t guess_of(std::string_view payload) {
  return kTextGuess + 2 * payload.size();
}

void append_time(std::int64_t millis, TextWriter& out) {
  out.advance(base::write_rfc3339(millis, out.reserve(base::kRfc3339Max)));
}

// {"position":… up to and with the comma before what follows.
void append_envelope(const Envelope& e, TextWriter& out) {
  out.put("{\"position\":");
  out.put_number(e.position.value());
  out.put(",\"log_time\":\"");
  append_time(e.log_time.value(), out);
  out.put("\",\"wall_time\":\"");
  append_time(e.wall_time.value(), out);
  out.put("\",\"type\":\"");
  out.put(event_type_name(e.type));
  out.put("\",\"stream\":");
  append_quoted(e.stream, out);
  out.put(",\"causation\":");
  out.put_number(e.causation.value());
  out.put(",\"correlation\":");
  out.put_number(e.correlation.value());
  out.put(',');
}

}  // namespace

base::Result<std::string> payload_json(EventType type, std::string_view payload) {
  KARST_TRY(verify_payload(type, payload));
  std::string text;
  {
    TextWriter out(text, guess_of(payload));
    append_payload(type, payload, out);
  }
  return text;
}

std::string event_json(const Event& event) {
  std::string text;
  append_event_json(event, text);
  return text;
}

void append_event_json(const Event& event, std::string& text) {
  TextWriter out(text, guess_of(event.payload));
  append_envelope(event.envelope, out);
  out.put("\"payload\":");
  append_payload(event.envelope.type, event.payload, out);
  out.put('}');
}

void append_withheld_json(const Envelope& envelope, std::string& text) {
  TextWriter out(text, guess_of({}));
  append_envelope(envelope, out);
  out.put("\"withheld\":true}");
}

}  // namespace karst::events
