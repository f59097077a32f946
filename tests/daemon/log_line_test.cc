#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "daemon/log_lines.h"

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
      {HappeningKind::kDeadlineSet,
       "annotated nodeclaim",
       claim,
       {"provider-id", "Node", "karpenter.sh/nodeclaim-termination-timestamp"}},
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

TEST(LogLines, AVoluntaryRemovalIsToldAsKarpentersCommand) {
  struct Case {
    std::int64_t price_nanos;
    std::string command;
  };
  const std::string front = "Empty/logid-42: delete: nodepools=[default]: [node-1] (savings: ";
  for (const Case& c : {Case{42'100'000, front + "$0.04)"}, Case{1'995'000'000, front + "$2.00)"},
                        Case{0, front + "$0.00)"}}) {
    Happening leaving = some(HappeningKind::kLeaving);
    leaving.reason = "empty";
    leaving.offer.price_nanos_per_hour = c.price_nanos;
    const auto said = LogLines("c", "logid").tell({leaving}, Watcher(), 0);
    ASSERT_EQ(said.size(), 1U);
    EXPECT_EQ(Json::parse(said[0])["command"], c.command);
  }
}

// Karpenter has no such line for what its disruption did not choose.
TEST(LogLines, AnyOtherRemovalIsNoDisruption) {
  for (const char* reason : {"expired", "overprovisioned", "node_deleted"}) {
    Happening leaving = some(HappeningKind::kLeaving);
    leaving.reason = reason;
    const auto said = LogLines("c", "l").tell({leaving}, Watcher(), 0);
    ASSERT_EQ(said.size(), 1U);
    const Json line = Json::parse(said[0]);
    EXPECT_EQ(line["message"], "deleting nodeclaim");
    EXPECT_EQ(line["reason"], reason);
    EXPECT_EQ(line["Node"]["name"], "node-1");
  }
}

TEST(LogLines, ADeadlineIsAsTheAnnotationHasIt) {
  Happening set = some(HappeningKind::kDeadlineSet);
  set.millis = 1'721'281'157'346;
  const Json line = Json::parse(LogLines("c", "l").tell({set}, Watcher(), 0).at(0));
  EXPECT_EQ(line["karpenter.sh/nodeclaim-termination-timestamp"], "2024-07-18T05:39:17Z");
}

TEST(LogLines, ProvisioningIsSummedUp) {
  Happening expected = some(HappeningKind::kPodsExpected);
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

TEST(LogLines, APodWithoutAPlaceIsToldOnceInFiveMinutes) {
  Happening left = some(HappeningKind::kPodUnplaced);
  left.namespace_name = "default";
  left.pod = "huge";
  left.pod_uid = "uid";
  left.args = {"web: resources: too large", "batch: taints: not tolerated"};
  const LogLines lines("c", "l");
  Repeated repeated;
  const auto said = lines.tell(repeated.without({left}), Watcher(), 0);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(keys_of(said[0]), joined({kHead, kTail, {"Pod", "error"}}));
  const Json line = Json::parse(said[0]);
  EXPECT_EQ(line["message"], "could not schedule pod");
  EXPECT_EQ(line["Pod"].dump(), R"({"name":"huge","namespace":"default"})");
  EXPECT_EQ(line["error"], "web: resources: too large; batch: taints: not tolerated");
  left.time = left.time + (Repeated::kWindowMillis - 1);
  EXPECT_TRUE(repeated.without({left}).empty());
  EXPECT_EQ(repeated.without({some(HappeningKind::kRegistered)}).size(), 1U);
  left.time = left.time + 1;
  EXPECT_EQ(repeated.without({left}).size(), 1U);
  left.args = {"web: limits: reached"};
  EXPECT_EQ(repeated.without({left}).size(), 1U) << "for another reason";
}

TEST(LogLines, WhatPeopleAlertOnHasKarpentersWords) {
  struct Case {
    HappeningKind kind;
    std::string reason;
    std::vector<std::string> args;
    std::string message, controller, error;
  };
  const std::vector<Case> cases = {
      {HappeningKind::kNoPools, "", {}, "no dynamic nodepools found", "provisioner", ""},
      {HappeningKind::kLeaving,
       "unhealthy",
       {"ready", ""},
       "deleting unhealthy node",
       "node.health",
       ""},
      {HappeningKind::kVerdict,
       "not_ready",
       {"NodeClass not found on cluster"},
       "ignoring nodepool, not ready",
       "provisioner",
       "NodeClass not found on cluster"},
      {HappeningKind::kVerdict,
       "budget_unreadable",
       {"spec.disruption.budgets[0].schedule: bad"},
       "detected disruption budget errors",
       "disruption",
       "invalid disruption.budgets in nodepool default, spec.disruption.budgets[0].schedule: bad"},
      {HappeningKind::kConditionChanged,
       "ConsistentStateFound",
       {"Unknown", "False", "ConsistencyCheckFailed", "too small"},
       "failed consistency check",
       "nodeclaim.consistency",
       "too small"},
  };
  for (const Case& c : cases) {
    Happening h = some(c.kind);
    h.reason = c.reason;
    h.args = c.args;
    const auto said = LogLines("c", "l").tell({h}, Watcher(), 0);
    ASSERT_EQ(said.size(), 1U) << c.message;
    const Json line = Json::parse(said[0]);
    EXPECT_EQ(line["message"], c.message);
    EXPECT_EQ(line["controller"], c.controller);
    EXPECT_EQ(line.value("error", ""), c.error);
    EXPECT_EQ(line["level"], c.error.empty() ? "INFO" : "ERROR");
  }
  Happening good = some(HappeningKind::kConditionChanged);
  good.reason = "ConsistentStateFound";
  good.args = {"False", "True", "ConsistentStateFound", ""};
  EXPECT_TRUE(LogLines("c", "l").tell({good}, Watcher(), 0).empty());
}

TEST(LogLines, AShadowSaysWhatItWouldHaveDone) {
  struct Case {
    std::string kind, reason, message, controller;
    std::vector<std::string> own;
  };
  const std::vector<Case> cases = {
      {"create-nodeclaim",
       "provisioned",
       "would have created nodeclaim",
       "provisioner",
       {"NodePool", "NodeClaim", "requests", "instance-types", "not-sent"}},
      {"taint-node",
       "empty",
       "would have tainted node",
       "disruption",
       {"reason", "NodeClaim", "Node", "kind", "not-sent"}},
      {"delete-object",
       "spot_interrupted",
       "would have deleted nodeclaim",
       "interruption",
       {"reason", "NodeClaim", "Node", "kind", "not-sent"}},
  };
  for (const Case& c : cases) {
    Happening h = some(HappeningKind::kNotSent);
    h.reason = c.reason;
    h.args = {c.kind, "log-7"};
    const auto said = LogLines("commit", "log").tell({h}, Watcher(), 0);
    ASSERT_EQ(said.size(), 1U) << c.kind;
    const Json line = Json::parse(said[0]);
    EXPECT_EQ(line["message"], c.message);
    EXPECT_EQ(line["controller"], c.controller);
    EXPECT_EQ(line["not-sent"], "log-7");
    EXPECT_EQ(keys_of(said[0]), joined({kHead, kTail, c.own})) << c.kind;
  }
}

TEST(LogLines, BelowTheLevelNothingIsSaid) {
  const std::vector<Happening> both = {some(HappeningKind::kRegistered),
                                       some(HappeningKind::kLaunchRefused)};
  EXPECT_EQ(LogLines("c", "l", LogLevel::kInfo).tell(both, Watcher(), 0).size(), 2U);
  const LogLines errors("c", "l", LogLevel::kError);
  ASSERT_EQ(errors.tell(both, Watcher(), 0).size(), 1U);
  EXPECT_EQ(Json::parse(errors.tell(both, Watcher(), 0)[0])["level"], "ERROR");
  EXPECT_TRUE(errors.remark(LogLevel::kWarn, base::WallTime(0), "x").empty());
  EXPECT_FALSE(errors.remark(LogLevel::kError, base::WallTime(0), "x").empty());
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
