#include "events/codec.h"

#include <flatbuffers/flatbuffers.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "tests/events/fill.h"
#include "tests/events/parts.h"

namespace karst::events::testing {
namespace {

Body round_trip(const Body& body) {
  const Aligned payload(encode_payload(body));
  EXPECT_TRUE(verify_payload(type_of(body), payload.view()));
  return decode_payload(type_of(body), payload.view());
}

TEST(Codec, EveryMemberOfEveryEventComesBack) {
  for (const Body& body : full_bodies())
    EXPECT_EQ(canonical(round_trip(body)), canonical(body)) << event_type_name(type_of(body));
}

TEST(Codec, DefaultsComeBack) {
  for (const Body& body : default_bodies())
    EXPECT_EQ(canonical(round_trip(body)), canonical(body)) << event_type_name(type_of(body));
}

TEST(Codec, AnythingComesBack) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    for (const Body& body : random_bodies(seed))
      RC_ASSERT(canonical(round_trip(body)) == canonical(body));
  }));
}

TEST(Codec, EveryEnumValueComesBack) {
  for (int phase = 0; phase < kValues<model::PodPhase>; ++phase) {
    PodObserved pod;
    pod.pod.phase = static_cast<model::PodPhase>(phase);
    EXPECT_EQ(std::get<PodObserved>(round_trip(pod)).pod.phase, pod.pod.phase);
  }
  for (int kind = 0; kind < kValues<model::InterruptionKind>; ++kind) {
    InterruptionReceived event;
    event.interruption.kind = static_cast<model::InterruptionKind>(kind);
    EXPECT_EQ(std::get<InterruptionReceived>(round_trip(event)).interruption, event.interruption);
  }
  for (int code = 0; code < kValues<model::RefusalCode>; ++code) {
    model::Outcome outcome;
    outcome.code = static_cast<model::RefusalCode>(code);
    EXPECT_EQ(std::get<model::Outcome>(round_trip(outcome)), outcome);
  }
}

TEST(Codec, SameValueSameBytes) {
  const std::vector<Body> bodies = full_bodies();
  std::vector<std::string> first;
  for (const Body& body : bodies) first.push_back(encode_payload(body));
  // In another order, so that nothing of an earlier encoding can show.
  for (std::size_t i = bodies.size(); i-- > 0;)
    EXPECT_EQ(encode_payload(bodies[i]), first[i]) << event_type_name(type_of(bodies[i]));
}

TEST(Codec, EveryTruncationIsRefusedOrReadable) {
  for (const Body& body : full_bodies()) {
    const std::string whole = encode_payload(body);
    int refused = 0;
    for (std::size_t size = 0; size < whole.size(); ++size) {
      // A heap block of exactly this size, so that a sanitizer sees a read past its end.
      std::vector<char> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      const std::string_view view(cut.data(), cut.size());
      if (verify_payload(type_of(body), view))
        decode_payload(type_of(body), view);
      else
        ++refused;
    }
    EXPECT_GT(refused, 0) << event_type_name(type_of(body));
  }
}

TEST(Codec, EveryFlippedByteIsRefusedOrReadable) {
  for (const Body& body : full_bodies()) {
    Aligned payload(encode_payload(body));
    for (std::size_t at = 0; at < payload.view().size(); ++at) {
      for (const char flip : {'\x01', '\x80', '\xff'}) {
        payload.data()[at] = static_cast<char>(payload.data()[at] ^ flip);
        if (verify_payload(type_of(body), payload.view()))
          decode_payload(type_of(body), payload.view());
        payload.data()[at] = static_cast<char>(payload.data()[at] ^ flip);
      }
    }
  }
}

TEST(Codec, AnotherTypesBytesAreRefusedOrReadable) {
  const std::vector<Body> bodies = full_bodies();
  int refused = 0;
  for (const Body& body : bodies) {
    const Aligned payload(encode_payload(body));
    for (const Body& other : bodies) {
      const auto status = verify_payload(type_of(other), payload.view());
      if (status) {
        decode_payload(type_of(other), payload.view());
      } else {
        EXPECT_EQ(status.error().kind, base::Kind::kCorrupt);
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 1000);
}

TEST(Codec, PricesOfALogThatDoesNotSayWhichWereReadWereAllRead) {
  flatbuffers::FlatBufferBuilder builder;
  const auto provider = builder.CreateString("aws");
  const auto start = builder.StartTable();  // as it was before it said so: its first field alone
  builder.AddOffset(4, provider);
  builder.Finish(flatbuffers::Offset<void>(builder.EndTable(start)));
  const Aligned payload({reinterpret_cast<const char*>(builder.GetBufferPointer()),
                         static_cast<std::size_t>(builder.GetSize())});
  ASSERT_TRUE(verify_payload(EventType::kPricesObserved, payload.view()));
  const auto prices =
      std::get<PricesObserved>(decode_payload(EventType::kPricesObserved, payload.view()));
  EXPECT_EQ(prices.update.provider, "aws");
  EXPECT_TRUE(prices.on_demand_read && prices.spot_read);
}

TEST(Codec, ACatalogueNamesEachTextOnce) {
  CatalogueObserved sold;
  const std::size_t before = encode_payload(sold).size();
  const std::string zone(1000, 'z');
  model::InstanceType type;
  type.offerings.resize(50, {zone, "spot", 1, true});
  type.requirements.resize(50, {zone, model::Operator::kIn, {zone}, 0});
  sold.catalogue.types.resize(3, type);
  EXPECT_LT(encode_payload(sold).size(), before + 20'000);
  PricesObserved prices;
  prices.update.prices.resize(50, {"m5.large", zone, "spot", 1, ""});
  EXPECT_GT(encode_payload(prices).size(), 50'000U) << "others are as they were";
}

TEST(Codec, UnknownTypeIsNewer) {
  for (const int type : {0, 34, 49, 51, 99, 116, 149, 152, 201, 303, 413, 65535}) {
    const auto status = verify_payload(static_cast<EventType>(type), std::string_view());
    ASSERT_FALSE(status) << type;
    EXPECT_EQ(status.error().kind, base::Kind::kNewer) << type;
    EXPECT_NE(status.error().message.find(std::to_string(type)), std::string::npos);
  }
}

TEST(Codec, AStreamFromOutsideIsCutToItsBoundBetweenCharacters) {
  const Record record =
      make_record(PodGone{model::PodUid(std::string(kStreamMax - 5, 'x') + "\xC3\xA4"), "", ""});
  EXPECT_EQ(record.stream, "pod/" + std::string(kStreamMax - 5, 'x'));
}

}  // namespace
}  // namespace karst::events::testing
