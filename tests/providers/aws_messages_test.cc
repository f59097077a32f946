// Messages of the interruption queue: each kind, AWS Health's special cases, and everything that is
// nothing for us.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/time.h"
#include "providers/aws/messages.h"

namespace karst::providers::aws {
namespace {

using model::InterruptionKind;

constexpr std::int64_t kReceived = 1'000;
const std::int64_t kSent = *base::parse_rfc3339("2026-08-01T10:00:00Z");
const std::string kOne = "i-0123456789abcdef0";
const std::string kTwo = "i-0123456789abcdef1";

std::string event(const std::string& source, const std::string& type, const std::string& detail) {
  return R"({"version":"0","id":"event-1","detail-type":")" + type + R"(","source":")" + source +
         R"(","account":"123456789012","time":"2026-08-01T10:00:00Z","region":"us-east-1",)"
         R"("resources":[],"detail":)" +
         detail + "}";
}

std::string of_instance(const std::string& type, const std::string& more = "") {
  return event("aws.ec2", type, R"({"instance-id":")" + kOne + "\"" + more + "}");
}

std::string health(const std::string& more, const std::string& entities,
                   const std::string& category = "scheduledChange") {
  return event("aws.health", "AWS Health Event",
               R"({"service":"EC2","eventTypeCategory":")" + category +
                   R"(","startTime":"Sat, 15 Aug 2026 05:00:00 GMT")" + more +
                   R"(,"affectedEntities":[)" + entities + "]}");
}

std::string entity(const std::string& value, const std::string& more = "") {
  return R"({"entityValue":")" + value + "\"" + more + "}";
}

const std::string kSpot = "EC2 Spot Instance Interruption Warning";
const std::string kState = "EC2 Instance State-change Notification";

TEST(AwsMessages, EachKindSaysWhichInstanceAndUntilWhen) {
  struct Case {
    const char* name;
    std::string body;
    InterruptionKind kind;
    std::int64_t deadline;
  };
  const std::int64_t august_15 = *base::parse_rfc3339("2026-08-15T05:00:00Z");
  const std::vector<Case> cases = {
      {"spot", of_instance(kSpot, R"(,"instance-action":"terminate")"),
       InterruptionKind::kSpotInterruption, kSent + 120'000},
      {"spot that hibernates at once", of_instance(kSpot, R"(,"instance-action":"hibernate")"),
       InterruptionKind::kSpotInterruption, kSent},
      {"rebalance", of_instance("EC2 Instance Rebalance Recommendation"),
       InterruptionKind::kRebalanceRecommendation, 0},
      {"stopping", of_instance(kState, R"(,"state":"stopping")"),
       InterruptionKind::kInstanceStopping, 0},
      {"stopped, in capitals", of_instance(kState, R"(,"state":"Stopped")"),
       InterruptionKind::kInstanceStopping, 0},
      {"shutting down", of_instance(kState, R"(,"state":"shutting-down")"),
       InterruptionKind::kInstanceTerminated, kSent},
      {"terminated", of_instance(kState, R"(,"state":"terminated")"),
       InterruptionKind::kInstanceTerminated, kSent},
      {"reservation taken back",
       of_instance("EC2 Capacity Reservation Instance Interruption Warning",
                   R"(,"instance-termination-time":"2026-08-01T10:05:00Z")"),
       InterruptionKind::kReservationInterruption, kSent + 300'000},
      {"reservation without a time",
       of_instance("EC2 Capacity Reservation Instance Interruption Warning"),
       InterruptionKind::kReservationInterruption, kSent + 120'000},
      {"health", health("", entity(kOne)), InterruptionKind::kScheduledChange, august_15},
      {"health by ARN", health("", entity("arn:aws:ec2:us-east-1:123456789012:instance/" + kOne)),
       InterruptionKind::kScheduledChange, august_15},
      {"health with other things", health("", entity("vol-01234567") + "," + entity(kOne)),
       InterruptionKind::kScheduledChange, august_15},
      {"health, one is resolved",
       health("", entity(kTwo, R"(,"status":"RESOLVED")") + "," + entity(kOne)),
       InterruptionKind::kScheduledChange, august_15},
      {"health names it twice", health("", entity(kOne) + "," + entity(kOne)),
       InterruptionKind::kScheduledChange, august_15},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const auto all = read_message({"sqs-1", c.body, kReceived});
    ASSERT_EQ(1u, all.size());
    EXPECT_EQ("", all.front().reason);
    const model::Interruption& one = all.front();
    EXPECT_EQ(c.kind, one.kind);
    EXPECT_EQ("aws:////" + kOne, one.provider_id.str());
    EXPECT_EQ("event-1/" + kOne, one.message.str());
    EXPECT_EQ(c.deadline, one.deadline_millis);
    EXPECT_EQ(kSent, one.sent_millis);
  }
}

TEST(AwsMessages, AHealthEventOfManyInstancesIsOneInterruptionEach) {
  const auto all =
      read_message({"sqs-1", health("", entity(kTwo) + "," + entity(kOne)), kReceived});
  ASSERT_EQ(2u, all.size());
  EXPECT_EQ("event-1/" + kOne, all[0].message.str());
  EXPECT_EQ("aws:////" + kOne, all[0].provider_id.str());
  EXPECT_EQ("event-1/" + kTwo, all[1].message.str());
}

TEST(AwsMessages, AHealthEventTellsOfAsManyInstancesAsItsSizeLetsIn) {
  for (const std::size_t count : {std::size_t{1'001}, kEntitiesMax, kEntitiesMax + 1}) {
    std::string many;
    for (std::size_t i = 0; i < count; ++i)
      many += (i == 0 ? "" : ",") + entity("i-" + std::to_string(10'000'000 + i));
    const std::string body = health("", many);
    ASSERT_LE(body.size(), kMessageBytesMax);
    const auto all = read_message({"sqs-1", body, kReceived});
    ASSERT_EQ(std::min(count, kEntitiesMax), all.size());
    EXPECT_EQ("aws:////i-10000000", all.front().provider_id.str());
    EXPECT_EQ(InterruptionKind::kScheduledChange, all.back().kind);
  }
}

// Whoever forwards or composes events may give several the same id.
TEST(AwsMessages, EventsWithOneIdAreTwoWhereTheyNameTwoInstances) {
  const std::string first = of_instance(kSpot);
  std::string second = first;
  second.replace(second.find(kOne), kOne.size(), kTwo);
  const auto one = read_message({"sqs-1", first, kReceived});
  const auto two = read_message({"sqs-2", second, kReceived});
  ASSERT_EQ(1u, one.size());
  ASSERT_EQ(1u, two.size());
  EXPECT_NE(one.front().message, two.front().message);
  EXPECT_EQ(one.front().message, read_message({"sqs-3", first, kReceived}).front().message)
      << "delivered again";
}

TEST(AwsMessages, WhatIsNothingForUsHasAReason) {
  struct Case {
    const char* name;
    std::string body;
    const char* reason;
    const char* id;
  };
  const std::vector<Case> cases = {
      {"empty", "", "not a JSON object", "sqs-1"},
      {"no JSON", "hello", "not a JSON object", "sqs-1"},
      {"a list", "[]", "not a JSON object", "sqs-1"},
      {"deep", std::string(100'000, '['), "not a JSON object", "sqs-1"},
      {"invalid UTF-8", "{\"a\":\"\xff\"}", "not a JSON object", "sqs-1"},
      {"too large", std::string(kMessageBytesMax + 1, ' '), "larger than 1 MiB", "sqs-1"},
      {"of SNS", R"({"Type":"Notification","Message":"{}"})", "not an event of EventBridge",
       "sqs-1"},
      {"another version", R"({"version":"1","id":"e","source":"a","detail-type":"b"})",
       "version: expected \"0\", found \"1\"", "e"},
      {"no detail", R"({"version":"0","id":"e","source":"a","detail-type":"b"})",
       "detail: expected an object", "e"},
      {"another source", event("aws.ecs", kSpot, "{}"), "nothing to do for", "event-1"},
      {"another type", event("aws.ec2", "EC2 Fleet State Change", "{}"),
       "nothing to do for \"EC2 Fleet State Change\" of \"aws.ec2\"", "event-1"},
      {"a line break in a name", event("aws.ec2", "a\\nb", "{}"), "\"a?b\"", "event-1"},
      {"running", of_instance(kState, R"(,"state":"running")"), "nothing to do for \"running\"",
       "event-1"},
      {"no instance", event("aws.ec2", kSpot, "{}"), "detail.instance-id: expected", "event-1"},
      {"no instance id", event("aws.ec2", kSpot, R"({"instance-id":"i-xyz"})"), "found \"i-xyz\"",
       "event-1"},
      {"an id of another type", event("aws.ec2", kSpot, R"({"instance-id":7})"),
       "detail.instance-id: expected", "event-1"},
      {"health of another kind", health("", entity(kOne), "issue"), "category \"issue\"",
       "event-1"},
      {"health closed", health(R"(,"statusCode":"closed")", entity(kOne)), "completed or canceled",
       "event-1"},
      {"health completed",
       health(R"(,"eventDescription":[{"latestDescription":"[Completed] done"}])", entity(kOne)),
       "completed or canceled", "event-1"},
      {"health canceled",
       health(R"(,"eventDescription":[{"latestDescription":"[Canceled] not"}])", entity(kOne)),
       "completed or canceled", "event-1"},
      {"health of a volume", health("", entity("vol-01234567")), "names no instance", "event-1"},
      {"health of no list", health("", "").replace(health("", "").rfind("[]"), 2, "{}"),
       "affectedEntities: expected a list", "event-1"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const auto all = read_message({"sqs-1", c.body, kReceived});
    ASSERT_EQ(1u, all.size());
    EXPECT_NE(std::string::npos, all.front().reason.find(c.reason)) << all.front().reason;
    EXPECT_EQ(InterruptionKind::kOther, all.front().kind);
    EXPECT_EQ("", all.front().provider_id.str());
    EXPECT_EQ(c.id, all.front().message.str());
  }
}

TEST(AwsMessages, TimeAndIdFallBackToTheQueues) {
  std::string body = of_instance(kSpot);
  body.replace(body.find("2026-08-01T10:00:00Z"), 20, "yesterday at noon :)");
  body.replace(body.find("event-1"), 7, "a b\\nc");
  const auto all = read_message({"sqs-1", body, kReceived});
  ASSERT_EQ(1u, all.size());
  EXPECT_EQ("sqs-1/" + kOne, all.front().message.str());
  EXPECT_EQ(kReceived, all.front().sent_millis);
  EXPECT_EQ(kReceived + 120'000, all.front().deadline_millis);
}

TEST(AwsMessages, AnInstanceIsTheSameWithAndWithoutItsZone) {
  const model::ProviderId of_message = provider_id_of(kOne);
  EXPECT_EQ(of_message, model::machine_of(model::ProviderId("aws:///us-east-1a/" + kOne)));
  EXPECT_EQ(of_message, model::machine_of(of_message));
  EXPECT_EQ("kwok://node", model::machine_of(model::ProviderId("kwok://node")).str());
  EXPECT_EQ("aws://", model::machine_of(model::ProviderId("aws://")).str());
}

}  // namespace
}  // namespace karst::providers::aws
