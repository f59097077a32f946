#include "events/json_text.h"

#include <flatbuffers/idl.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/utf8.h"
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
    const std::string text = event_json(*event);
    EXPECT_EQ(text.find('\n'), std::string::npos);
    const auto json = nlohmann::json::parse(text);
    EXPECT_EQ(json["type"], event_type_name(record.type));
    EXPECT_EQ(json["position"], 7);
    EXPECT_EQ(json["stream"], record.stream);
    EXPECT_FALSE(json["payload"].empty()) << text;
  }
}

struct SchemaText {
  std::string_view name, text;
};
constexpr SchemaText kSchemaTexts[] = {
#include "schemas/schema_text.inc"
};

// What flatbuffers itself makes of a payload.
std::string generated(EventType type, std::string_view payload) {
  flatbuffers::IDLOptions options;
  options.strict_json = true;
  options.indent_step = -1;
  static flatbuffers::Parser parser(options);
  static const bool parsed = [] {
    std::string whole;
    for (const bool common : {true, false})
      for (const SchemaText& schema : kSchemaTexts)
        if ((schema.name == "common.fbs") == common) whole += std::string(schema.text) + "\n";
    for (std::size_t at; (at = whole.find("\ninclude ")) != std::string::npos;)
      whole.erase(at + 1, whole.find('\n', at + 1) - at);
    return parser.Parse(whole.c_str());
  }();
  EXPECT_TRUE(parsed) << parser.error_;
  EXPECT_TRUE(parser.SetRootType(("karst.log." + std::string(event_type_name(type))).c_str()));
  std::string text;
  return flatbuffers::GenerateText(parser, payload.data(), &text) ? text : "not UTF-8";
}

// The same as flatbuffers' own; where that refuses, because of bytes that are no UTF-8, JSON that
// shows where they are. False: it refused.
bool is_as_generated(const std::string& text, EventType type, std::string_view payload) {
  const std::string theirs = generated(type, payload);
  if (theirs != "not UTF-8") {
    EXPECT_EQ(text, theirs);
    return true;
  }
  EXPECT_TRUE(nlohmann::json::accept(text)) << text;
  EXPECT_NE(text.find("\\uFFFD"), std::string::npos) << text;
  return false;
}

TEST(JsonText, IsThatOfFlatbuffersByteForByte) {
  std::vector<Body> bodies = default_bodies();
  for (const Body& body : full_bodies()) bodies.push_back(body);
  for (std::uint64_t seed = 1; seed <= 30; ++seed)
    for (Body& body : random_bodies(seed)) bodies.push_back(std::move(body));
  std::size_t texts = 0;
  for (const Body& body : bodies) {
    const Aligned payload(encode_payload(body));
    const auto text = payload_json(type_of(body), payload.view());
    ASSERT_TRUE(text);
    texts += is_as_generated(*text, type_of(body), payload.view()) ? 1 : 0;
  }
  EXPECT_GT(texts, 200U);
}

TEST(JsonText, EscapesAsFlatbuffersDoes) {
  for (const std::string name : {"", "\x7f", "a\nb\tc\r\b\f\"\\/", "\xC3\xA4\xE2\x82\xAC",
                                 "\x01\x1f", "\xF0\x9F\x98\x80", "\xff", "ok\xC3"}) {
    PodGone gone;
    gone.name = name;
    const Aligned payload(encode_payload(gone));
    const auto text = payload_json(EventType::kPodGone, payload.view());
    ASSERT_TRUE(text);
    EXPECT_EQ(is_as_generated(*text, EventType::kPodGone, payload.view()), base::is_utf8(name));
  }
}

// Text is looked at eight characters at a time: every byte, at every place in a word and behind it,
// beside neighbours at the edges of what is plain.
TEST(JsonText, EscapesEveryByteAtEveryPlace) {
  for (const std::size_t length : {1U, 7U, 8U, 9U, 16U, 21U})
    for (std::size_t place = 0; place < length; ++place)
      for (unsigned byte = 0; byte < 256; ++byte) {
        PodGone gone;
        for (std::size_t i = 0; i < length; ++i) gone.name += " ~!#[]"[(i + byte) % 6];
        gone.name[place] = static_cast<char>(byte);
        const Aligned payload(encode_payload(gone));
        const auto text = payload_json(EventType::kPodGone, payload.view());
        ASSERT_TRUE(text);
        ASSERT_EQ(is_as_generated(*text, EventType::kPodGone, payload.view()), byte < 0x80)
            << gone.name;
      }
}

// What is there is kept, whether or not its room is enough.
TEST(JsonText, IsAppended) {
  PodGone gone;
  gone.name = std::string(5'000, '"');  // each becomes two
  const Record record = make_record(gone);
  const Aligned value(encode_event(model::Position(7), record));
  const auto event = decode_event(model::Position(7), value.view());
  ASSERT_TRUE(event);
  std::string text = "before ";
  append_event_json(*event, text);
  EXPECT_EQ(text, "before " + event_json(*event));
  EXPECT_EQ(nlohmann::json::parse(text.substr(7))["payload"]["name"], gone.name);
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
  const std::string text = event_json(*decode_event(model::Position(9), value.view()));
  EXPECT_EQ(nlohmann::json::parse(text),
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
