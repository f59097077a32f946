// The readable form of stored bytes, made from the schemas themselves, so that no event type can be
// forgotten.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "events/event.h"

namespace karst::events {

// The payload as one line of JSON. Field names are the schema's. 64-bit numbers are JSON numbers.
// Of text that is not UTF-8, each byte that belongs to no character is U+FFFD, here and below:
// what the log holds can always be shown. Errors: those of verify_payload.
base::Result<std::string> payload_json(EventType type, std::string_view payload);

// {"position":…,"log_time":"…","wall_time":"…","type":"…","stream":"…","causation":…,
//  "correlation":…,"payload":{…}}, on one line.
std::string event_json(const Event& event);
// The same, appended to `text`, whose room is used again.
void append_event_json(const Event& event, std::string& text);

// The same, appended, with "withheld":true in place of the payload.
void append_withheld_json(const Envelope& envelope, std::string& text);

}  // namespace karst::events
