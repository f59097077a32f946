// What is held back: new work while the disk of the log is full, removals while the clock is wrong.
#include "tests/engine/stage.h"

namespace karst::engine {
namespace {

using namespace testing;

TEST(Engine, NothingNewStartsWhileTheDiskOfTheLogIsFull) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story);
  story.fact(events::LogSpaceLow{true});
  add_pods(story, 3);
  story.step(20'000);
  EXPECT_TRUE(story.take<model::CreateNodeClaim>().empty());
  story.fact(events::LogSpaceLow{false});
  story.step(100);
  const auto created = story.take<model::CreateNodeClaim>();
  ASSERT_EQ(created.size(), 1u) << "the window has long closed";
  // A claim that was made just before: its launch waits as well.
  model::NodeClaim claim = std::get<model::CreateNodeClaim>(created[0].spec).claim;
  claim.uid = model::ClaimUid("uid-1");
  claim.creation_millis = story.now();
  story.fact(events::LogSpaceLow{true});
  story.fact(events::NodeClaimObserved{claim});
  story.answer(created[0], model::OutcomeKind::kDone);
  story.step(100);
  EXPECT_TRUE(story.take<model::Launch>().empty());
  story.fact(events::LogSpaceLow{false});
  story.step(100);
  EXPECT_EQ(story.take<model::Launch>().size(), 1u);
  EXPECT_EQ(verified(log).difference, std::nullopt);
}

// Whoever answers at once with another name asks for ever: the pool waits 1, 2, 4 ... seconds.
TEST(Engine, AClaimThatIsRefusedIsAskedForAgainLaterAndLater) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story);
  add_pods(story, 3);
  story.step(20'000);
  std::vector<ports::IssuedCommand> wanted = story.take<model::CreateNodeClaim>();
  ASSERT_FALSE(wanted.empty());
  for (const std::int64_t wait_millis : {1'000, 2'000, 4'000, 8'000}) {
    for (const auto& command : wanted)
      story.answer(command, model::OutcomeKind::kRefused, {}, model::RefusalCode::kInvalid);
    story.step();
    EXPECT_TRUE(story.take<model::CreateNodeClaim>().empty());
    story.step(wait_millis / 2);
    EXPECT_TRUE(story.take<model::CreateNodeClaim>().empty()) << wait_millis;
    const auto* said = story.state().verdicts().find(
        std::pair<std::string, std::string>("nodepool/default", "provisioning"));
    ASSERT_NE(said, nullptr);
    EXPECT_EQ(said->verdict.code, "claims_refused");
    story.step(wait_millis / 2 + 100);
    wanted = story.take<model::CreateNodeClaim>();
    EXPECT_FALSE(wanted.empty()) << wait_millis;
  }
  EXPECT_LE(story.state().back_offs().size(), 1U);  // by pool, not by claim
  for (const auto& command : wanted) story.answer(command, model::OutcomeKind::kDone);
  story.step();
  EXPECT_EQ(story.state().back_offs().size(), 0U);
  EXPECT_EQ(verified(log).difference, std::nullopt);
}

TEST(Engine, APoolWhoseClaimsAreRefusedSaysSoOnceAPass) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story);
  model::PodShape apart = shape_of(500);
  model::PodAffinityTerm term;
  term.anti = true;
  term.topology_key = std::string(model::kHostnameLabel);
  apart.affinity = {term};
  add_pods_of(story, 3, apart);
  story.step(20'000);
  const std::vector<ports::IssuedCommand> wanted = story.take<model::CreateNodeClaim>();
  ASSERT_EQ(wanted.size(), 3U);
  for (const auto& command : wanted)
    story.answer(command, model::OutcomeKind::kRefused, {}, model::RefusalCode::kInvalid);
  story.step();
  std::size_t verdicts = 0;
  auto cursor = log.read(model::Position(1));
  ASSERT_TRUE(cursor);
  for (auto event = (*cursor)->next(); event && *event; event = (*cursor)->next())
    verdicts += (*event)->envelope.type == events::EventType::kVerdictReached &&
                (*event)->payload.find("claims_refused") != std::string_view::npos;
  EXPECT_EQ(verdicts, 1U);
}

TEST(Engine, ARestartLooksAtTheDiskAnew) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  story.fact(events::LogSpaceLow{true});
  story.fact(events::WallClockJumped{3'600'000});
  story.step();
  EXPECT_TRUE(story.state().log_space_low());
  EXPECT_TRUE(story.state().wall_clock_wrong());
  story.start();
  EXPECT_FALSE(story.state().log_space_low());
  EXPECT_FALSE(story.state().wall_clock_wrong());
}

TEST(Engine, AnEmptyNodeStaysWhileTheMachinesClockIsWrongOrTheDiskIsFull) {
  struct Row {
    const char* name;
    events::Body begins, ends;
  };
  const Row rows[] = {
      {"clock", events::WallClockJumped{-3'600'000}, events::WallClockJumped{10}},
      {"disk", events::LogSpaceLow{true}, events::LogSpaceLow{false}},
  };
  for (const Row& row : rows) {
    events::MemoryLog log(model::LogId("log"));
    Story story(log);
    set_the_stage(story);
    bring_up_an_empty_node(story);
    story.fact(row.begins);
    story.step(60'000);
    EXPECT_TRUE(story.take<model::TaintNode>().empty()) << row.name;
    story.fact(row.ends);
    story.step();
    EXPECT_EQ(story.take<model::TaintNode>().size(), 1u) << row.name;
  }
}

TEST(Engine, AnEmptyNodeThatAPersonHoldsStaysAndThatIsSaid) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story);
  bring_up_an_empty_node(story);
  story.fact(events::WallClockJumped{3'600'000});  // nothing goes while the test prepares
  story.step();
  model::Node node = story.state().nodes().find(model::NodeName("node-1"))->node;
  node.annotations = {{"karpenter.sh/do-not-disrupt", "true"}};
  story.fact(events::NodeObserved{node});
  story.fact(events::WallClockJumped{0});
  story.step(10'000);
  EXPECT_TRUE(story.take<model::TaintNode>().empty());
  const auto* verdict = story.state().verdicts().find(std::pair<std::string, std::string>(
      "nodeclaim/" + story.state().claims().slots().begin()->first.str(), "emptiness"));
  ASSERT_NE(verdict, nullptr);
  EXPECT_EQ(verdict->verdict.code, "held_by_annotation");
  node.annotations.clear();
  story.fact(events::NodeObserved{node});
  story.step();
  EXPECT_EQ(story.take<model::TaintNode>().size(), 1u);
}

TEST(Engine, AWrongClockCallsAnOpenRemovalOff) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story);
  bring_up_an_empty_node(story);
  story.step();
  const auto taints = story.take<model::TaintNode>();
  ASSERT_EQ(taints.size(), 1u);
  model::Node node = story.state().nodes().find(model::NodeName("node-1"))->node;
  node.taints.push_back(std::get<model::TaintNode>(taints[0].spec).taint);
  story.answer(taints[0], model::OutcomeKind::kDone);
  story.fact(events::NodeObserved{node});
  story.fact(events::WallClockJumped{3'600'000});
  story.step();
  story.step(6'000);  // the echo of the first taint is waited for
  const auto back = story.take<model::TaintNode>();
  ASSERT_EQ(back.size(), 1u);
  EXPECT_FALSE(std::get<model::TaintNode>(back[0].spec).add);
  EXPECT_TRUE(story.take<model::DeleteObject>().empty());
}

// Daemons' pods do not keep a node from being empty, but one of them may keep it from being chosen:
// once it is chosen, it would be drained of all others and wait for ever.
TEST(Engine, AnEmptyNodeStaysWhileADaemonsPodHoldsIt) {
  struct Row {
    const char* name;
    model::DoNotDisrupt annotation;
    std::vector<const char*> budgets;  // that select it and allow nothing
    bool tolerates;                    // karpenter.sh/disrupted: it stays until the end
    std::string code;                  // empty: nothing holds it
  };
  const Row rows[] = {
      {"a plain one", model::DoNotDisrupt::kNo, {}, false, ""},
      {"do-not-disrupt", model::DoNotDisrupt::kForever, {}, false, "held_by_pod"},
      {"a budget", model::DoNotDisrupt::kNo, {"b1"}, false, "held_by_budget"},
      {"two budgets", model::DoNotDisrupt::kNo, {"b1", "b2"}, false, "held_by_budgets"},
      {"a budget of one that stays", model::DoNotDisrupt::kNo, {"b1"}, true, ""},
      {"do-not-disrupt of one that stays", model::DoNotDisrupt::kForever, {}, true, "held_by_pod"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    events::MemoryLog log(model::LogId("log"));
    Story story(log);
    set_the_stage(story);
    bring_up_an_empty_node(story);
    story.fact(events::WallClockJumped{3'600'000});  // nothing goes while the test prepares
    model::PodShape shape = shape_of(100);
    shape.owner_kind = model::OwnerKind::kDaemonSet;
    shape.do_not_disrupt = row.annotation;
    if (row.tolerates) shape.tolerations.push_back({"", true, "", {}, {}});
    model::Pod daemon = pending_pod("daemon", shape);
    daemon.unschedulable = false;
    daemon.ready = true;
    daemon.node = model::NodeName("node-1");
    model::set_label(daemon.labels, "app", "agent");
    story.fact(events::ShapeRecorded{model::hash_of(shape), shape});
    story.fact(events::PodObserved{daemon});
    for (const char* name : row.budgets) {
      model::DisruptionBudget budget;
      budget.namespace_name = "default";
      budget.name = name;
      budget.selector.expressions = {{"app", model::Operator::kIn, {"agent"}, 0}};
      budget.disruptions_allowed = 0;
      story.fact(events::ObjectObserved{budget});
    }
    story.step();
    story.fact(events::WallClockJumped{0});
    story.step(10'000);
    EXPECT_EQ(story.take<model::TaintNode>().empty(), !row.code.empty());
    if (row.code.empty()) continue;
    const auto* verdict = story.state().verdicts().find(std::pair<std::string, std::string>(
        "nodeclaim/" + story.state().claims().slots().begin()->first.str(), "emptiness"));
    ASSERT_NE(verdict, nullptr);
    EXPECT_EQ(verdict->verdict.code, row.code);
    story.fact(events::PodGone{daemon.uid, "default", "daemon"});
    story.step();
    EXPECT_EQ(story.take<model::TaintNode>().size(), 1u) << "nothing holds it any more";
    EXPECT_FALSE(verified(log).difference);
  }
}

}  // namespace
}  // namespace karst::engine
