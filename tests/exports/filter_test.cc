#include "exports/filter.h"

#include <gtest/gtest.h>

#include "events/codec.h"
#include "events/memory_log.h"
#include "exports/redaction.h"
#include "tests/events/fill.h"
#include "tests/exports/small_log.h"

namespace karst::exports {
namespace {

using events::EventType;

std::vector<std::uint64_t> taken(const events::EventLog& log, const FilterOptions& options) {
  auto filter = Filter::make(options, log.id());
  EXPECT_TRUE(filter) << filter.error().message;
  std::vector<std::uint64_t> positions;
  auto cursor = log.read(filter->first_in(log));
  for (auto event = (*cursor)->next(); event && *event; event = (*cursor)->next()) {
    if (filter->ends_before((*event)->envelope)) break;
    if (filter->takes(**event)) positions.push_back((*event)->envelope.position.value());
  }
  return positions;
}

void add(events::MemoryLog& log, const std::vector<events::Body>& bodies) {
  for (const events::Body& body : bodies) {
    const events::Record record = events::make_record(body);
    ASSERT_TRUE(log.append({&record, 1}, events::Durability::kSynced));
  }
}

TEST(Filter, TakesByRangeKindAndSubject) {
  const SmallLog log;
  struct Case {
    std::string name;
    FilterOptions options;
    std::vector<std::uint64_t> want;
  };
  const std::vector<Case> cases = {
      {"everything", {}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}},
      {"positions", {"3", "5", {}, {}}, {3, 4, 5}},
      {"times", {"1970-01-01T00:00:02Z", "1970-01-01T00:00:03Z", {}, {}}, {2, 3}},
      {"fractions of a millisecond",
       {"1970-01-01T00:00:02.0009999999999Z", "1970-01-01T00:00:03.0000000001Z", {}, {}},
       {2, 3}},
      {"a time that nothing has", {"1971-01-01T00:00:00Z", "", {}, {}}, {}},
      {"facts", {"", "", {}, {"facts"}}, {3, 4, 8, 9, 11, 13}},
      {"outcomes and a type", {"", "", {}, {"outcomes", "PodObserved"}}, {4, 6, 10, 13}},
      {"commands", {"", "", {}, {"commands"}}, {5, 7, 12}},
      {"decisions are commands too", {"", "", {}, {"decisions"}}, {5, 7, 12}},
      {"a pod, by its name", {"", "", {"pod/shop/web-1"}, {}}, {4, 13}},
      {"no pod of that name", {"", "", {"pod/shop/web-9"}, {}}, {}},
      {"a claim with its commands, outcomes and interruption",
       {"", "", {"nodeclaim/general-abcde"}, {}},
       {5, 6, 7, 8, 10, 11, 12}},
      {"the claims of a pool", {"", "", {"nodepool/general"}, {}}, {5, 6, 7, 8, 10, 11, 12}},
      {"a node", {"", "", {"node/n1"}, {}}, {9}},
      {"a command and what became of it", {"", "", {"command/7"}, {}}, {7, 10}},
      {"two subjects", {"", "", {"node/n1", "pod/shop/web-1"}, {}}, {4, 9, 13}},
      {"a subject, known from before the range",
       {"10", "", {"nodeclaim/general-abcde"}, {}},
       {10, 11, 12}},
      {"all at once", {"5", "11", {"nodeclaim/general-abcde"}, {"outcomes"}}, {6, 10}},
  };
  for (const Case& c : cases) EXPECT_EQ(taken(log.log(), c.options), c.want) << c.name;
}

// A node by its machine, before the claim names it, with what is done to it; no other claim's.
TEST(Filter, ANodeIsItsClaims) {
  events::MemoryLog log(model::LogId("log"));
  model::NodeClaim claim;
  claim.name = model::ClaimName("general-1");
  claim.uid = model::ClaimUid("uid-1");
  claim.provider_id = model::ProviderId("kwok://a");
  model::Node node, other;
  node.name = model::NodeName("n1");
  node.provider_id = claim.provider_id;
  other.name = model::NodeName("n2");
  other.provider_id = model::ProviderId("kwok://b");
  const auto taint = [](const char* name) {
    return model::Command{
        "emptiness", "empty", {}, model::TaintNode{model::NodeName(name), {}, {}, true}};
  };
  const std::uint64_t first = log.end().value();
  add(log, {events::NodeClaimObserved{claim}, events::NodeObserved{node},
            events::NodeObserved{other}, taint("n1"), taint("n2"), events::NodeGone{{}, node.name},
            taint("n1")});  // of another that got its name
  EXPECT_EQ(taken(log, {"", "", {"nodeclaim/general-1"}, {}}),
            (std::vector<std::uint64_t>{first, first + 1, first + 3, first + 5}));
  EXPECT_EQ(taken(log, {"", "", {"node/n1"}, {}}),
            (std::vector<std::uint64_t>{first + 1, first + 3, first + 5, first + 6}));
}

// A claim's machine, as a list of EC2 names it and as a message does, which does not say the zone.
TEST(Filter, AnInterruptionOfEc2IsItsClaims) {
  events::MemoryLog log(model::LogId("log"));
  model::NodeClaim claim;
  claim.name = model::ClaimName("general-1");
  claim.uid = model::ClaimUid("uid-1");
  claim.provider_id = model::ProviderId("aws:///eu-west-1a/i-0abc");
  model::Interruption notice;
  notice.message = model::MessageId("m1");
  notice.provider_id = model::ProviderId("aws:////i-0abc");
  model::Interruption other = notice;
  other.message = model::MessageId("m2");
  other.provider_id = model::ProviderId("aws:////i-0abd");
  add(log, {events::NodeClaimObserved{claim}, events::InterruptionReceived{notice},
            events::InterruptionReceived{other}});
  const std::uint64_t last = log.end().value() - 1;
  EXPECT_EQ(taken(log, {"", "", {"nodeclaim/general-1"}, {}}),
            (std::vector<std::uint64_t>{last - 2, last - 1}));
}

TEST(Filter, SaysWhenThereIsTooMuchToFollow) {
  const SmallLog log;
  for (const std::size_t items : {1U, 100U}) {
    auto filter = Filter::make({"", "", {"nodepool/general"}, {}}, log.log().id(), items);
    ASSERT_TRUE(filter);
    auto cursor = log.log().read(model::Position(1));
    for (auto event = (*cursor)->next(); event && *event; event = (*cursor)->next())
      filter->takes(**event);
    const base::Status complete = filter->complete();
    EXPECT_EQ(complete.has_value(), items == 100);
    if (complete) continue;
    EXPECT_NE(complete.error().message.find("from position 5"), std::string::npos)
        << complete.error().message;
  }
}

TEST(Filter, KnowsACommandByItsWholeId) {
  const SmallLog log;
  EXPECT_EQ(taken(log.log(), {"", "", {"command/" + log.log().id().str() + "-7"}, {}}),
            (std::vector<std::uint64_t>{7, 10}));
  EXPECT_EQ(taken(log.log(), {"", "", {"command/07"}, {}}), (std::vector<std::uint64_t>{7, 10}));
}

TEST(Filter, RefusesWhatItDoesNotUnderstand) {
  const model::LogId id("abc");
  struct Case {
    FilterOptions options;
    std::string said;
  };
  const std::vector<Case> cases = {
      {{"0", "", {}, {}}, "--from '0': expected a position"},
      {{"", "soon", {}, {}}, "--to 'soon': expected a position"},
      {{"", "", {"pod/web"}, {}}, "--subject 'pod/web': expected pod/NAMESPACE/NAME"},
      {{"", "", {"pod/shop/"}, {}}, "--subject 'pod/shop/'"},
      {{"", "", {"node/"}, {}}, "--subject 'node/'"},
      {{"", "", {"moon/a"}, {}}, "--subject 'moon/a'"},
      {{"", "", {"command/x"}, {}}, "--subject 'command/x': expected command/ID"},
      {{"", "", {"command/0"}, {}}, "a number from 1, or abc-POSITION"},
      {{"", "", {"command/other-7"}, {}}, "a command of this log"},
      {{"", "", {"command"}, {}}, "--subject 'command': expected command/ID"},
      {{"", "", {}, {"pods"}},
       "--kind 'pods': is no event type and no group of them. Expected one of facts, commands"},
      {{"", "", {}, {"podobserve"}}, "did you mean PodObserved?"},
  };
  for (const Case& c : cases) {
    const auto filter = Filter::make(c.options, id);
    ASSERT_FALSE(filter) << c.said;
    EXPECT_EQ(filter.error().kind, base::Kind::kInvalid);
    EXPECT_NE(filter.error().message.find(c.said), std::string::npos) << filter.error().message;
  }
}

TEST(Filter, SaysWhatWasAskedFor) {
  const auto filter =
      Filter::make({"1", "9", {"node/a"}, {"facts", "commands"}}, model::LogId("abc"));
  ASSERT_TRUE(filter);
  EXPECT_EQ(filter->text(), "from=1 to=9 subject=node/a kind=facts kind=commands");
  EXPECT_FALSE(filter->takes_all());
  EXPECT_TRUE(Filter().takes_all());
}

TEST(Filter, EveryTypeHasAGroupThatIsAWord) {
  for (const events::Body& body : events::testing::default_bodies()) {
    const EventType type = events::type_of(body);
    const auto types = types_of({std::string(group_of(type))}, "--kind");
    ASSERT_TRUE(types);
    EXPECT_TRUE(types->contains(type)) << events::event_type_name(type);
  }
}

TEST(Redaction, TakesTypesGroupsAndPresets) {
  const auto redaction = Redaction::make({"NodeClassObserved", "outcomes"});
  ASSERT_TRUE(redaction);
  EXPECT_FALSE(redaction->withholds(EventType::kLaunchRequested));
  EXPECT_TRUE(redaction->withholds(EventType::kNodeClassObserved));
  EXPECT_TRUE(redaction->withholds(EventType::kOutcomeReceived));
  EXPECT_FALSE(redaction->withholds(EventType::kPodObserved));
  EXPECT_EQ(redaction->text(), "NodeClassObserved outcomes");
  const auto all = Redaction::make({"all"});
  for (const events::Body& body : events::testing::default_bodies())
    EXPECT_TRUE(all->withholds(events::type_of(body)));
  EXPECT_TRUE(Redaction().none());
  for (const EventType type :
       {EventType::kPodObserved, EventType::kAccessRecorded, EventType::kInputRefused})
    EXPECT_TRUE(Redaction::make({"workloads"})->withholds(type)) << events::event_type_name(type);
  const auto unknown = Redaction::make({"secrets"});
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("--redact 'secrets'"), std::string::npos);
  EXPECT_NE(unknown.error().message.find("workloads, all"), std::string::npos);
}

// With the commitment in the place of the payload the leaf is the same.
TEST(Redaction, LeavesTheLeafAsItIs) {
  const std::string secret(32, 's');
  for (const events::Body& body : events::testing::full_bodies()) {
    const events::testing::Aligned raw(
        events::encode_event(model::Position(7), events::make_record(body)));
    const auto event = events::decode_event(model::Position(7), raw.view());
    ASSERT_TRUE(event);
    const std::string front(raw.first(raw.view().size() - event->payload.size()));
    EXPECT_EQ(front + payload_commitment(raw.view(), secret),
              events::leaf_bytes(raw.view(), secret));
    EXPECT_EQ(payload_commitment_hex(raw.view(), secret).size(), 64U);
  }
}

}  // namespace
}  // namespace karst::exports
