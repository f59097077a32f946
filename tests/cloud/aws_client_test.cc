// The shared budget and the client: one attempt per call, by script over a fake transport.
#include <gtest/gtest.h>

#include "cloud/aws/client.h"
#include "cloud/aws/pages.h"
#include "tests/cloud/aws_account.h"

namespace karst::cloud::aws {
namespace {

using testing_kube::FakeClock;
using testing_kube::FakeTransport;

int takes(Budget& budget, Purpose purpose, std::int64_t now) {
  int taken = 0;
  while (taken < 1000 && budget.take(purpose, now) == 0) ++taken;
  return taken;
}

TEST(AwsBudget, AShareIsKeptForReadingAndForRemoving) {
  Budget budget({100, 20}, 0);
  EXPECT_EQ(takes(budget, Purpose::kMake, 0), 60);
  EXPECT_EQ(takes(budget, Purpose::kRead, 0), 30);
  EXPECT_EQ(takes(budget, Purpose::kRemove, 0), 10);
  EXPECT_EQ(budget.take(Purpose::kRemove, 0), 50);
  EXPECT_EQ(budget.take(Purpose::kRead, 0), 550);
  EXPECT_EQ(takes(budget, Purpose::kRemove, 49), 0);
  EXPECT_EQ(takes(budget, Purpose::kRemove, 50), 1);
  EXPECT_EQ(takes(budget, Purpose::kMake, 1'000'000), 60);  // a full bucket is not fuller
}

TEST(AwsBudget, TimeInSmallStepsIsNotLost) {
  Budget budget({2, 1}, 0);
  EXPECT_EQ(takes(budget, Purpose::kRemove, 0), 2);
  int taken = 0;
  for (std::int64_t now = 1; now <= 10'000; ++now) taken += takes(budget, Purpose::kRemove, now);
  EXPECT_EQ(taken, 10);
}

TEST(AwsBudget, AThrottleHalvesTheRateOnceASecondAndAnswersBringItBack) {
  Budget budget({100, 20}, 0);
  for (int i = 0; i < 50; ++i) budget.throttled(i, std::nullopt);
  EXPECT_EQ(budget.per_second_millis(), 10'000);
  EXPECT_EQ(takes(budget, Purpose::kRemove, 0), 50);
  for (int i = 1; i < 10; ++i) budget.throttled(i * 1000, std::nullopt);
  EXPECT_EQ(budget.per_second_millis(), 500);
  for (int i = 0; i < 49; ++i) budget.answered();
  EXPECT_EQ(budget.per_second_millis(), 20'000);
}

TEST(AwsBudget, RetryAfterHoldsForEverythingAndIsBounded) {
  Budget budget({100, 20}, 0);
  budget.throttled(0, 3000);
  EXPECT_EQ(budget.take(Purpose::kRemove, 1000), 2000);
  EXPECT_EQ(budget.take(Purpose::kRemove, 3000), 0);
  budget.throttled(3000, 3'600'000);
  EXPECT_EQ(budget.take(Purpose::kRemove, 3000), kPauseMillisMax);
}

struct AwsClientTest : ::testing::Test {
  void send(const std::string& action, Service service = Service::kEc2,
            Purpose purpose = Purpose::kRead) {
    Call call;
    call.service = service;
    call.action = action;
    call.purpose = purpose;
    client->send(call, [this, action](const Answer& answer) {
      answers.push_back(action + ": " + std::string(trouble_name(answer.error.trouble)) + " " +
                        answer.body + answer.error.message);
    });
    transport.advance(0);
  }
  void reply(int status, const std::string& body, const std::string& date = "",
             const std::string& retry_after = "") {
    http::Response response;
    response.status = status;
    response.body = body;
    if (!date.empty()) response.headers.emplace_back("date", date);
    if (!retry_after.empty()) response.headers.emplace_back("retry-after", retry_after);
    transport.answer(std::move(response));
  }
  void pass(std::int64_t millis) {
    for (std::int64_t i = 0; i < millis; i += 10) {
      clock.now_millis += 10;
      transport.advance(10);
    }
  }
  std::string date_header(const http::Request& request) {
    for (const std::string& header : request.headers)
      if (header.starts_with("X-Amz-Date: ")) return header.substr(12);
    return "";
  }
  using Strings = std::vector<std::string>;
  Strings take() { return std::exchange(answers, {}); }

  FakeTransport transport;
  FakeClock clock;
  ServerTime time{clock};
  int fetches = 0;
  std::optional<base::Error> fetch_error;
  CredentialKeeper keeper{transport,
                          clock,
                          time,
                          [this](Fetched done) {
                            ++fetches;
                            if (fetch_error) return done(base::fail(*fetch_error));
                            Credentials keys;
                            keys.access_key_id = "AK" + std::to_string(fetches);
                            keys.secret_access_key = Secret("canary-key");
                            keys.session_token = Secret("canary-token");
                            done(keys);
                          },
                          0,
                          {}};
  std::unique_ptr<Client> client = client_on_loopback(transport, keeper, time, clock);
  Strings answers;
};

std::string ec2_error(const std::string& code, const std::string& message) {
  return "<Response><Errors><Error><Code>" + code + "</Code><Message>" + message +
         "</Message></Error></Errors></Response>";
}

TEST_F(AwsClientTest, OneCallIsOneAttempt) {
  send("DescribeSubnets");
  ASSERT_EQ(transport.open.size(), 1u);
  reply(200, "<ok/>");
  EXPECT_EQ(take(), Strings{"DescribeSubnets: done <ok/>"});
  send("CreateFleet");
  transport.fail(http::Failure::kUnclear);
  EXPECT_EQ(take(), Strings{"CreateFleet: unclear the line is cut"});
  send("CreateFleet");
  transport.fail(http::Failure::kNotSent);
  EXPECT_EQ(take(), Strings{"CreateFleet: not sent the line is cut"});
  send("CreateFleet");
  transport.fail(http::Failure::kTooLarge);
  EXPECT_EQ(take(), Strings{"CreateFleet: answered unreadably the line is cut"});
  send("CreateFleet");
  reply(500, "<html>");
  EXPECT_EQ(take(), Strings{"CreateFleet: failed at the service "});
  EXPECT_TRUE(transport.open.empty());
  EXPECT_EQ(client->sent().at("ec2 CreateFleet"), 4u);
}

TEST_F(AwsClientTest, AThrottleSlowsDownAndRetryAfterHoldsBack) {
  send("A");
  reply(503, ec2_error("RequestLimitExceeded", "slow"), "", "2");
  EXPECT_EQ(take(), Strings{"A: throttled slow"});
  send("B");
  send("Q", Service::kSqs);
  ASSERT_EQ(transport.open.size(), 1u);  // another service is another budget
  EXPECT_NE(transport.open.front().request.body.find("{}"), std::string::npos);
  reply(200, "{}");
  pass(1990);
  EXPECT_TRUE(transport.open.empty());
  pass(10);
  EXPECT_EQ(transport.open.size(), 1u);
}

TEST_F(AwsClientTest, WhatTheBudgetHoldsBackGoesByPurposeAndNotForEver) {
  for (int i = 0; i < 60; ++i) send("Make", Service::kEc2, Purpose::kMake);
  EXPECT_EQ(transport.open.size(), 60u);
  send("Late", Service::kEc2, Purpose::kMake);
  EXPECT_EQ(transport.open.size(), 60u);
  send("Read", Service::kEc2, Purpose::kRead);
  send("Remove", Service::kEc2, Purpose::kRemove);
  EXPECT_EQ(transport.open.size(), 62u);
  pass(140);
  EXPECT_EQ(transport.open.size(), 62u);
  pass(10);
  EXPECT_EQ(transport.open.size(), 63u);
  transport.open.clear();
  send("Again");
  transport.open.clear();
  client->send(Call{Service::kEc2, "Slow"}, [](const Answer&) {});
  transport.advance(0);
  reply(503, ec2_error("RequestLimitExceeded", ""), "", "60");
  send("Held");
  pass(kBudgetWaitMillisMax - 10);
  EXPECT_TRUE(take().empty());
  pass(10);
  EXPECT_EQ(take(), Strings{"Held: throttled the own budget for this service is used up; it did "
                            "not leave"});
}

TEST_F(AwsClientTest, AWrongClockIsItsOwnTroubleAndIsPutRight) {
  send("A");
  EXPECT_EQ(date_header(transport.open.front().request), "19700101T001640Z");
  reply(403, ec2_error("SignatureDoesNotMatch", "canary-token"), "Thu, 01 Jan 1970 01:00:00 GMT");
  EXPECT_EQ(take(), Strings{"A: refused for this machine's clock this machine's clock is 2600 s "
                            "off the service's; let NTP set it. the signature is not accepted"});
  EXPECT_EQ(fetches, 1);  // the credentials are not to blame
  send("B");
  EXPECT_EQ(date_header(transport.open.front().request), "19700101T010000Z");
}

TEST_F(AwsClientTest, RefusedCredentialsAreRenewed) {
  pass(6000);
  send("A");
  pass(6000);
  reply(401, ec2_error("AuthFailure", "AWS was not able to validate"),
        "Thu, 01 Jan 1970 00:16:52 GMT");
  EXPECT_EQ(take(), Strings{"A: refused credentials AWS was not able to validate"});
  EXPECT_EQ(fetches, 2);
  send("B");
  bool fresh = false;
  for (const std::string& header : transport.open.front().request.headers)
    fresh = fresh || header.find("Credential=AK2/") != std::string::npos;
  EXPECT_TRUE(fresh);
}

TEST_F(AwsClientTest, NoCredentialsMeansThatNothingLeaves) {
  fetch_error = base::Error{base::Kind::kRetry, "STS is down"};
  send("A");
  EXPECT_EQ(take(), Strings{"A: not sent STS is down"});
  fetch_error = base::Error{base::Kind::kDenied, "no role"};
  pass(6000);
  send("B");
  EXPECT_EQ(take(), Strings{"B: refused credentials no role"});
  EXPECT_TRUE(transport.open.empty());
}

TEST_F(AwsClientTest, AQuotedSecretIsWithheld) {
  send("A");
  reply(400, ec2_error("Strange", "you sent canary-token"));
  EXPECT_EQ(take(), Strings{"A: refused (withheld: it quotes a credential)"});
}

struct AwsPagesTest : AwsClientTest {
  void list(int pages_wanted = 1000) {
    send_pages(
        *client, Call{Service::kEc2, "DescribeX"},
        [this, pages_wanted](const std::string&) { return ++pages < pages_wanted; },
        [this](const CallError& error) {
          answers.push_back(std::string(trouble_name(error.trouble)) + " " + error.message);
        });
    transport.advance(0);
  }
  void page(const std::string& token) {
    ASSERT_FALSE(transport.open.empty());
    bodies.push_back(transport.open.front().request.body);
    reply(200, "<R><nextToken>" + token + "</nextToken></R>");
    transport.advance(0);
  }
  int pages = 0;
  Strings bodies;
};

TEST_F(AwsPagesTest, PagesAreAskedUntilTheLast) {
  list();
  page("a"), page("b"), page("");
  EXPECT_EQ(pages, 3);
  EXPECT_EQ(take(), Strings{"done "});
  EXPECT_TRUE(bodies[1].ends_with("&NextToken=a"));
  EXPECT_TRUE(bodies[2].ends_with("&NextToken=b"));
}

TEST_F(AwsPagesTest, ARepeatedTokenEndsTheList) {
  list();
  page("a"), page("b"), page("a");
  EXPECT_EQ(take(), Strings{"answered unreadably the same page token came twice: the list has no "
                            "end"});
  EXPECT_TRUE(transport.open.empty());
}

TEST_F(AwsPagesTest, TheReaderMayEndItAndFailuresDo) {
  list(2);
  page("a"), page("b");
  EXPECT_EQ(take(), Strings{"done "});
  list();
  reply(503, ec2_error("RequestLimitExceeded", "slow"));
  EXPECT_EQ(take(), Strings{"throttled slow"});
}

TEST_F(AwsPagesTest, ThereIsABound) {
  list(2 * kPagesMax);
  for (int i = 0; i < kPagesMax && !transport.open.empty(); ++i) {
    page(std::to_string(i));
    pass(100);
  }
  EXPECT_EQ(take(), Strings{"answered unreadably more than 1000 pages"});
}

}  // namespace
}  // namespace karst::cloud::aws
