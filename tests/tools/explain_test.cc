// What explain says of a pod whose claim the API server does not take, and why a claim is of no
// other type.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "tests/tools/json.h"
#include "tests/tools/story.h"

namespace karst::tests {
namespace {

// A copy of the story that ends with the first answer to a create, which is another one.
class FirstCreate : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::copy(story(), data_, std::filesystem::copy_options::recursive);
    std::map<std::uint64_t, std::string> creates;  // by position: their streams
    std::map<std::string, std::string> pods;       // by uid
    std::map<std::string, std::string> expected;   // by stream of a claim: a pod
    std::size_t end = 0;
    for (const std::string& line : lines_of(karst({"log", "dump", "--data", data_}).out)) {
      const Json event = Json::parse(line);
      const Json& payload = event["payload"];
      const std::string type = event["type"], stream = event["stream"];
      ++end;
      if (type == "PodObserved")
        pods[payload["uid"]] = "pod/" + payload["namespace_name"].get<std::string>() + "/" +
                               payload["name"].get<std::string>();
      if (type == "NodeClaimCreateRequested") creates[event["position"]] = stream;
      if (type == "PodsNominated") expected[stream] = pods[payload["pods"].at(0)];
      if (type != "OutcomeReceived" || !creates.contains(payload["command"])) continue;
      command_ = payload["command"];
      pod_ = expected[creates[command_]];
      break;
    }
    ASSERT_NE(pod_, "");
    records_ = records_of(data_);
    records_.resize(end);
  }
  void answer(model::OutcomeKind kind, model::RefusalCode code, const std::string& message) {
    model::Outcome outcome;
    outcome.command = model::Position(command_);
    outcome.kind = kind;
    outcome.code = code;
    outcome.message = message;
    events::Record record = events::make_record(outcome);
    record.log_time = records_.back().log_time;
    record.wall_time = records_.back().wall_time;
    record.causation = records_.back().causation;
    record.correlation = records_.back().correlation;
    records_.back() = record;
    rewrite(data_, records_);
  }
  const TempFolder folder_;
  const std::string data_ = folder_ / "data";
  std::string pod_;
  std::uint64_t command_ = 0;
  std::vector<events::Record> records_;
};

TEST_F(FirstCreate, ItsRefusalIsInThePodsStory) {
  answer(model::OutcomeKind::kRefused, model::RefusalCode::kDenied, "nodeclaims is forbidden");
  const Ended told = karst({"explain", "--data", data_, pod_});
  EXPECT_EQ(told.code, 0) << told.err;
  const std::string refusal = "command " + std::to_string(command_) +
                              ", attempt 1: refused (denied): nodeclaims is forbidden";
  const std::vector<std::string> lines = lines_of(told.out);
  ASSERT_GE(lines.size(), 3U) << told.out;
  EXPECT_NE(lines[0].find("last answer: " + refusal), std::string::npos) << told.out;
  const auto at = std::find_if(lines.begin() + 1, lines.end(), [&](const std::string& line) {
    return line.find(refusal) != std::string::npos;
  });
  ASSERT_NE(at, lines.end()) << told.out;
  ASSERT_NE(at + 1, lines.end()) << told.out;
  EXPECT_NE((at + 1)->find("because"), std::string::npos) << told.out;
  EXPECT_NE((at + 1)->find("create nodeclaim"), std::string::npos) << told.out;
}

TEST_F(FirstCreate, ASuccessIsNotToldOf) {
  answer(model::OutcomeKind::kDone, model::RefusalCode::kNone, "");
  const Ended told = karst({"explain", "--data", data_, pod_});
  EXPECT_EQ(told.code, 0) << told.err;
  EXPECT_EQ(told.out.find("last answer"), std::string::npos) << told.out;
  EXPECT_EQ(told.out.find("attempt 1"), std::string::npos) << told.out;
}

// As explain takes it: "nodeclaim/NAME".
std::string first_launched() {
  for (const std::string& line : lines_of(karst({"log", "dump", "--data", story()}).out))
    if (const Json event = Json::parse(line); event["type"] == "LaunchRequested")
      return event["stream"];
  return "";
}

TEST(ExplainClaim, SaysWhyItIsOfNoOtherType) {
  const std::string claim = first_launched();
  ASSERT_NE(claim, "");
  const Ended table = karst({"explain", "--data", story(), claim, "--ruled-out"});
  EXPECT_NE(table.out.find("\nnot "), std::string::npos) << table.out << table.err;
  const Json told =
      Json::parse(karst({"explain", "--data", story(), claim, "--ruled-out", "-o", "json"}).out);
  ASSERT_TRUE(told.contains("ruled_out")) << told;
  std::map<std::string, std::size_t> reasons;
  for (const Json& reason : told["ruled_out"])
    reasons[reason["why"]] = reason["instance_types"].size();
  EXPECT_GT(reasons["resource cpu"], 0U) << told["ruled_out"];
}

// It takes the state at the command, so that it is for those who ask.
TEST(ExplainClaim, IsSilentOfOtherTypesUnlessAsked) {
  const std::string claim = first_launched();
  const Ended table = karst({"explain", "--data", story(), claim});
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_EQ(table.out.find("\nnot "), std::string::npos) << table.out;
  const Ended wrong = karst({"explain", "--data", story(), "nodepool/default", "--ruled-out"});
  EXPECT_EQ(wrong.code, 2) << wrong.out;
  EXPECT_NE(wrong.err.find("--ruled-out goes with nodeclaim/NAME"), std::string::npos) << wrong.err;
}

}  // namespace
}  // namespace karst::tests
