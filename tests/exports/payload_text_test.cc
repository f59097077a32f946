#include "exports/payload_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/sha256.h"
#include "events/codec.h"
#include "events/json_text.h"
#include "tests/events/fill.h"

namespace karst::exports {
namespace {

using Json = nlohmann::json;

std::string text_of(const events::Body& body) {
  const events::testing::Aligned raw(
      events::encode_event(model::Position(7), events::make_record(body)));
  const auto event = events::decode_event(model::Position(7), raw.view());
  EXPECT_TRUE(event);
  const auto text = payload_text(*event);
  EXPECT_TRUE(text) << text.error().message;
  return text ? *text : "";
}

Json only_hash(std::string_view bytes) {
  return {{"sha256", base::hex_lower(base::sha256(bytes))}, {"bytes", bytes.size()}};
}

TEST(PayloadText, HasTheHashOfANodeClassesUserData) {
  events::NodeClassObserved seen;
  seen.node_class.ref.name = "default";
  seen.node_class.spec_json = R"({"role":"nodes","userData":"echo CANARY"})";
  const std::string text = text_of(seen);
  EXPECT_EQ(text.find("CANARY"), std::string::npos) << text;
  const Json spec = Json::parse(Json::parse(text)["spec_json"].get<std::string>());
  EXPECT_EQ(spec["role"], "nodes");
  EXPECT_EQ(spec["userData"], only_hash("echo CANARY"));

  seen.node_class.spec_json = R"({"userData":{"nested":"CANARY"}})";
  EXPECT_EQ(text_of(seen).find("CANARY"), std::string::npos);
  seen.node_class.spec_json = "CANARY, and no JSON";
  EXPECT_EQ(Json::parse(text_of(seen))["spec_json"], only_hash(seen.node_class.spec_json));
  seen.node_class.spec_json = "[\"CANARY\"]";  // JSON, and no object
  EXPECT_EQ(text_of(seen).find("CANARY"), std::string::npos);
}

TEST(PayloadText, IsThePayloadOtherwise) {
  for (const events::Body& body : events::testing::full_bodies()) {
    const auto type = events::type_of(body);
    const events::testing::Aligned payload(events::encode_payload(body));
    Json want = Json::parse(*events::payload_json(type, payload.view()));
    Json got = Json::parse(text_of(body));
    for (Json* json : {&want, &got}) {
      if (type == events::EventType::kLaunchRequested) json->erase("request");
      if (type == events::EventType::kNodeClassObserved) json->erase("spec_json");
    }
    EXPECT_EQ(got, want) << events::event_type_name(type);
  }
}

}  // namespace
}  // namespace karst::exports
