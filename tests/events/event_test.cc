#include "events/event.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "events/codec.h"
#include "tests/events/fill.h"

namespace karst::events::testing {
namespace {

Record sample() {
  Record record = make_record(SourceBeat{"Pod", "4711"});
  record.log_time = base::LogTime(0x0102030405060708);
  record.wall_time = base::WallTime(-2);
  record.causation = model::Position(5);
  record.correlation = model::Position(4);
  return record;
}

std::string little(std::uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}

// The layout written out by hand: these bytes are in every log and proof.
TEST(Event, TheLayoutIsTheDocumentedOne) {
  const Record record = sample();
  const std::string stream = "source/Pod";
  const std::string want = little(6, 8) + little(0x0102030405060708, 8) +
                           little(~std::uint64_t{1}, 8) + little(5, 8) + little(4, 8) +
                           little(21, 2) + little(stream.size(), 2) + little(1, 1) + little(0, 3) +
                           stream + std::string(6, '\0') + record.payload;
  EXPECT_EQ(encode_event(model::Position(6), record), want);
}

TEST(Event, ComesBack) {
  const Record record = sample();
  const Aligned value(encode_event(model::Position(6), record));
  const auto event = decode_event(model::Position(6), value.view());
  ASSERT_TRUE(event) << event.error().message;
  EXPECT_EQ(event->envelope.position, model::Position(6));
  EXPECT_EQ(event->envelope.log_time, record.log_time);
  EXPECT_EQ(event->envelope.wall_time, record.wall_time);
  EXPECT_EQ(event->envelope.causation, record.causation);
  EXPECT_EQ(event->envelope.correlation, record.correlation);
  EXPECT_EQ(event->envelope.type, record.type);
  EXPECT_EQ(event->envelope.stream, record.stream);
  EXPECT_EQ(event->payload, record.payload);
  EXPECT_EQ(canonical(decode_body(*event)), canonical(SourceBeat{"Pod", "4711"}));
}

TEST(Event, StreamsOfEveryLengthAreAligned) {
  for (std::size_t length : {0, 1, 7, 8, 9, 511, 512}) {
    Record record = sample();
    record.stream.assign(length, 's');
    const Aligned value(encode_event(model::Position(1), record));
    const auto event = decode_event(model::Position(1), value.view());
    ASSERT_TRUE(event) << length;
    EXPECT_EQ(event->envelope.stream.size(), length);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(event->payload.data()) % 8, 0u);
  }
}

TEST(Event, DamageIsNamedWithItsPosition) {
  const std::string good = encode_event(model::Position(6), sample());
  const struct {
    const char* name;
    std::size_t at;
    char byte;
    base::Kind want;
  } cases[] = {
      {"position", 0, 7, base::Kind::kCorrupt},
      {"unknown type", 40, 99, base::Kind::kNewer},
      {"type above a byte", 41, 50, base::Kind::kNewer},
      {"stream too long", 43, 3, base::Kind::kCorrupt},
      {"stream past the end", 42, '\xff', base::Kind::kCorrupt},
      {"schema version 2", 44, 2, base::Kind::kNewer},
      {"schema version 0", 44, 0, base::Kind::kCorrupt},
      {"reserved a", 45, 1, base::Kind::kCorrupt},
      {"reserved b, low", 46, 1, base::Kind::kCorrupt},
      {"reserved b, high", 47, 1, base::Kind::kCorrupt},
      {"padding", 59, 1, base::Kind::kCorrupt},
      {"payload's root", 64, '\xff', base::Kind::kCorrupt},
  };
  for (const auto& c : cases) {
    Aligned value(good);
    value.data()[c.at] = c.byte;
    const auto event = decode_event(model::Position(6), value.view());
    ASSERT_FALSE(event) << c.name;
    EXPECT_EQ(event.error().kind, c.want) << c.name << ": " << event.error().message;
    EXPECT_NE(event.error().message.find("position 6"), std::string::npos) << event.error().message;
  }
}

TEST(Event, EveryTruncationIsRefusedOrReadable) {
  const Aligned value(encode_event(model::Position(6), sample()));
  for (std::size_t size = 0; size < value.view().size(); ++size) {
    const auto event = decode_event(model::Position(6), value.first(size));
    if (event) decode_body(*event);
    EXPECT_FALSE(event && size < kHeaderSize) << size;
  }
}

TEST(Event, APayloadAboveItsBoundIsRefused) {
  Record record = sample();
  record.payload.assign(kPayloadMax, 'x');
  std::string bytes = encode_event(model::Position(6), record);
  bytes += "one more";
  const Aligned value(bytes);
  const auto event = decode_event(model::Position(6), value.view());
  ASSERT_FALSE(event);
  EXPECT_EQ(event.error().kind, base::Kind::kCorrupt);
}

std::string openssl_hmac(std::string_view key, std::string_view text) {
  unsigned char out[32];
  unsigned size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), out, &size);
  return std::string(reinterpret_cast<char*>(out), size);
}
std::string openssl_sha256(std::string_view text) {
  unsigned char out[32];
  EVP_Digest(text.data(), text.size(), out, nullptr, EVP_sha256(), nullptr);
  return std::string(reinterpret_cast<char*>(out), 32);
}

TEST(Event, TheLeafHasTheEnvelopeAndASaltedHashOfThePayload) {
  const std::string secret = "0123456789abcdef0123456789abcdef";
  const Record record = sample();
  const std::string value = encode_event(model::Position(0x0102), record);
  const std::string salt = openssl_hmac(secret, std::string_view("\0\0\0\0\0\0\1\2", 8));
  const std::string front = value.substr(0, 64);
  EXPECT_EQ(leaf_bytes(value, secret), front + openssl_sha256(salt + record.payload));
  EXPECT_NE(leaf_bytes(value, secret), leaf_bytes(value, "another secret"));
}

// Computed once by other means (python3: hashlib, hmac), so that a change of the format cannot pass
// unseen.
TEST(Event, TheLeafIsKnown) {
  Record record;
  record.type = EventType::kWallClockJumped;
  record.stream = "log";
  record.payload = "payload!";
  record.log_time = base::LogTime(1);
  record.wall_time = base::WallTime(2);
  record.causation = model::Position(3);
  record.correlation = model::Position(4);
  const std::string leaf = leaf_bytes(encode_event(model::Position(5), record), "secret");
  const std::string hash = leaf.substr(leaf.size() - 32);
  EXPECT_EQ(base::hex_lower({reinterpret_cast<const std::uint8_t*>(hash.data()), 32}),
            "4f945c120092214e60567f5639d34a76dbc22f9c57998e7ec98596498d19fe4c");
  EXPECT_EQ(leaf.size(), 48u + 8u + 32u);
}

}  // namespace
}  // namespace karst::events::testing
