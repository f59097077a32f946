// What else of a cluster reaches the solver: labels of namespaces, the zones that a pool can fill,
// overlays of prices and capacities, and room that buffers keep free.
#include "tests/engine/stage.h"

namespace karst::engine {
namespace {

using namespace testing;
using model::Operator;

std::vector<model::NodeClaim> created(Story& story) {
  std::vector<model::NodeClaim> claims;
  for (const auto& command : story.take<model::CreateNodeClaim>())
    claims.push_back(std::get<model::CreateNodeClaim>(command.spec).claim);
  return claims;
}

const model::RequirementSpec* requirement(const model::NodeClaim& claim, std::string_view key) {
  for (const model::RequirementSpec& spec : claim.requirements)
    if (spec.key == key) return &spec;
  return nullptr;
}

TEST(Namespaces, TheirLabelsAreWhatSelectorsSee) {
  for (const char* team : {"blue", "red"}) {
    events::MemoryLog log(model::LogId("log"));
    Story story(log);
    set_the_stage(story);
    story.fact(events::ObjectObserved{model::Namespace{"default", {{"team", team}}}});
    story.fact(events::ObjectObserved{model::Namespace{"other", {{"team", "blue"}}}});
    model::PodShape shape = shape_of(100);
    model::PodAffinityTerm apart;
    apart.anti = true;
    apart.topology_key = model::kHostnameLabel;
    apart.namespace_selector.emplace();
    apart.namespace_selector->expressions = {{"team", Operator::kIn, {"blue"}, 0}};
    shape.affinity = {apart};
    add_pods_of(story, 2, shape);
    story.step(1100);
    EXPECT_EQ(created(story).size(), std::string_view(team) == "blue" ? 2u : 1u)
        << "they keep apart only from pods in namespaces of team blue";
  }
}

// Karpenter counts such zones, and then the spread can never be met.
TEST(Zones, AZoneThatAPoolCannotBuyInIsNoDomainOfASpread) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  model::NodePool pool = pool_of("default");
  pool.requirements = {{std::string(model::kCapacityTypeLabel), Operator::kIn, {"spot"}, 0}};
  set_the_stage(story, pool);
  model::Catalogue catalogue = story.state().catalogues().find("kwok")->catalogue;
  for (model::InstanceType& type : catalogue.types)
    std::erase_if(type.offerings, [](const model::Offering& one) {
      return one.zone == "test-zone-d" && one.capacity_type == "spot";
    });
  story.fact(events::CatalogueObserved{catalogue});
  model::PodShape shape = shape_of(100);
  model::SpreadConstraint spread;
  spread.topology_key = model::kZoneLabel;
  shape.spread = {spread};
  add_pods_of(story, 7, shape);
  story.step(1100);
  std::set<std::string> zones;
  for (const model::NodeClaim& claim : created(story)) {
    const auto* zone = requirement(claim, model::kZoneLabel);
    ASSERT_NE(zone, nullptr);
    zones.insert(zone->values.begin(), zone->values.end());
  }
  EXPECT_EQ(zones, (std::set<std::string>{"test-zone-a", "test-zone-b", "test-zone-c"}));
  for (const auto& [key, slot] : story.state().verdicts().slots())
    EXPECT_EQ(slot.row.verdict.code, "placed") << key.first;
}

TEST(Overlays, ChangeWhatIsBoughtWhileTheirGateIsOn) {
  for (const bool gate : {false, true}) {
    events::MemoryLog log(model::LogId("log"));
    events::Config config;
    config.node_overlay = gate;
    Story story(log, config);
    set_the_stage(story);
    model::NodeOverlay free;
    free.name = "free";
    free.requirements = {
        {std::string(model::kInstanceTypeLabel), Operator::kIn, {"m-16x-amd64-linux"}, 0}};
    free.price_nanos_per_hour = 1;
    free.capacity.set_amount("example.com/gpu", 4);
    story.fact(events::ObjectObserved{free});
    model::PodShape shape = shape_of(100), device = shape_of(100);
    device.requests.set_amount("example.com/gpu", 3);
    add_pods_of(story, 1, shape);
    const auto launches = create_claims(story);
    ASSERT_EQ(launches.size(), 1u);
    const model::Offer& first = std::get<model::Launch>(launches[0].spec).offers.front();
    EXPECT_EQ(first.instance_type == "m-16x-amd64-linux", gate) << first.instance_type;
    EXPECT_EQ(first.price_nanos_per_hour == 1, gate);
    story.answer(launches[0], model::OutcomeKind::kDone,
                 {instance_for(std::get<model::Launch>(launches[0].spec), 0, launches[0].id)});
    story.fact(events::ShapeRecorded{model::hash_of(device), device});
    story.fact(events::PodObserved{pending_pod("device", device)});
    story.step();
    const auto more = create_claims(story);
    ASSERT_EQ(more.size(), gate ? 1u : 0u) << "only an overlay tells of such devices";
    if (!gate) continue;
    for (const model::Offer& offer : std::get<model::Launch>(more[0].spec).offers)
      EXPECT_EQ(offer.instance_type, "m-16x-amd64-linux");
  }
}

events::Config with_buffers() {
  events::Config config;
  config.capacity_buffer = true;
  return config;
}

// Room for `replicas` pods of `cpu_millis` each.
void add_buffer(Story& story, std::int64_t replicas, std::int64_t cpu_millis) {
  const model::PodShape shape = shape_of(cpu_millis);
  const model::ShapeHash hash = model::hash_of(shape);
  story.fact(events::ShapeRecorded{hash, shape});
  story.fact(events::ObjectObserved{model::PodTemplate{"default", "room", hash, {}}});
  model::CapacityBuffer buffer;
  buffer.namespace_name = "default";
  buffer.name = "buffer";
  buffer.template_name = "room";
  buffer.replicas = replicas;
  story.fact(events::ObjectObserved{buffer});
  story.step();
}

TEST(Buffers, RoomIsMadeOnceAndNobodyIsNominated) {
  for (const bool gate : {false, true}) {
    events::MemoryLog log(model::LogId("log"));
    Story story(log, gate ? with_buffers() : events::Config{});
    set_the_stage(story);
    add_buffer(story, 1, 2'700);
    const auto launches = create_claims(story);
    ASSERT_EQ(launches.size(), gate ? 1u : 0u);
    if (!gate) continue;
    const auto& order = std::get<model::Launch>(launches[0].spec);
    EXPECT_GE(order.requests.cpu_millis, 2700);
    EXPECT_TRUE(story.state().pods().expected_on_claim(order.items[0].name.str()).empty());
    story.step(31'000);
    EXPECT_TRUE(created(story).empty()) << "its machine is on its way";
    story.answer(launches[0], model::OutcomeKind::kDone, {instance_for(order, 0, launches[0].id)});
    for (int i = 0; i < 4; ++i) story.step(31'000);
    EXPECT_TRUE(created(story).empty()) << "there is room now";
    EXPECT_FALSE(verified(log).difference);
  }
}

TEST(Buffers, ANodeWithABuffersRoomIsNotEmpty) {
  for (const bool buffered : {false, true}) {
    events::MemoryLog log(model::LogId("log"));
    Story story(log, with_buffers());
    set_the_stage(story);
    bring_up_an_empty_node(story);
    if (buffered) add_buffer(story, 3, 900);
    for (int i = 0; i < 3; ++i) story.step(31'000);
    EXPECT_EQ(story.take<model::TaintNode>().size(), buffered ? 0u : 1u);
    if (!buffered) continue;
    story.fact(events::ObjectGone{{"CapacityBuffer", "default", "buffer"}});
    story.step();
    story.step(2'000);
    EXPECT_EQ(story.take<model::TaintNode>().size(), 1u) << "the buffer is gone";
  }
}

TEST(Buffers, PodsComeFirstAndWhatIsLeftOverIsNotTold) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log, with_buffers());
  model::NodePool pool = pool_of("default");
  pool.limits = {{"cpu", 4'000}};
  set_the_stage(story, pool);
  add_pods(story, 1, 3'000);
  add_buffer(story, 10, 3'000);
  const auto launches = create_claims(story);
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_EQ(story.state()
                .pods()
                .expected_on_claim(std::get<model::Launch>(launches[0].spec).items[0].name.str())
                .size(),
            1u);
  for (const auto& [key, slot] : story.state().verdicts().slots())
    EXPECT_NE(slot.row.verdict.code, "unplaced") << key.first;
}

}  // namespace
}  // namespace karst::engine
