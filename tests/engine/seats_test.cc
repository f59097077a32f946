// Pods that wait for a node which others have filled meanwhile.
#include "tests/engine/stage.h"

namespace karst::engine {
namespace {

using namespace testing;

model::Pod bound_pod(const std::string& uid, const model::PodShape& shape,
                     const std::string& node) {
  model::Pod pod = pending_pod(uid, shape);
  pod.unschedulable = false;
  pod.node = model::NodeName(node);
  return pod;
}

// Its claim's node is up with 4 CPUs; three pods of 1 CPU each were promised to it. What others
// took of the node decides for how many of them new capacity is asked, in the next batch and not
// after the nomination's 20 s.
TEST(Seats, TakenByOthersAreAskedForAnew) {
  const struct {
    const char* name;
    std::int64_t taken_cpu_millis;
    std::size_t more_pods;  // how many of the three have a place elsewhere now
  } cases[] = {
      {"nothing is taken", 0, 0},
      {"what is left holds all three", 900, 0},
      {"one seat is taken", 1500, 1},
      {"the node is full", 4000, 3},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.name);
    events::MemoryLog log(model::LogId("log"));
    Story story(log);
    set_the_stage(story);
    add_pods(story, 3, 1000);
    const auto launches = create_claims(story);
    ASSERT_EQ(launches.size(), 1u);
    come_up(story, launches[0]);
    story.step();
    story.take<model::CreateNodeClaim>();
    const model::PodShape other = shape_of(one.taken_cpu_millis);
    story.fact(events::ShapeRecorded{model::hash_of(other), other});
    if (one.taken_cpu_millis > 0)
      story.fact(events::PodObserved{bound_pod("stranger", other, "node-1")});
    story.step();
    story.step(1100);
    std::size_t elsewhere = 0;
    for (const char* uid : {"pod-0", "pod-1", "pod-2"}) {
      const auto& row = story.state().pods().row_of(uid);
      const auto name = std::get<model::Launch>(launches[0].spec).items[0].name;
      elsewhere += !row.expected_claim.empty() && row.expected_claim != name;
    }
    EXPECT_EQ(elsewhere, one.more_pods);
    EXPECT_EQ(story.take<model::CreateNodeClaim>().empty(), one.more_pods == 0);
    EXPECT_FALSE(verified(log).difference);
  }
}

// A node for three pods of 1 CPU with 4 CPUs that has joined, initialized or not.
void promise_three_seats(Story& story, bool initialized) {
  set_the_stage(story);
  add_pods(story, 3, 1000);
  const auto launches = create_claims(story);
  ASSERT_EQ(launches.size(), 1u);
  const auto& launch = std::get<model::Launch>(launches[0].spec);
  const model::Instance instance = instance_for(launch, 0, launches[0].id);
  if (initialized) return come_up(story, launches[0]);
  story.answer(launches[0], model::OutcomeKind::kDone, {instance});
  model::Node node = node_up(instance);
  node.labels = {{"karpenter.sh/registered", "true"}};
  node.allocatable = {};  // the kubelet says what it has later
  story.fact(events::NodeObserved{node});
  model::NodeClaim claim = story.state().claims().find(launch.items[0].name)->claim;
  claim.provider_id = instance.provider_id;
  story.fact(events::NodeClaimObserved{claim});
}

void bind_a_stranger(Story& story, const std::string& uid, std::int64_t cpu_millis) {
  const model::PodShape shape = shape_of(cpu_millis);
  story.fact(events::ShapeRecorded{model::hash_of(shape), shape});
  story.fact(events::PodObserved{bound_pod(uid, shape, "node-1")});
}

// While the kube-scheduler fills a node up, who is left over is not known yet: what is bought for
// them is bought once, a batch window's idle time after the last binding, whether the node is
// initialized by then or not.
TEST(Seats, ThatAreTakenOneByOneAreBoughtForTogether) {
  for (const bool initialized : {true, false}) {
    SCOPED_TRACE(initialized);
    events::MemoryLog log(model::LogId("log"));
    Story story(log);
    promise_three_seats(story, initialized);
    story.step();
    bind_a_stranger(story, "first", 1500);
    story.step();
    story.step(600);
    EXPECT_TRUE(story.take<model::CreateNodeClaim>().empty()) << "600 ms after the first";
    bind_a_stranger(story, "second", 1000);
    story.step();
    story.step(900);
    EXPECT_TRUE(story.take<model::CreateNodeClaim>().empty()) << "900 ms after the second";
    story.step(200);
    const auto expected = [&](const char* uid) {
      return story.state().pods().row_of(uid).expected_claim;
    };
    EXPECT_NE(expected("pod-1"), expected("pod-0"));
    EXPECT_EQ(expected("pod-2"), expected("pod-1"));
    EXPECT_EQ(story.take<model::CreateNodeClaim>().size(), 1u);
    EXPECT_FALSE(verified(log).difference);
  }
}

// Bindings that do not end keep nobody waiting longer than a batch may last.
TEST(Seats, AreBoughtForWhileBindingsGoOn) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  promise_three_seats(story, true);
  story.step();
  bind_a_stranger(story, "large", 1500);
  story.step();
  for (int i = 0; i < 11; ++i) {
    EXPECT_TRUE(story.take<model::CreateNodeClaim>().empty()) << i;
    bind_a_stranger(story, "small-" + std::to_string(i), 1);
    story.step(900);
  }
  bind_a_stranger(story, "small-last", 1);
  story.step(900);
  EXPECT_EQ(story.take<model::CreateNodeClaim>().size(), 1u);
  EXPECT_FALSE(verified(log).difference);
}

// A full node is left out of the problem, but not what its pods forbid: one that keeps its like out
// of the whole zone does so from there.
TEST(Seats, FullNodesStillForbidTheirZone) {
  for (const bool forbids : {false, true}) {
    SCOPED_TRACE(forbids);
    events::MemoryLog log(model::LogId("log"));
    Story story(log);
    set_the_stage(story);
    add_pods(story, 1, 1000);
    const auto launches = create_claims(story);
    ASSERT_EQ(launches.size(), 1u);
    come_up(story, launches[0]);
    story.step();
    model::PodShape hermit = shape_of(4000);
    model::PodAffinityTerm term;
    term.anti = true;
    term.topology_key = std::string(model::kZoneLabel);
    term.selector.expressions = {{"app", model::Operator::kIn, {"web"}, 0}};
    if (forbids) hermit.affinity = {term};
    story.fact(events::ShapeRecorded{model::hash_of(hermit), hermit});
    model::Pod pod = bound_pod("hermit", hermit, "node-1");
    pod.labels = {{"app", "hermit"}};
    story.fact(events::PodObserved{pod});
    model::Node node = story.state().nodes().find(model::NodeName("node-1"))->node;
    model::set_label(node.labels, model::kZoneLabel, "test-zone-a");
    story.fact(events::NodeObserved{node});
    story.fact(events::PodGone{model::PodUid("pod-0"), "default", "pod-0"});
    story.step();
    model::PodShape web = shape_of(500);
    web.node_selector = {{std::string(model::kZoneLabel), "test-zone-a"}};
    story.fact(events::ShapeRecorded{model::hash_of(web), web});
    model::Pod guest = pending_pod("guest", web);
    guest.labels = {{"app", "web"}};
    story.fact(events::PodObserved{guest});
    story.step();
    story.step(1100);
    EXPECT_EQ(story.take<model::CreateNodeClaim>().empty(), forbids);
    EXPECT_FALSE(verified(log).difference);
  }
}

}  // namespace
}  // namespace karst::engine
