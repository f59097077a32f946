#include "events/event.h"

#include <cstring>

#include "base/check.h"
#include "events/codec.h"
#include "schemas/envelope_generated.h"

namespace karst::events {
namespace {

static_assert(sizeof(log::EnvelopeHeader) == kHeaderSize);

constexpr std::size_t kAlignment = 8;

constexpr std::size_t padded(std::size_t size) {
  return (size + kAlignment - 1) / kAlignment * kAlignment;
}

std::string place(model::Position position) {
  return "event at position " + std::to_string(position.value());
}

tl::unexpected<base::Error> corrupt(model::Position position, const std::string& what) {
  return base::fail(base::Kind::kCorrupt, place(position) + " is damaged: " + what);
}

bool all_zero(std::string_view bytes) {
  return bytes.find_first_not_of('\0') == std::string_view::npos;
}

const log::EnvelopeHeader& header_of(std::string_view value) {
  return *reinterpret_cast<const log::EnvelopeHeader*>(value.data());
}

// Checks everything in front of the payload. Returns where the payload starts.
base::Result<std::size_t> check_front(model::Position expected, std::string_view value) {
  if (value.size() < kHeaderSize)
    return corrupt(expected, std::to_string(value.size()) + " bytes, the header alone has " +
                                 std::to_string(kHeaderSize));
  const log::EnvelopeHeader& header = header_of(value);
  if (header.position() != expected.value())
    return corrupt(expected, "it says position " + std::to_string(header.position()));
  if (header.schema_version() > kSchemaVersion)
    return base::fail(base::Kind::kNewer, place(expected) + " has schema version " +
                                              std::to_string(header.schema_version()) +
                                              ", this karst reads up to " +
                                              std::to_string(kSchemaVersion) +
                                              ": use the karst that wrote it, or a newer one");
  if (header.schema_version() == 0 || header.reserved_a() != 0 || header.reserved_b() != 0)
    return corrupt(expected, "schema version 0 or reserved header bytes that are not 0");
  const std::size_t stream_end = kHeaderSize + header.stream_length();
  if (header.stream_length() > kStreamMax || padded(stream_end) > value.size())
    return corrupt(expected, "stream length " + std::to_string(header.stream_length()));
  const std::size_t start = padded(stream_end);
  if (!all_zero(value.substr(stream_end, start - stream_end)))
    return corrupt(expected, "padding after the stream that is not 0");
  if (value.size() - start > kPayloadMax)
    return corrupt(expected, "a payload of " + std::to_string(value.size() - start) + " bytes");
  return start;
}

}  // namespace

void encode_front(model::Position position, const Record& record, std::string& out) {
  KARST_CHECK(record.stream.size() <= kStreamMax, "streams are at most kStreamMax bytes");
  KARST_CHECK(record.payload.size() <= kPayloadMax, "payloads are at most kPayloadMax bytes");
  const log::EnvelopeHeader header(
      position.value(), record.log_time.value(), record.wall_time.value(), record.causation.value(),
      record.correlation.value(), static_cast<std::uint16_t>(record.type),
      static_cast<std::uint16_t>(record.stream.size()), kSchemaVersion, 0, 0);
  out.assign(reinterpret_cast<const char*>(&header), kHeaderSize);
  out.append(record.stream);
  out.append(padded(out.size()) - out.size(), '\0');
}

void encode_event(model::Position position, const Record& record, std::string& out) {
  encode_front(position, record, out);
  out.append(record.payload);
}

std::string encode_event(model::Position position, const Record& record) {
  std::string out;
  encode_event(position, record, out);
  return out;
}

namespace {

// Of a checked front.
Envelope envelope_of(std::string_view value) {
  log::EnvelopeHeader header;
  std::memcpy(&header, value.data(), kHeaderSize);
  Envelope envelope;
  envelope.position = model::Position(header.position());
  envelope.log_time = base::LogTime(header.log_time_millis());
  envelope.wall_time = base::WallTime(header.wall_time_millis());
  envelope.causation = model::Position(header.causation());
  envelope.correlation = model::Position(header.correlation());
  envelope.type = static_cast<EventType>(header.event_type());
  envelope.schema_version = header.schema_version();
  envelope.stream = value.substr(kHeaderSize, header.stream_length());
  return envelope;
}

}  // namespace

base::Result<Event> decode_event(model::Position expected, std::string_view value) {
  KARST_CHECK(reinterpret_cast<std::uintptr_t>(value.data()) % kAlignment == 0,
              "stored bytes are read from an aligned buffer");
  const base::Result<std::size_t> start = check_front(expected, value);
  if (!start) return base::fail(start.error());
  Event event;
  event.envelope = envelope_of(value);
  event.payload = value.substr(*start);
  event.raw = value;
  if (auto status = verify_payload(event.envelope.type, event.payload); !status)
    return base::fail(status.error().with_context(place(expected)));
  return event;
}

std::string_view front_of(std::string_view value) {
  KARST_CHECK(value.size() >= kHeaderSize, "leaves are made of checked events");
  // By bytes, not through the struct: a leaf may be computed from a buffer of any alignment.
  log::EnvelopeHeader header;
  std::memcpy(&header, value.data(), kHeaderSize);
  const std::size_t start = padded(kHeaderSize + header.stream_length());
  KARST_CHECK(value.size() >= start, "leaves are made of checked events");
  return value.substr(0, start);
}

base::Result<Envelope> decode_front(model::Position expected, std::string_view front) {
  KARST_CHECK(reinterpret_cast<std::uintptr_t>(front.data()) % kAlignment == 0,
              "stored bytes are read from an aligned buffer");
  const base::Result<std::size_t> start = check_front(expected, front);
  if (!start) return base::fail(start.error());
  if (*start != front.size()) return corrupt(expected, "bytes after the stream");
  const Envelope envelope = envelope_of(front);
  if (event_type_name(envelope.type).empty())
    return base::fail(base::Kind::kNewer, place(expected) + " has type " +
                                              std::to_string(static_cast<unsigned>(envelope.type)) +
                                              ", which this karst does not know: use a newer one");
  return envelope;
}

base::Sha256Digest leaf_salt(model::Position position, std::string_view log_secret) {
  char bytes[8];
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(position.value() >> (56 - 8 * i));
  return base::hmac_sha256(log_secret, std::string_view(bytes, 8));
}

base::Sha256Digest commitment_of(std::string_view payload, std::string_view salt) {
  return base::sha256_of({salt, payload});
}

std::string leaf_bytes(std::string_view value, std::string_view log_secret) {
  const std::string_view front = front_of(value);
  const base::Sha256Digest salt = leaf_salt(envelope_of(front).position, log_secret);
  const base::Sha256Digest commitment =
      commitment_of(value.substr(front.size()), base::as_text(salt));
  return std::string(front).append(base::as_text(commitment));
}

}  // namespace karst::events
