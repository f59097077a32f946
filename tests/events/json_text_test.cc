#include "events/json_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "events/codec.h"
#include "tests/events/fill.h"

namespace karst::events::testing {
namespace {

TEST(JsonText, OfEveryTypeParsesAndNamesItsFields) {
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

TEST(JsonText, IsExact) {
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

TEST(JsonText, NamesAndNumbersOfEnumsAgreeWithTheSchema) {
  PodObserved pod;
  pod.pod.phase = model::PodPhase::kFailed;
  const Aligned payload(encode_payload(pod));
  const auto json = nlohmann::json::parse(*payload_json(EventType::kPodObserved, payload.view()));
  EXPECT_EQ(json["phase"], "Failed");
}

}  // namespace
}  // namespace karst::events::testing
