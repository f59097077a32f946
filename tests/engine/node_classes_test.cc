// Node classes whose selectors are asked of an account: when they are asked, what their status
// says, and what their pools can buy.
#include "events/codec.h"
#include "tests/engine/class_account.h"

namespace karst::engine {
namespace {

using namespace testing;
using model::ConditionStatus;

TEST(NodeClasses, AreAskedForWhenTheyChangeAndEachMinute) {
  ClassAccount account;
  events::MemoryLog log(model::LogId("log"));
  Story story(log, {}, &account);
  set_the_stage(story);
  const auto first = found(story, "small");
  EXPECT_EQ(first.request, "find {}");
  EXPECT_EQ(first.known, "");
  story.step(59'000);
  EXPECT_TRUE(story.take<model::ResolveNodeClass>().empty());
  story.step(2'000);
  const auto again = found(story, "");  // nothing has changed
  EXPECT_EQ(again.known.size(), 64u);
  const auto& row = story.state().node_classes().slots().begin()->second.row;
  EXPECT_EQ(row.resolved, "small");
  story.fact(events::NodeClassObserved{node_class(2)});
  story.step(10'000);
  const auto changed = found(story, "large");
  EXPECT_EQ(changed.generation, 2);
  EXPECT_EQ(story.state().node_classes().slots().begin()->second.row.resolved, "large");
}

// What a class has found may be large: it is read when it has changed, not in every round.
TEST(NodeClasses, AreJudgedWhenTheyOrWhatTheyFoundHasChanged) {
  ClassAccount account;
  events::MemoryLog log(model::LogId("log"));
  Story story(log, {}, &account);
  set_the_stage(story);
  found(story, "small");
  const auto judged_in = [&](int rounds) {
    const int before = account.judged;
    for (int i = 0; i < rounds; ++i) story.step(1'000);
    return account.judged - before;
  };
  judged_in(1);
  EXPECT_EQ(judged_in(20), 0);
  story.fact(events::NodeClassObserved{node_class(2)});
  EXPECT_EQ(judged_in(20), 1) << "the class";
  found(story, "large");
  EXPECT_EQ(judged_in(20), 0) << "what it found was read in the round that brought it";
}

TEST(NodeClasses, MachinesOfAReservationThatEndsAreGivenUp) {
  ClassAccount account;
  events::MemoryLog log(model::LogId("log"));
  Story story(log, {}, &account);
  set_the_stage(story);
  found(story, "small");
  const auto command = launch_for_one_pod(story);
  model::Instance machine = instance_for(std::get<model::Launch>(command.spec), 0, command.id);
  machine.offer.reservation = "cr-1";
  story.answer(command, model::OutcomeKind::kDone, {machine});
  story.step();
  story.step(60'000);
  EXPECT_TRUE(story.take<model::DeleteObject>().empty());
  found(story, "small, and cr-1 ends");
  const auto deleted = story.take<model::DeleteObject>();
  ASSERT_EQ(deleted.size(), 1u);
  EXPECT_EQ(std::get<model::DeleteObject>(deleted[0].spec).object.kind,
            model::ObjectKind::kNodeClaim);
}

// Without an answer a shadow would have nothing to decide about; nothing else leaves it.
TEST(NodeClasses, AreAskedForInAShadowToo) {
  ClassAccount account;
  events::MemoryLog log(model::LogId("log"));
  events::Config config;
  config.shadow = true;
  Story story(log, config, &account);
  set_the_stage(story);
  found(story, "small");
  EXPECT_TRUE(story.take<model::MirrorStatus>().empty());
  add_pods(story, 1);
  EXPECT_TRUE(story.step(1'100).to_dispatch.empty());
  bool decided = false;
  auto cursor = log.read(model::Position(1));
  for (auto event = (*cursor)->next(); event && *event; event = (*cursor)->next()) {
    const events::Body body = events::decode_body(**event);
    const auto* command = std::get_if<model::Command>(&body);
    decided = decided ||
              (command != nullptr && std::holds_alternative<model::CreateNodeClaim>(command->spec));
  }
  EXPECT_TRUE(decided) << "the class has types";
  // A question without an answer is given up, and asked anew.
  story.step(60'000);
  EXPECT_EQ(story.take<model::ResolveNodeClass>().size(), 1u);
  for (int i = 0; i < 4; ++i) story.step(60'000);
  EXPECT_EQ(story.take<model::ResolveNodeClass>().size(), 1u);
}

TEST(NodeClasses, TellWhatTheySeeOncePerChange) {
  ClassAccount account;
  events::MemoryLog log(model::LogId("log"));
  Story story(log, {}, &account);
  set_the_stage(story);
  const auto told = [&] {
    std::vector<std::string> all;
    for (const auto& command : story.take<model::MirrorStatus>()) {
      const auto& mirror = std::get<model::MirrorStatus>(command.spec);
      all.push_back(mirror.fields_json);
      story.answer(command, model::OutcomeKind::kDone);
      model::NodeClass seen = node_class(1);
      seen.ready_condition = mirror.conditions.at(0);
      story.fact(events::NodeClassObserved{seen});
    }
    story.step();
    return all;
  };
  EXPECT_EQ(told(), std::vector<std::string>{""});
  found(story, "small");
  story.step(10'000);
  EXPECT_EQ(told(), std::vector<std::string>{R"({"found":"small"})"});
  story.step(10'000);
  EXPECT_EQ(told(), std::vector<std::string>{});
  story.fact(events::NodeClassObserved{node_class(1)});  // somebody took the condition away
  story.step(10'000);
  EXPECT_EQ(told(), std::vector<std::string>{R"({"found":"small"})"});
  model::NodeClass older = node_class(1);  // a late word of who led before
  older.ready_condition = {"Ready", ConditionStatus::kTrue, "Ready", "", 1, 7};
  story.fact(events::NodeClassObserved{older});
  story.step(10'000);
  EXPECT_EQ(told(), std::vector<std::string>{R"({"found":"small"})"});
}

// What was found of one class is nothing of another that took its name while nobody looked.
TEST(NodeClasses, OneThatTookTheNameIsAskedForAnew) {
  ClassAccount account;
  events::MemoryLog log(model::LogId("log"));
  Story story(log, {}, &account);
  set_the_stage(story);
  found(story, "small");
  const auto& row = [&]() -> const projections::NodeClassRow& {
    return *story.state().node_classes().find(node_class(1).ref);
  };
  ASSERT_NE(row().resolved, "");
  model::NodeClass another = node_class(1);
  another.uid = "another";
  story.fact(events::NodeClassObserved{another});
  story.step();
  EXPECT_EQ(row().resolved, "");
  EXPECT_EQ(row().resolved_generation, 0);
  story.step(10'000);
  EXPECT_EQ(story.take<model::ResolveNodeClass>().size(), 1u);
}

TEST(NodeClasses, AConditionThatIsNoMoreIsCleared) {
  ClassAccount account;
  events::MemoryLog log(model::LogId("log"));
  Story story(log, {}, &account);
  set_the_stage(story);
  const auto told = [&] {
    std::string all;
    for (const auto& command : story.take<model::MirrorStatus>()) {
      const auto& mirror = std::get<model::MirrorStatus>(command.spec);
      for (const auto& one : mirror.conditions) all += "+" + one.type;
      for (const std::string& type : mirror.cleared) all += "-" + type;
      story.answer(command, model::OutcomeKind::kDone);
      model::NodeClass seen = node_class(1);
      seen.ready_condition = mirror.conditions.back();
      story.fact(events::NodeClassObserved{seen});
    }
    story.step();
    return all;
  };
  EXPECT_EQ(told(), "+Ready");
  for (const auto& [what, want] : std::vector<std::pair<std::string, std::string>>{
           {"large", "+CapacityReservationsReady+Ready"},
           {"small", "+Ready-CapacityReservationsReady"},
           {"", ""},
           {"large", "+CapacityReservationsReady+Ready"}}) {
    found(story, what);
    story.step(10'000);
    EXPECT_EQ(told(), want) << what;
    story.step(61'000);
  }
}

// A log that begins with a claim that is not launched yet: its class says that nobody has asked.
TEST(NodeClasses, AClaimWaitsUntilTheyWereAskedFor) {
  ClassAccount account;
  events::MemoryLog log(model::LogId("log"));
  Story story(log, {}, &account);
  set_the_stage(story);
  story.fact(events::NodeClaimObserved{unlaunched_claim(story, "a", 500)});
  model::NodeClass unknown = node_class(1);
  unknown.ready = false;
  unknown.ready_condition.type = "Ready";
  story.fact(events::NodeClassObserved{unknown});
  for (int i = 0; i < 10; ++i) story.step();
  EXPECT_TRUE(story.take<model::DeleteObject>().empty());
  EXPECT_TRUE(story.take<model::Launch>().empty());
  found(story, "small");
  story.step();
  EXPECT_TRUE(story.take<model::DeleteObject>().empty()) << "nor does its status say more yet";
  story.fact(events::NodeClassObserved{node_class(1)});
  story.step();
  EXPECT_TRUE(story.take<model::DeleteObject>().empty());
  EXPECT_EQ(story.take<model::Launch>().size(), 1u);
}

TEST(NodeClasses, DecideWhatTheirPoolsBuy) {
  ClassAccount account;
  events::MemoryLog log(model::LogId("log"));
  Story story(log, {}, &account);
  set_the_stage(story);
  add_pods(story, 2, 3000);
  story.step(1100);
  EXPECT_TRUE(story.take<model::CreateNodeClaim>().empty()) << "nothing was found yet";
  found(story, "small");
  story.step(10'000);  // a pass that left pods behind holds the next one for so long
  // The first pod takes the only reserved machine; the second waits for the next pass, and then has
  // none of them left, launched or not.
  for (const char* wanted : {"reserved cr-1", "on-demand "}) {
    const auto launches = create_claims(story);
    ASSERT_EQ(launches.size(), 1u);
    const auto& launch = std::get<model::Launch>(launches[0].spec);
    EXPECT_EQ(launch.request, "launch with small");
    const model::Offer& offer = launch.offers.at(0);
    EXPECT_EQ(offer.instance_type, "small");
    EXPECT_EQ(offer.capacity_type + " " + offer.reservation, wanted);
    story.step(30'000);  // a launch without an answer is awaited for so long
  }
  const int before = account.asked;
  story.step(1000);
  EXPECT_EQ(account.asked, before) << "kept while nothing changes";
}

TEST(NodeClasses, PoolsSayWhichZonesTheyLeaveAlone) {
  ClassAccount account;
  events::MemoryLog log(model::LogId("log"));
  Story story(log, {}, &account);
  set_the_stage(story);
  const auto said = [&] {
    const auto* row = story.state().verdicts().find(
        std::pair<std::string, std::string>("nodepool/default", "node_classes"));
    std::string text = row == nullptr ? "nothing" : row->verdict.code;
    if (row != nullptr)
      for (const std::string& zone : row->verdict.args) text += " " + zone;
    return text;
  };
  found(story, "small");
  EXPECT_EQ(said(), "nothing");
  for (const auto& [what, want] : std::vector<std::pair<std::string, std::string>>{
           {"small, but not in zone-1", "zonal_shift_active zone-1"},
           {"", "zonal_shift_active zone-1"},  // as before
           {"small", "zonal_shift_cleared zone-1"},
           {"large", "zonal_shift_cleared zone-1"}}) {
    story.step(61'000);
    found(story, what);
    EXPECT_EQ(said(), want) << what;
  }
}

// A machine of 8 GiB by the catalogue shows what it really has when it registers.
TEST(NodeClasses, HaveTheMemoryThatTheirMachinesShow) {
  constexpr std::int64_t kMi = 1 << 20;
  struct Case {
    std::int64_t shown_mib, wanted_mib;
    std::string launched;  // what the next order says; empty: nothing can hold the pod
  };
  for (const Case& one :
       {Case{9'000, 8'900, "launch with small of 9000 MiB"}, Case{9'000, 9'001, ""},
        Case{7'000, 7'001, ""}, Case{7'000, 7'000, "launch with small of 7000 MiB"}}) {
    ClassAccount account;
    events::MemoryLog log(model::LogId("log"));
    Story story(log, {}, &account);
    set_the_stage(story);
    found(story, "small");
    const auto first = launch_for_one_pod(story);
    const auto& launch = std::get<model::Launch>(first.spec);
    EXPECT_EQ(launch.request, "launch with small");
    model::Instance instance = instance_for(launch, 0, first.id);
    instance.image = "ami-1";
    story.answer(first, model::OutcomeKind::kDone, {instance});
    model::Node node = node_up(instance);
    node.capacity.memory_bytes = one.shown_mib * kMi;
    node.allocatable = node.capacity;
    node.allocatable.memory_bytes = 1'000 * kMi;  // the next pod has no room here
    story.fact(events::NodeObserved{node});
    story.step();
    story.fact(events::PodGone{model::PodUid("pod-0"), "default", "pod-0"});
    story.step();
    model::PodShape shape = shape_of(100);
    shape.requests.memory_bytes = one.wanted_mib * kMi;
    add_pods_of(story, 1, shape);
    const auto launches = create_claims(story);
    ASSERT_EQ(launches.size(), one.launched.empty() ? 0u : 1u)
        << one.shown_mib << " " << one.wanted_mib;
    if (!launches.empty()) {
      EXPECT_EQ(std::get<model::Launch>(launches[0].spec).request, one.launched);
    }
    story.start();  // from the log alone
    const auto* row =
        story.state().seen_memory().find(std::pair<std::string, std::string>("small", "ami-1"));
    ASSERT_NE(row, nullptr);
    EXPECT_EQ(row->bytes, one.shown_mib * kMi);
  }
}

}  // namespace
}  // namespace karst::engine
