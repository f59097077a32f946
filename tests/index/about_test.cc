// With an index and without one the answer is the same, on simulated logs with all their faults.
#include "index/about.h"

#include <gtest/gtest.h>

#include "events/codec.h"
#include "index/index.h"
#include "tests/engine/stage.h"
#include "tests/events/log_fixture.h"
#include "tests/simulation/runner.h"

namespace karst::index {
namespace {

struct Named {
  std::set<std::string> pods, nodes, claims;
  std::vector<model::Position> commands;
};

Named all_names(const events::EventLog& log) {
  Named named;
  auto cursor = log.read(model::Position(1));
  for (;;) {
    const auto event = (*cursor)->next();
    if (!event || !*event) return named;
    const events::Body body = events::decode_body(**event);
    if (const auto* pod = std::get_if<events::PodObserved>(&body))
      named.pods.insert(pod->pod.namespace_name + "/" + pod->pod.name);
    if (const auto* node = std::get_if<events::NodeObserved>(&body))
      named.nodes.insert(node->node.name.str());
    if (const auto* claim = std::get_if<events::NodeClaimObserved>(&body))
      named.claims.insert(claim->claim.name.str());
    if (std::holds_alternative<model::Command>(body))
      named.commands.push_back((*event)->envelope.position);
  }
}

class AboutTest : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  void SetUp() override {
    simulation::RunOptions options;
    options.seed = GetParam();
    options.verify = false;
    const auto result = simulation::run(options, &log_);
    ASSERT_TRUE(result.violations.empty());
  }
  // Of the positions up to `through`.
  std::unique_ptr<Reader> index_through(model::Position through) {
    const std::string name = std::to_string(through.value());
    {
      auto index = Index::open(folder_ / name, *log_, "secret", through);
      EXPECT_TRUE(index);
      while ((*index)->through() < through) EXPECT_TRUE((*index)->advance(*log_, through));
    }
    auto reader = Reader::open(folder_ / name, *log_, "secret", folder_ / (name + "-scratch"));
    EXPECT_TRUE(reader);
    return std::move(*reader);
  }
  void expect_same(const Subject& subject, const Reader& reader) {
    const auto scanned = events_about(*log_, nullptr, subject, {});
    const auto looked_up = events_about(*log_, &reader, subject, {});
    ASSERT_TRUE(scanned) << scanned.error().message;
    ASSERT_TRUE(looked_up) << looked_up.error().message;
    EXPECT_EQ(scanned->story, looked_up->story) << subject.name << subject.command.value();
    EXPECT_EQ(scanned->streams, looked_up->streams) << subject.name;
    EXPECT_EQ(scanned->pod_uids, looked_up->pod_uids) << subject.name;
    EXPECT_EQ(scanned->left_out, looked_up->left_out) << subject.name;
    EXPECT_FALSE(scanned->story.empty()) << subject.name;
    EXPECT_EQ(looked_up->index_given_up, "");
    scanned_ += scanned->events_read;
    looked_up_ += looked_up->events_read;
    ++subjects_;
  }
  // At most `count` of them, evenly spread.
  template <class Names>
  void expect_same_of(const Names& names, SubjectKind kind, const Reader& reader,
                      std::size_t count) {
    const std::size_t step = names.size() / count + 1;
    std::size_t i = 0;
    for (const std::string& name : names)
      if (i++ % step == 0) expect_same({kind, name, {}}, reader);
  }
  void expect_all_same(const Reader& reader, std::size_t count) {
    const Named named = all_names(*log_);
    ASSERT_FALSE(named.pods.empty() || named.nodes.empty() || named.claims.empty());
    expect_same_of(named.pods, SubjectKind::kPod, reader, count);
    expect_same_of(named.nodes, SubjectKind::kNode, reader, count);
    expect_same_of(named.claims, SubjectKind::kNodeClaim, reader, count);
    const std::size_t step = named.commands.size() / count + 1;
    for (std::size_t i = 0; i < named.commands.size(); i += step)
      expect_same({SubjectKind::kCommand, "", named.commands[i]}, reader);
  }
  events::testing::TempFolder folder_;
  std::unique_ptr<sim::DiskLog> log_;
  std::uint64_t scanned_ = 0, looked_up_ = 0;
  std::size_t subjects_ = 0;
};

TEST_P(AboutTest, LooksUpWhatAScanFinds) {
  const model::Position last(log_->end().value() - 1);
  expect_all_same(*index_through(last), 12);
  EXPECT_LT(looked_up_ * 10, scanned_) << subjects_ << " subjects";
}

TEST_P(AboutTest, ScansWhatIsNotIndexedYet) {
  const model::Position half(log_->end().value() / 2);
  expect_all_same(*index_through(half), 5);
  EXPECT_LT(looked_up_, scanned_);
}

TEST_P(AboutTest, AnUnknownNameHasNoStory) {
  const auto reader = index_through(model::Position(log_->end().value() - 1));
  for (const SubjectKind kind : {SubjectKind::kPod, SubjectKind::kNode, SubjectKind::kNodeClaim}) {
    const auto found = events_about(*log_, reader.get(), {kind, "no/such", {}}, {});
    ASSERT_TRUE(found);
    EXPECT_TRUE(found->story.empty());
    EXPECT_EQ(found->events_read, 0U);
  }
}

using namespace engine::testing;

// Of a pod: what its nominations led to and went wrong.
class PodStory : public ::testing::Test {
 protected:
  PodStory() : story_(log_) {
    set_the_stage(story_);
    add_pods(story_, 1);
    story_.step(1100);
  }
  About about() {
    auto found = events_about(log_, nullptr, {SubjectKind::kPod, "default/pod-0", {}}, {});
    EXPECT_TRUE(found) << found.error().message;
    return found ? *found : About();
  }
  std::vector<std::string> types_of(const About& about, std::size_t last) {
    std::vector<std::string> types;
    for (const model::Position position : about.story) {
      const auto cursor = log_.read(position);
      types.emplace_back(events::event_type_name((*(*cursor)->next())->envelope.type));
    }
    types.erase(types.begin(),
                types.end() - static_cast<std::ptrdiff_t>(std::min(last, types.size())));
    return types;
  }
  ports::IssuedCommand create() {
    auto creates = story_.take<model::CreateNodeClaim>();
    EXPECT_EQ(creates.size(), 1u);
    return creates.at(0);
  }
  events::MemoryLog log_{model::LogId("log")};
  engine::testing::Story story_;
};

TEST_F(PodStory, ARefusedCreateIsInItEachTime) {
  story_.answer(create(), model::OutcomeKind::kRefused, {}, model::RefusalCode::kDenied);
  story_.step();
  const About once = about();
  EXPECT_EQ(types_of(once, 2), (std::vector<std::string>{"PodsNominated", "OutcomeReceived"}));
  EXPECT_EQ(once.refusal, once.story.back());
  story_.step(20'000);
  story_.answer(create(), model::OutcomeKind::kRefused, {}, model::RefusalCode::kDenied);
  story_.step();
  EXPECT_EQ(types_of(about(), 4), (std::vector<std::string>{"PodsNominated", "OutcomeReceived",
                                                            "PodsNominated", "OutcomeReceived"}));
  story_.step(60'000);
  story_.answer(create(), model::OutcomeKind::kDone);
  story_.step();
  EXPECT_EQ(types_of(about(), 1), (std::vector<std::string>{"PodsNominated"}))
      << "a success is not";
  EXPECT_EQ(about().refusal, model::Position());
}

TEST_F(PodStory, AnUnclearCreateIsInItWithItsFurtherAttempts) {
  story_.answer(create(), model::OutcomeKind::kUnclear);
  story_.step();
  story_.step(5'000);
  EXPECT_EQ(types_of(about(), 3),
            (std::vector<std::string>{"PodsNominated", "OutcomeReceived", "AttemptStarted"}));
  EXPECT_NE(about().refusal, model::Position());
}

TEST_F(PodStory, SoIsARefusedLaunch) {
  const ports::IssuedCommand first = create();
  model::NodeClaim claim = std::get<model::CreateNodeClaim>(first.spec).claim;
  claim.uid = model::ClaimUid("uid-" + claim.name.str());
  story_.fact(events::NodeClaimObserved{claim});
  story_.answer(first, model::OutcomeKind::kDone);
  story_.step();
  const auto launches = story_.take<model::Launch>();
  ASSERT_EQ(launches.size(), 1u);
  story_.answer(launches[0], model::OutcomeKind::kRefused, {}, model::RefusalCode::kDenied);
  story_.step();
  const About found = about();
  ASSERT_NE(found.refusal, model::Position());
  EXPECT_NE(std::find(found.story.begin(), found.story.end(), found.refusal), found.story.end());
}

// An orphan: a node and its machine without a claim.
TEST(NodeStory, HasTheEndOfAMachineWithoutAClaim) {
  events::MemoryLog log(model::LogId("log"));
  engine::testing::Story story(log);
  const model::ProviderId machine("kwok://lost");
  model::Node node;
  node.name = model::NodeName("lost");
  node.uid = model::NodeUid("node-uid");
  node.provider_id = machine;
  story.fact(events::NodeObserved{node});
  story.step();
  const events::Body end = model::Command{"orphans", "orphan", {}, model::Terminate{machine, {}}};
  const events::Record record = events::make_record(end);
  const auto position = log.append({&record, 1}, events::Durability::kSynced);
  ASSERT_TRUE(position);
  const auto found = events_about(log, nullptr, {SubjectKind::kNode, "lost", {}}, {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->story.back(), model::Position(log.end().value() - 1));
}

// Of EC2: the message that announces its end does not say the zone of the machine.
TEST(ClaimStory, HasTheNoticesOfItsMachine) {
  events::MemoryLog log(model::LogId("log"));
  model::NodeClaim claim;
  claim.name = model::ClaimName("general-1");
  claim.uid = model::ClaimUid("uid-1");
  model::Outcome launched;
  launched.kind = model::OutcomeKind::kDone;
  launched.instances.emplace_back();
  launched.instances.back().provider_id = model::ProviderId("aws:///eu-west-1a/i-0abc");
  launched.instances.back().claim = claim.uid;
  model::Interruption notice;
  notice.message = model::MessageId("m1");
  notice.provider_id = model::ProviderId("aws:////i-0abc");
  for (const events::Body& body :
       {events::Body(events::NodeClaimObserved{claim}), events::Body(launched),
        events::Body(events::InterruptionReceived{notice})}) {
    const events::Record record = events::make_record(body);
    ASSERT_TRUE(log.append({&record, 1}, events::Durability::kSynced));
  }
  const auto found = events_about(log, nullptr, {SubjectKind::kNodeClaim, "general-1", {}}, {});
  ASSERT_TRUE(found);
  ASSERT_FALSE(found->story.empty());
  EXPECT_EQ(found->story.back(), model::Position(log.end().value() - 1));
}

INSTANTIATE_TEST_SUITE_P(Seeds, AboutTest, ::testing::Values(1, 2, 7),
                         [](const auto& tested) { return std::to_string(tested.param); });

}  // namespace
}  // namespace karst::index
