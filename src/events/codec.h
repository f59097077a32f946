// Bodies to payload bytes (FlatBuffers, schemas/*.fbs) and back. Encoding the same value with the
// same build always gives the same bytes. Payloads are verified before they are read (decode_event
// does), so decode cannot fail.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "events/body.h"
#include "events/event.h"

namespace karst::events {

std::string encode_payload(const Body& body);

// REQUIRES: `payload` passed verify_payload for this type, and is 8-byte aligned.
Body decode_payload(EventType type, std::string_view payload);
inline Body decode_body(const Event& event) {
  return decode_payload(event.envelope.type, event.payload);
}

// Errors: kCorrupt when the bytes are no such buffer, kNewer when the type is unknown.
base::Status verify_payload(EventType type, std::string_view payload);

// A record of `body` with type and stream filled in; times and causes are the caller's.
Record make_record(const Body& body);

}  // namespace karst::events
