#include "daemon/log_line.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace karst::daemon {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> keys_of(const std::string& line) {
  std::vector<std::string> keys;
  const Json parsed = Json::parse(line);
  for (const auto& [key, value] : parsed.items()) keys.push_back(key);
  return keys;
}

Happening some(HappeningKind kind) {
  Happening h;
  h.kind = kind;
  h.time = base::LogTime(1'721'281'157'346);
  h.position = model::Position(42);
  h.claim = "default-x7k2p";
  h.pool = "default";
  h.node = "node-1";
  h.provider_id = "kwok://node-1";
  h.offer = {"c-4x", "zone-a", "spot", 42'100'000};
  h.resources.cpu_millis = 1'510;
  h.resources.memory_bytes = std::int64_t{690} << 20;
  h.resources.pods = 4;
  return h;
}

const std::vector<std::string> kHead = {"level",   "time",   "logger",
                                        "message", "commit", "controller"};
const std::vector<std::string> kTail = {"namespace", "name", "reconcileID"};

std::vector<std::string> joined(std::vector<std::vector<std::string>> parts) {
  std::vector<std::string> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

TEST(LogLines, KeysAreInKarpentersOrder) {
  struct Case {
    HappeningKind kind;
    std::string message;
    std::vector<std::string> object;  // between controller and namespace
    std::vector<std::string> own;
  };
  const std::vector<std::string> claim = {"controllerGroup", "controllerKind", "NodeClaim"};
  const std::vector<std::string> node = {"controllerGroup", "controllerKind", "Node"};
  const std::vector<Case> cases = {
      {HappeningKind::kClaimCreated,
       "created nodeclaim",
       {},
       {"NodePool", "NodeClaim", "requests", "instance-types"}},
      {HappeningKind::kLaunched,
       "launched nodeclaim",
       claim,
       {"provider-id", "instance-type", "zone", "capacity-type", "allocatable"}},
      {HappeningKind::kRegistered, "registered nodeclaim", claim, {"provider-id", "Node"}},
      {HappeningKind::kInitialized,
       "initialized nodeclaim",
       claim,
       {"provider-id", "Node", "allocatable"}},
      {HappeningKind::kClaimGone, "deleted nodeclaim", claim, {"provider-id", "Node"}},
      {HappeningKind::kLaunchRefused, "failed launching nodeclaim", claim, {"error"}},
      {HappeningKind::kTainted,
       "tainted node",
       node,
       {"NodeClaim", "taint.Key", "taint.Value", "taint.Effect"}},
      {HappeningKind::kNodeGone, "deleted node", node, {"NodeClaim"}},
      {HappeningKind::kLeaving,
       "disrupting node(s)",
       {},
       {"command", "decision", "disrupted-node-count", "replacement-node-count", "pod-count",
        "disrupted-nodes", "replacement-nodes"}},
  };
  const LogLines lines("0123abcd", "logid");
  for (const Case& c : cases) {
    Happening h = some(c.kind);
    h.reason = "empty";
    const auto said = lines.tell({h}, Watcher(), 0);
    ASSERT_EQ(said.size(), 1U) << c.message;
    EXPECT_EQ(Json::parse(said[0])["message"], c.message);
    EXPECT_EQ(keys_of(said[0]), joined({kHead, c.object, kTail, c.own})) << c.message;
  }
}

TEST(LogLines, WholeLines) {
  Happening created = some(HappeningKind::kClaimCreated);
  created.instance_types = {"a", "b", "c", "d", "e", "f", "g"};
  const LogLines lines("0123abcd", "logid");
  EXPECT_EQ(
      lines.tell({created}, Watcher(), 0),
      (std::vector<std::string>{
          R"({"level":"INFO","time":"2024-07-18T05:39:17.346Z","logger":"controller",)"
          R"("message":"created nodeclaim","commit":"0123abcd","controller":"provisioner",)"
          R"("namespace":"","name":"","reconcileID":"logid-42","NodePool":{"name":"default"},)"
          R"("NodeClaim":{"name":"default-x7k2p"},)"
          R"("requests":{"cpu":"1510m","memory":"690Mi","pods":"4"},)"
          R"j("instance-types":"a, b, c, d, e and 2 other(s)"})j"}));
  Happening interrupted = some(HappeningKind::kLeaving);
  interrupted.reason = "spot_interrupted";
  EXPECT_EQ(lines.tell({interrupted}, Watcher(), 0),
            (std::vector<std::string>{
                R"({"level":"INFO","time":"2024-07-18T05:39:17.346Z","logger":"controller",)"
                R"("message":"initiating delete from interruption message","commit":"0123abcd",)"
                R"("controller":"interruption","namespace":"","name":"","reconcileID":"logid-42",)"
                R"("queue":"","messageKind":"spot_interrupted",)"
                R"("NodeClaim":{"name":"default-x7k2p"},"action":"CordonAndDrain",)"
                R"("Node":{"name":"node-1"}})"}));
}

TEST(LogLines, ProvisioningIsSummedUp) {
  Happening expected = some(HappeningKind::kPodsExpected);
  expected.node = "";
  expected.args = {"default/a", "default/b"};
  const LogLines lines("c", "l");
  const auto said = lines.tell({expected}, Watcher(), 12);
  ASSERT_EQ(said.size(), 2U);
  const Json found = Json::parse(said[0]);
  EXPECT_EQ(found["message"], "found provisionable pod(s)");
  EXPECT_EQ(found["Pods"], "default/a, default/b");
  EXPECT_EQ(found["duration"], "12ms");
  const Json computed = Json::parse(said[1]);
  EXPECT_EQ(computed["message"], "computed unready node(s) will fit pod(s)")
      << "the claim exists already";
  EXPECT_EQ(computed["pods"], 2);
}

TEST(LogLines, TextIsEscaped) {
  const std::string line =
      LogLine(LogLevel::kError, 0, "a\"b\\c\nd\x01", "c", {"karst", "", "", ""}, "r")
          .text("error", "tab\there")
          .take();
  const Json parsed = Json::parse(line);
  EXPECT_EQ(parsed["message"], "a\"b\\c\nd\x01");
  EXPECT_EQ(parsed["error"], "tab\there");
  EXPECT_EQ(parsed["level"], "ERROR");
}

}  // namespace
}  // namespace karst::daemon
