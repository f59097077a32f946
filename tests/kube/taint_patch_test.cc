// Patches of a node's taints: each operation is about one taint, whoever else writes the list.
#include <nlohmann/json.hpp>

#include "tests/kube/writer_play.h"

namespace karst::kube {
namespace {

using nlohmann::json;
using namespace testing_kube;

const model::Taint kDisrupted{"karpenter.sh/disrupted", "", model::TaintEffect::kNoSchedule};
const model::Taint kStartup{"cni/not-ready", "v", model::TaintEffect::kNoSchedule};
const char* const kA = R"({"key":"a","effect":"NoExecute","timeAdded":"x"})";
const char* const kB = R"({"key":"b","effect":"NoSchedule"})";
const char* const kOurs = R"({"key":"karpenter.sh/disrupted","effect":"NoSchedule"})";
const char* const kOursWithValue =
    R"({"key":"karpenter.sh/disrupted","effect":"NoSchedule","value":"1"})";
const char* const kOursHarder = R"({"key":"karpenter.sh/disrupted","effect":"NoExecute"})";

json node_with(const std::vector<std::string>& taints) {
  json node = {{"metadata", {{"uid", "nu"}}}, {"spec", json::object()}};
  for (const std::string& taint : taints) node["spec"]["taints"].push_back(json::parse(taint));
  return node;
}

// What the hands send for `spec` when they read `node`; null for nothing.
json patch_of(const model::CommandSpec& spec, const json& node) {
  const Played got = play(spec, {{200, node.dump()}, {200}});
  EXPECT_EQ(got.outcomes.at(0).kind, OutcomeKind::kDone);
  return got.requests.size() < 2 ? json() : json::parse(got.requests[1].body);
}

model::TaintNode taint(bool add) {
  return {model::NodeName("n"), model::NodeUid("nu"), kDisrupted, add};
}

struct TaintCase {
  const char* name;
  bool add;
  std::vector<std::string> taints;
  std::string operations;  // after the test of the uid
};

TEST(TaintPatch, IsAboutOneTaint) {
  const std::string ours = kOurs, value = kOursWithValue;
  const TaintCase cases[] = {
      {"the first one: it makes the list, if there still is none",
       true,
       {},
       R"({"op":"test","path":"/spec/taints","value":null},
          {"op":"add","path":"/spec/taints","value":[)" +
           ours + "]}"},
      {"one more", true, {kA}, R"({"op":"add","path":"/spec/taints/-","value":)" + ours + "}"},
      {"the same key with another effect is another taint",
       true,
       {kOursHarder},
       R"({"op":"add","path":"/spec/taints/-","value":)" + ours + "}"},
      {"there already", true, {kA, kOurs}, ""},
      {"there with another value",
       true,
       {kA, kOursWithValue, kB},
       R"({"op":"test","path":"/spec/taints/1","value":)" + value +
           R"(},{"op":"replace","path":"/spec/taints/1","value":)" + ours + "}"},
      {"taken away, whatever its value",
       false,
       {kA, kOursWithValue, kB},
       R"({"op":"test","path":"/spec/taints/1","value":)" + value +
           R"(},{"op":"remove","path":"/spec/taints/1"})"},
      {"not there", false, {kA, kOursHarder}, ""},
      {"no list", false, {}, ""},
  };
  for (const TaintCase& test : cases) {
    const std::string uid = R"([{"op":"test","path":"/metadata/uid","value":"nu"},)";
    const json want = test.operations.empty() ? json() : json::parse(uid + test.operations + "]");
    EXPECT_EQ(patch_of(taint(test.add), node_with(test.taints)), want) << test.name;
  }
}

// Somebody else's change comes between our read and our patch.
TEST(TaintPatch, KeepsWhatOthersAddMeanwhileAndNoticesWhatMoved) {
  struct Case {
    const char* name;
    bool add;
    std::vector<std::string> read, meanwhile, after;  // none after: the API server refuses it
  };
  const Case cases[] = {
      {"added beside ours", true, {kA}, {kA, kB}, {kA, kB, kOurs}},
      {"added while ours goes", false, {kOurs, kA}, {kOurs, kA, kB}, {kA, kB}},
      {"taken away beside ours", true, {kA, kB}, {kB}, {kB, kOurs}},
      {"taken away behind ours", false, {kOurs, kA}, {kOurs}, {}},
      {"taken away before ours, so that another is in its place",
       false,
       {kA, kOurs, kB},
       {kOurs, kB},
       {"refused"}},
      {"ours got another value", false, {kOurs}, {kOursWithValue}, {"refused"}},
  };
  for (const Case& test : cases) {
    const json patch = patch_of(taint(test.add), node_with(test.read));
    const json node = node_with(test.meanwhile);
    if (test.after == std::vector<std::string>{"refused"}) {
      EXPECT_THROW((void)node.patch(patch), json::other_error) << test.name;
      continue;
    }
    json want = json::array();
    for (const std::string& taint : test.after) want.push_back(json::parse(taint));
    EXPECT_EQ(node.patch(patch)["spec"]["taints"], want) << test.name;
  }
}

model::SyncNode registration() {
  model::SyncNode sync;
  sync.node = model::NodeName("n");
  sync.uid = model::NodeUid("nu");
  sync.labels = {{std::string(model::kRegisteredLabel), "true"}};
  sync.add_taints = {kStartup};
  sync.remove_taints = {{"a", "", model::TaintEffect::kNoExecute},
                        {"b", "", model::TaintEffect::kNoSchedule}};
  return sync;
}
const char* const kC = R"({"key":"c","effect":"NoSchedule"})";
const char* const kStartupObject = R"({"key":"cni/not-ready","effect":"NoSchedule","value":"v"})";

TEST(SyncPatch, TakesSeveralTaintsFromTheEndAndLeavesTheOthers) {
  json node = node_with({kA, kC, kB});
  node["metadata"]["labels"] = json::object();
  const json patch = patch_of(registration(), node);
  std::vector<std::string> removed;
  for (const json& operation : patch)
    if (operation["op"] == "remove") removed.push_back(operation["path"]);
  EXPECT_EQ(removed, (std::vector<std::string>{"/spec/taints/2", "/spec/taints/0"}));
  node["spec"]["taints"].push_back(json::parse(kOurs));
  EXPECT_EQ(node.patch(patch)["spec"]["taints"],
            json::array({json::parse(kC), json::parse(kOurs), json::parse(kStartupObject)}));
}

// An attempt without an answer had done its work, the agent came up and took its taint away, and
// the watch that the next attempt was decided by has not said so.
TEST(SyncPatch, GivesNoStartupTaintToANodeThatIsRegisteredAlready) {
  for (const char* registered : {"true", "false"}) {
    json node = node_with({kA});
    node["metadata"]["labels"] = {{std::string(model::kRegisteredLabel), registered}};
    const json after = node.patch(patch_of(registration(), node))["spec"]["taints"];
    const bool again = std::string(registered) == "true";
    EXPECT_EQ(after, again ? json::array() : json::array({json::parse(kStartupObject)}));
  }
}

}  // namespace
}  // namespace karst::kube
