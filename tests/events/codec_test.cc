#include "events/codec.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <set>

#include "events/json_text.h"
#include "nlohmann/json.hpp"
#include "tests/events/fill.h"

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
    FillRandom fill(seed);
    for (Body& body : default_bodies()) {
      walk(fill, body);
      RC_ASSERT(canonical(round_trip(body)) == canonical(body));
    }
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

TEST(Codec, NamesAndNumbersOfEnumsAgreeWithTheSchema) {
  PodObserved pod;
  pod.pod.phase = model::PodPhase::kFailed;
  const Aligned payload(encode_payload(pod));
  const auto json = nlohmann::json::parse(*payload_json(EventType::kPodObserved, payload.view()));
  EXPECT_EQ(json["phase"], "Failed");
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

TEST(Codec, UnknownTypeIsNewer) {
  for (const int type : {0, 23, 99, 111, 149, 152, 201, 303, 406, 65535}) {
    const auto status = verify_payload(static_cast<EventType>(type), std::string_view());
    ASSERT_FALSE(status) << type;
    EXPECT_EQ(status.error().kind, base::Kind::kNewer) << type;
    EXPECT_NE(status.error().message.find(std::to_string(type)), std::string::npos);
  }
}

TEST(Codec, JsonOfEveryTypeParsesAndNamesItsFields) {
  for (const Body& body : full_bodies()) {
    const Record record = make_record(body);
    const Aligned value(encode_event(model::Position(7), record));
    const auto event = decode_event(model::Position(7), value.view());
    ASSERT_TRUE(event);
    const auto text = event_json(*event);
    ASSERT_TRUE(text) << text.error().message;
    EXPECT_EQ(text->find('\n'), std::string::npos);
    const auto json = nlohmann::json::parse(*text);
    EXPECT_EQ(json["type"], event_type_name(record.type));
    EXPECT_EQ(json["position"], 7);
    EXPECT_EQ(json["stream"], record.stream);
    EXPECT_FALSE(json["payload"].empty()) << *text;
  }
}

TEST(Codec, JsonIsExact) {
  Record record =
      make_record(model::Command{"lifecycle",
                                 "expired",
                                 {model::Position(3)},
                                 model::TaintNode{model::NodeName("a\"b\n\xC3\xA4"),
                                                  model::NodeUid("u"),
                                                  {"k", "v", model::TaintEffect::kNoExecute},
                                                  true}});
  record.log_time = base::LogTime(1'000);
  record.wall_time = base::WallTime(2'500);
  record.causation = model::Position(3);
  record.correlation = model::Position(2);
  const Aligned value(encode_event(model::Position(9), record));
  const auto text = event_json(*decode_event(model::Position(9), value.view()));
  ASSERT_TRUE(text);
  EXPECT_EQ(nlohmann::json::parse(*text),
            nlohmann::json::parse(R"({"position":9,"log_time":"1970-01-01T00:00:01.000Z",
    "wall_time":"1970-01-01T00:00:02.500Z","type":"TaintRequested","stream":"node/a\"b\nä",
    "causation":3,"correlation":2,"payload":{
    "why":{"rule":"lifecycle","reason":"expired","evidence":[3]},"node":"a\"b\nä","node_uid":"u",
    "taint":{"key":"k","value":"v","effect":"NoExecute"},"add":true}})"));
}

TEST(Body, TypesHaveNamesThatAreTheirOwn) {
  std::set<EventType> types;
  std::set<std::string_view> names;
  for (const Body& body : default_bodies()) {
    types.insert(type_of(body));
    names.insert(event_type_name(type_of(body)));
  }
  EXPECT_EQ(types.size(), std::variant_size_v<Body> - 1 + std::variant_size_v<model::CommandSpec>);
  EXPECT_EQ(names.size(), types.size());
  EXPECT_EQ(names.count(""), 0u);
  EXPECT_EQ(event_type_name(static_cast<EventType>(99)), "");
}

TEST(Body, OnlyWhatReconcilersWriteIsADecision) {
  std::set<std::string_view> decisions;
  for (const Body& body : default_bodies())
    if (is_decision(type_of(body))) decisions.insert(event_type_name(type_of(body)));
  EXPECT_EQ(decisions.size(), std::variant_size_v<model::CommandSpec> + 5);
  for (const char* name : {"AttemptStarted", "CommandAbandoned", "VerdictReached", "PodsNominated",
                           "ProvisioningHeld"})
    EXPECT_EQ(decisions.count(name), 1u) << name;
  for (const char* name : {"PodObserved", "OutcomeReceived", "RoundClosed", "LogCreated"})
    EXPECT_EQ(decisions.count(name), 0u) << name;
}

TEST(Body, Streams) {
  model::Pod pod;
  pod.uid = model::PodUid("u1");
  model::NodeClass node_class;
  node_class.ref = {"g", "KWOKNodeClass", "default"};
  model::Interruption to_instance;
  to_instance.provider_id = model::ProviderId("kwok://a");
  model::Interruption to_nobody;
  to_nobody.message = model::MessageId("m1");
  model::Nomination on_claim;
  on_claim.claim = model::ClaimName("c1");
  model::Nomination on_node;
  on_node.node = model::NodeName("n1");
  model::Outcome outcome;
  outcome.command = model::Position(12);
  const struct {
    const char* name;
    Body input;
    const char* want;
  } cases[] = {
      {"pod", PodObserved{pod}, "pod/u1"},
      {"pod gone", PodGone{pod.uid, "ns", "p"}, "pod/u1"},
      {"node", NodeGone{model::NodeUid("x"), model::NodeName("n1")}, "node/n1"},
      {"claim", NodeClaimGone{model::ClaimUid("x"), model::ClaimName("c1")}, "nodeclaim/c1"},
      {"pool", NodePoolGone{model::PoolName("p1")}, "nodepool/p1"},
      {"class", NodeClassObserved{node_class}, "nodeclass/KWOKNodeClass/default"},
      {"daemonset", DaemonSetGone{"d1"}, "daemonset/d1"},
      {"shape", ShapeRecorded{{1, 2}, {}}, "shape/00000000000000010000000000000002"},
      {"prices", PricesObserved{{"kwok", {}}}, "catalogue/kwok"},
      {"interruption", InterruptionReceived{to_instance}, "instance/kwok://a"},
      {"interruption of nothing", InterruptionReceived{to_nobody}, "message/m1"},
      {"list", ListStarted{"Pod"}, "source/Pod"},
      {"command", model::Command{"r", "c", {}, model::Terminate{model::ProviderId("i1"), {}}},
       "instance/i1"},
      {"outcome", outcome, "command/12"},
      {"nominated to a claim", on_claim, "nodeclaim/c1"},
      {"nominated to a node", on_node, "node/n1"},
      {"verdict", model::Verdict{"shape/ab", "r", "c", {}}, "shape/ab"},
      {"round", RoundClosed{}, "round"},
      {"start", DaemonStarted{}, "log"},
  };
  for (const auto& c : cases) EXPECT_EQ(stream_of(c.input), c.want) << c.name;
}

TEST(Codec, AStreamFromOutsideIsCutToItsBoundBetweenCharacters) {
  const Record record =
      make_record(PodGone{model::PodUid(std::string(kStreamMax - 5, 'x') + "\xC3\xA4"), "", ""});
  EXPECT_EQ(record.stream, "pod/" + std::string(kStreamMax - 5, 'x'));
}

}  // namespace
}  // namespace karst::events::testing
