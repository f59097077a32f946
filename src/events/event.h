// One event: an envelope and a payload. On disk the value of position P is
//   48-byte header (FlatBuffers struct EnvelopeHeader, schemas/envelope.fbs) | stream text | zeros
//   to a multiple of 8 | payload
// and the Merkle leaf of the event is the same with the payload replaced by SHA-256(salt |
// payload), where salt = HMAC-SHA-256(log secret, position as 8 bytes big-endian): it stays small,
// and a payload can be withheld without breaking proofs (docs/decisions/0002).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/sha256.h"
#include "base/time.h"
#include "events/body.h"
#include "model/ids.h"

namespace karst::events {

inline constexpr std::uint8_t kSchemaVersion = 1;
inline constexpr std::size_t kHeaderSize = 48;
inline constexpr std::size_t kStreamMax = 512;
inline constexpr std::size_t kPayloadMax = 4 << 20;

struct Envelope {
  model::Position position;
  base::LogTime log_time;
  base::WallTime wall_time;
  model::Position causation;    // the event that led to this one; 0: none known
  model::Position correlation;  // the root of that chain; itself when 0
  EventType type = EventType::kLogCreated;
  std::uint8_t schema_version = kSchemaVersion;
  std::string_view stream;
};

// A view: valid as long as the buffer it was parsed from. `payload` is 8-byte aligned and has been
// verified.
struct Event {
  Envelope envelope;
  std::string_view payload;
  std::string_view raw;  // all of the stored bytes
};

// An event that has no position yet. Owns its bytes.
struct Record {
  base::LogTime log_time;
  base::WallTime wall_time;
  model::Position causation;
  model::Position correlation;
  EventType type = EventType::kLogCreated;
  std::string stream;
  std::string payload;
};

// The bytes of an event as stored.
std::string encode_event(model::Position position, const Record& record);
void encode_event(model::Position position, const Record& record,
                  std::string& out);  // replaces out

// The same without its payload: header, stream, zeros.
void encode_front(model::Position position, const Record& record,
                  std::string& out);  // replaces out

// Parses and verifies stored bytes. REQUIRES: value.data() is 8-byte aligned. Errors: kCorrupt
// names the position; kNewer for a type or schema version that this build does not know.
base::Result<Event> decode_event(model::Position expected, std::string_view value);

// Header, stream and zeros of stored bytes. `value` must have passed decode_event.
std::string_view front_of(std::string_view value);
// Parses that alone, where a payload is withheld. Errors: as decode_event.
base::Result<Envelope> decode_front(model::Position expected, std::string_view front);

// The leaf bytes of a stored event, as above. `value` must have passed decode_event.
std::string leaf_bytes(std::string_view value, std::string_view log_secret);
base::Sha256Digest leaf_salt(model::Position position, std::string_view log_secret);
// What stands for the payload there: SHA-256(salt | payload).
base::Sha256Digest commitment_of(std::string_view payload, std::string_view salt);

}  // namespace karst::events
