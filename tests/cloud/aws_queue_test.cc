// The SQS source by script over a fake transport: what is received, offered, deleted and when.
#include <gtest/gtest.h>

#include "cloud/aws/queue.h"
#include "providers/aws/messages.h"
#include "tests/cloud/aws_account.h"

namespace karst::cloud::aws {
namespace {

using nlohmann::json;
using testing_kube::FakeClock;
using testing_kube::FakeSink;
using testing_kube::FakeTransport;

constexpr const char* kSpot =
    R"({"version":"0","id":"1e5527d7-bb36-4607-3370-4164db56a40e","detail-type":)"
    R"("EC2 Spot Instance Interruption Warning","source":"aws.ec2","time":"2026-08-01T10:00:00Z",)"
    R"("detail":{"instance-id":"i-0123456789abcdef0","instance-action":"terminate"}})";

std::string health(const std::vector<std::string>& instances) {
  json entities = json::array();
  for (const std::string& id : instances) entities.push_back({{"entityValue", id}});
  return json{{"version", "0"},
              {"id", "health-1"},
              {"detail-type", "AWS Health Event"},
              {"source", "aws.health"},
              {"time", "2026-08-01T10:00:00Z"},
              {"detail",
               {{"service", "EC2"},
                {"eventTypeCategory", "scheduledChange"},
                {"affectedEntities", entities}}}}
      .dump();
}

struct AwsQueueTest : ::testing::Test, AwsAccount {
  AwsQueueTest() {
    queue = std::make_unique<SqsQueue>(*client, sink, clock, "interruptions", 2,
                                       [this](bool works, const std::string& line) {
                                         notices.push_back((works ? "+" : "-") + line);
                                       });
  }
  void pass(std::int64_t millis) {
    clock.now_millis += millis;
    transport.advance(millis);
    transport.advance(0);
  }
  // The action of the oldest open request, which is answered so.
  std::string reply(int status, const json& body) {
    if (transport.open.empty()) return "no request";
    std::string action;
    for (const std::string& header : transport.open.front().request.headers)
      if (header.starts_with("X-Amz-Target: AmazonSQS.")) action = header.substr(24);
    sent = json::parse(transport.open.front().request.body);
    transport.answer(status, body.dump());
    transport.advance(0);
    return action;
  }
  void begin() {
    queue->start();
    transport.advance(0), transport.advance(0);
    EXPECT_EQ(reply(200, {{"QueueUrl", "http://elsewhere/q"}}), "GetQueueUrl");
    EXPECT_EQ(transport.open.size(), 2u);
  }
  static json message(const std::string& body, const std::string& receipt) {
    return {{"MessageId", "sqs-" + receipt},
            {"Body", body},
            {"ReceiptHandle", receipt},
            {"Attributes", {{"SentTimestamp", "1785578400000"}}}};
  }
  using Strings = std::vector<std::string>;
  static json deleted(const Strings& ids) {
    json all = json::array();
    for (const std::string& id : ids) all.push_back({{"Id", id}});
    return {{"Successful", all}, {"Failed", json::array()}};
  }

  Strings notices;
  json sent;
  std::unique_ptr<SqsQueue> queue;
};

TEST_F(AwsQueueTest, MessagesBecomeFactsAndAreDeletedOnlyWhenAcknowledged) {
  begin();
  EXPECT_EQ(reply(200, {{"Messages", {message(kSpot, "r1"), message("no event", "r2")}}}),
            "ReceiveMessage");
  EXPECT_EQ(sent["QueueUrl"], "http://elsewhere/q");
  EXPECT_EQ(sent["WaitTimeSeconds"], 20);
  // The endpoint stays the configured one, whatever the answer named.
  for (const auto& open : transport.open) EXPECT_EQ(open.request.url, "http://127.0.0.1:1/");
  const auto seen = sink.all<events::InterruptionReceived>();
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].interruption.kind, model::InterruptionKind::kSpotInterruption);
  EXPECT_EQ(seen[0].interruption.message.str(),
            "1e5527d7-bb36-4607-3370-4164db56a40e/i-0123456789abcdef0");
  EXPECT_EQ(seen[1].interruption.kind, model::InterruptionKind::kOther);
  EXPECT_EQ(seen[1].interruption.message.str(), "sqs-r2");
  EXPECT_EQ(seen[0].interruption.reason, "");
  EXPECT_EQ(seen[1].interruption.reason, "not a JSON object");
  EXPECT_EQ(sink.facts[0].receipt + sink.facts[1].receipt, "r1r2");
  pass(1000);
  ASSERT_EQ(transport.open.size(), 2u);  // the receivers, and no deletion
  transport.open.clear();
  queue->acknowledge("r1");
  queue->acknowledge("r2");
  pass(kDeleteGatherMillis);
  ASSERT_EQ(transport.open.size(), 1u);
  EXPECT_EQ(reply(200, deleted({"0", "1"})), "DeleteMessageBatch");
  EXPECT_EQ(queue->deleted(), 2u);
  EXPECT_EQ(sent["Entries"], json::parse(R"([{"Id":"0","ReceiptHandle":"r1"},
                                             {"Id":"1","ReceiptHandle":"r2"}])"));
}

TEST_F(AwsQueueTest, AMessageThatIsNothingForUsSaysWhy) {
  begin();
  const std::string large(providers::aws::kMessageBytesMax + 1, ' ');
  const std::string foreign =
      R"({"version":"0","id":"e","source":"aws.ecs","detail-type":"Task","detail":{}})";
  reply(
      200,
      {{"Messages",
        {message("{", "r1"), message("{}", "r2"), message(large, "r3"), message(foreign, "r4")}}});
  Strings reasons;
  for (const auto& one : sink.all<events::InterruptionReceived>())
    reasons.push_back(one.interruption.reason);
  EXPECT_EQ(reasons, (Strings{"not a JSON object",
                              "not an event of EventBridge: no source, or no detail-type",
                              "larger than 1 MiB", "nothing to do for \"Task\" of \"aws.ecs\""}));
}

TEST_F(AwsQueueTest, TheLastFactOfAMessageCarriesItsReceipt) {
  begin();
  reply(200,
        {{"Messages", {message(health({"i-0123456789abcdef0", "i-0123456789abcdef1"}), "r")}}});
  ASSERT_EQ(sink.facts.size(), 2u);
  EXPECT_EQ(sink.facts[0].receipt, "");
  EXPECT_EQ(sink.facts[1].receipt, "r");
}

TEST_F(AwsQueueTest, DeletionsGoInTensAndThoseThatSqsTellsOfAreCounted) {
  begin();
  transport.open.clear();
  for (int i = 0; i < 23; ++i) queue->acknowledge("r" + std::to_string(i));
  pass(kDeleteGatherMillis);
  ASSERT_EQ(transport.open.size(), 3u);
  json nine = json::array();
  for (int i = 0; i < 9; ++i) nine.push_back({{"Id", std::to_string(i)}});
  reply(200,
        {{"Successful", nine}, {"Failed", {{{"Id", "9"}, {"Code", "ReceiptHandleIsInvalid"}}}}});
  EXPECT_EQ(queue->deleted(), 9u);
  EXPECT_TRUE(notices.empty()) << "a receipt may be too old";
  reply(500, json::object());
  EXPECT_EQ(queue->deleted(), 9u);
  EXPECT_EQ(reply(200, deleted({"0", "1", "2"})), "DeleteMessageBatch");
  EXPECT_EQ(sent["Entries"].size(), 3u);
  EXPECT_EQ(queue->deleted(), 12u);
}

TEST_F(AwsQueueTest, ThatNothingIsDeletedIsToldOnce) {
  begin();
  transport.open.clear();
  const json kDenied = {{"__type", "AccessDeniedException"}, {"message", "no"}};
  const json kFailed = {{"Failed", {{{"Id", "0"}, {"Code", "Internal\nError"}}}}};
  const auto acknowledge = [&](int status, const json& answer) {
    queue->acknowledge("r");
    pass(kDeleteGatherMillis);
    EXPECT_EQ(reply(status, answer), "DeleteMessageBatch");
  };
  acknowledge(400, kDenied);
  acknowledge(200, kFailed);
  acknowledge(200, deleted({"0"}));
  acknowledge(200, deleted({"0"}));
  acknowledge(200, kFailed);
  const std::string fails =
      "-the interruption queue interruptions deletes no messages, each comes again and again until "
      "it is too old: DeleteMessageBatch: ";
  EXPECT_EQ(notices, (Strings{fails + "denied (AccessDeniedException, HTTP 400): no",
                              "+the interruption queue interruptions deletes messages again",
                              fails + "InternalError"}));
  EXPECT_EQ(queue->deleted(), 2u);
}

TEST_F(AwsQueueTest, AQueueThatIsNotThereIsAskedForAgainAndTold) {
  queue->start();
  transport.advance(0), transport.advance(0);
  const json absent = {{"__type", "com.amazonaws.sqs#QueueDoesNotExist"}, {"message", "none"}};
  EXPECT_EQ(reply(400, absent), "GetQueueUrl");
  EXPECT_TRUE(transport.open.empty());
  pass(kQueueGapMillis);
  EXPECT_EQ(reply(400, absent), "GetQueueUrl");
  pass(kQueueGapMillis);
  EXPECT_TRUE(transport.open.empty());
  pass(kQueueGapMillis);
  EXPECT_EQ(reply(200, {{"QueueUrl", "u"}}), "GetQueueUrl");
  EXPECT_EQ(notices, (Strings{"-the interruption queue interruptions cannot be asked, "
                              "interruptions are not heard of: GetQueueUrl: not found "
                              "(QueueDoesNotExist, HTTP 400): none",
                              "+the interruption queue interruptions can be asked again"}));
}

TEST_F(AwsQueueTest, StrangeAnswersStopNothing) {
  begin();
  const json kStrange[] = {
      json::array(), {{"Messages", 5}}, {{"Messages", {5, {{"Body", "x"}}}}}, "text"};
  for (const json& strange : kStrange) {
    EXPECT_EQ(reply(200, strange), "ReceiveMessage");
    pass(kQueueGapMillisMax);
  }
  EXPECT_EQ(transport.open.size(), 2u);
  EXPECT_TRUE(sink.facts.empty());
}

TEST_F(AwsQueueTest, NothingIsReceivedOnceTheEngineStops) {
  begin();
  sink.closed = true;
  reply(200, {{"Messages", {message(kSpot, "r1")}}});
  reply(200, json::object());
  EXPECT_TRUE(transport.open.empty());
}

// What a standby deleted, its leader would never hear of.
TEST_F(AwsQueueTest, AReplicaThatDoesNotLeadLeavesTheMessages) {
  bool leads = false;
  queue->only_while([&] { return leads; });
  queue->start();
  transport.advance(0), transport.advance(0);
  EXPECT_EQ(reply(200, {{"QueueUrl", "http://elsewhere/q"}}), "GetQueueUrl");
  pass(10 * kQueueGapMillis);
  EXPECT_TRUE(transport.open.empty()) << "it asks while another one leads";
  leads = true;
  pass(kQueueGapMillis);
  EXPECT_EQ(transport.open.size(), 2u) << "both receivers ask";
  leads = false;  // lost while the question is out
  EXPECT_EQ(reply(200, {{"Messages", {message(kSpot, "r1")}}}), "ReceiveMessage");
  EXPECT_TRUE(sink.facts.empty()) << "it is the next leader's";
  leads = true;
  EXPECT_EQ(reply(200, {{"Messages", {message(kSpot, "r2")}}}), "ReceiveMessage");
  EXPECT_EQ(sink.facts.size(), 1u);
  queue->acknowledge("r2");
  leads = false;
  const std::size_t open = transport.open.size();
  pass(kDeleteGatherMillis);
  EXPECT_EQ(transport.open.size(), open) << "nothing is deleted";
}

}  // namespace
}  // namespace karst::cloud::aws
