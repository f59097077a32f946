// What volumes do to placing pods: where they may go, and how many a node takes.
#include "tests/engine/stage.h"

namespace karst::engine {
namespace {

using namespace testing;
using model::Operator;

constexpr std::string_view kDriver = "ebs.csi.aws.com";

model::VolumeClaim claim_of(std::optional<std::string> storage_class, std::string volume = {}) {
  return {"default", "data", std::move(storage_class), std::move(volume), false, false};
}
model::PersistentVolume volume_in(std::vector<std::string> zones) {
  model::PersistentVolume volume;
  volume.name = "v1";
  volume.driver = kDriver;
  if (!zones.empty())
    volume.topology = {{{"topology.ebs.csi.aws.com/zone", Operator::kIn, std::move(zones), 0}}};
  return volume;
}
model::StorageClass class_in(const std::string& name, std::vector<std::string> zones,
                             bool immediate, bool is_default) {
  model::StorageClass storage{name, std::string(kDriver), immediate, is_default, {}};
  if (!zones.empty())
    storage.topology = {{{std::string(model::kZoneLabel), Operator::kIn, std::move(zones), 0}}};
  return storage;
}

model::PodShape shape_with(std::vector<std::string> claims, std::int64_t cpu_millis = 500) {
  model::PodShape shape = shape_of(cpu_millis);
  shape.volume_claims = std::move(claims);
  return shape;
}

void add_pod(Story& story, const std::string& uid, const model::PodShape& shape) {
  story.fact(events::ShapeRecorded{model::hash_of(shape), shape});
  story.fact(events::PodObserved{pending_pod(uid, shape)});
  story.step();
}

// "zone-a,zone-b" of the claim's demand; "any" when it has none.
std::string zones_of(const model::NodeClaim& claim) {
  std::string zones;
  for (const model::RequirementSpec& spec : claim.requirements)
    if (spec.key == model::kZoneLabel)
      for (const std::string& value : spec.values) zones += (zones.empty() ? "" : ",") + value;
  return zones.empty() ? "any" : zones;
}

std::string verdict_of(const Story& story, const model::PodShape& shape) {
  const auto* row = story.state().verdicts().find(std::pair<std::string, std::string>(
      "shape/" + to_string(model::hash_of(shape)), "provisioning"));
  if (row == nullptr) return "";
  std::string text = row->verdict.code;
  for (const std::string& arg : row->verdict.args) text += " | " + arg;
  return text;
}

// The reasons are Karpenter's (v1.14), those of its validation of persistent volume claims.
TEST(Volumes, DecideWhereAPodMayGo) {
  const auto first_use = [](std::vector<std::string> zones, bool is_default) {
    return class_in("fast", std::move(zones), false, is_default);
  };
  model::VolumeClaim lost = claim_of("fast", "v1"), deleting = claim_of("fast");
  lost.lost = deleting.deleting = true;
  model::PersistentVolume leaving = volume_in({"test-zone-a"}), local = volume_in({});
  leaving.deleting = true;
  local.on_node = true;
  local.driver.clear();
  local.topology = {{{std::string(model::kHostnameLabel), Operator::kIn, {"n1"}, 0},
                     {std::string(model::kZoneLabel), Operator::kIn, {"test-zone-c"}, 0}}};
  const struct {
    const char* name;
    std::vector<model::NamedObject> input;
    const char* zones;  // empty: it is not placed
    const char* why;
  } cases[] = {
      {"bound", {claim_of("fast", "v1"), volume_in({"test-zone-b"})}, "test-zone-b", ""},
      {"bound, two zones",
       {claim_of("fast", "v1"), volume_in({"test-zone-b", "test-zone-c"})},
       "test-zone-b,test-zone-c",
       ""},
      {"bound, anywhere", {claim_of("fast", "v1"), volume_in({})}, "any", ""},
      {"on a node's own disk", {claim_of("fast", "v1"), local}, "test-zone-c", ""},
      {"at its first use",
       {claim_of("fast"), first_use({"test-zone-a"}, false)},
       "test-zone-a",
       ""},
      {"of the default class",
       {claim_of(std::nullopt), first_use({"test-zone-d"}, true)},
       "test-zone-d",
       ""},
      {"missing", {}, "", "persistentvolumeclaim \"default/data\" not found"},
      {"lost",
       {lost, volume_in({})},
       "",
       "persistentvolumeclaim \"default/data\": bound to non-existent persistentvolume"},
      {"deleting", {deleting}, "", "persistentvolumeclaim \"default/data\": is being deleted"},
      {"bound to nothing",
       {claim_of("fast", "v1")},
       "",
       "persistentvolumeclaim \"default/data\": persistentvolume \"v1\" not found"},
      {"bound to what goes",
       {claim_of("fast", "v1"), leaving},
       "",
       "persistentvolumeclaim \"default/data\": persistentvolume is being deleted"},
      {"of no class",
       {claim_of("")},
       "",
       "persistentvolumeclaim \"default/data\": unbound, without a storage class: it must be bound "
       "first"},
      {"without a default",
       {claim_of(std::nullopt), first_use({}, false)},
       "",
       "persistentvolumeclaim \"default/data\": no storage class, and none is the default"},
      {"of an unknown class",
       {claim_of("slow")},
       "",
       "persistentvolumeclaim \"default/data\": storageclass \"slow\" not found"},
      {"bound at once",
       {claim_of("fast"), class_in("fast", {}, true, false)},
       "",
       "persistentvolumeclaim \"default/data\": storageclass \"fast\" binds immediately: the claim "
       "must be bound first"},
  };
  for (const auto& c : cases) {
    events::MemoryLog log(model::LogId("log"));
    Story story(log);
    set_the_stage(story);
    for (const model::NamedObject& object : c.input) story.fact(events::ObjectObserved{object});
    const model::PodShape shape = shape_with({"data"});
    add_pod(story, "pod", shape);
    story.step(1100);
    const auto created = story.take<model::CreateNodeClaim>();
    if (*c.zones == '\0') {
      EXPECT_TRUE(created.empty()) << c.name;
      EXPECT_EQ(verdict_of(story, shape), "unplaced | *: volume: " + std::string(c.why)) << c.name;
      continue;
    }
    ASSERT_EQ(created.size(), 1u) << c.name << ": " << verdict_of(story, shape);
    EXPECT_EQ(zones_of(std::get<model::CreateNodeClaim>(created[0].spec).claim), c.zones) << c.name;
  }
}

TEST(Volumes, APodIsPlacedOnceItsClaimIsThere) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story);
  add_pod(story, "pod", shape_with({"data"}));
  story.step(1100);
  EXPECT_TRUE(story.take<model::CreateNodeClaim>().empty());
  story.fact(events::ObjectObserved{claim_of("fast", "v1")});
  story.fact(events::ObjectObserved{volume_in({"test-zone-b"})});
  story.step(20'000);
  EXPECT_EQ(story.take<model::CreateNodeClaim>().size(), 1u);
  EXPECT_FALSE(verified(log).difference);
}

// A node of the cluster's own with room for many pods and one more volume.
void add_own_node(Story& story, std::int64_t volumes_max) {
  model::Node node;
  node.name = model::NodeName("own");
  node.uid = model::NodeUid("own-uid");
  node.labels = {{std::string(model::kHostnameLabel), "own"},
                 {std::string(model::kZoneLabel), "test-zone-a"}};
  node.ready = true;
  node.allocatable.cpu_millis = 64'000;
  node.allocatable.memory_bytes = std::int64_t{64} << 30;
  node.allocatable.pods = 100;
  node.capacity = node.allocatable;
  story.fact(events::NodeObserved{node});
  story.fact(events::ObjectObserved{model::CsiNode{"own", {{std::string(kDriver), volumes_max}}}});
}

TEST(Volumes, CountAgainstWhatANodeAttaches) {
  for (const bool shared : {false, true}) {
    events::MemoryLog log(model::LogId("log"));
    Story story(log);
    set_the_stage(story);
    add_own_node(story, 2);
    story.fact(events::ObjectObserved{class_in("fast", {}, false, true)});
    for (const char* name : {"a", "b", "c"}) {
      model::VolumeClaim claim = claim_of("fast");
      claim.name = name;
      story.fact(events::ObjectObserved{claim});
    }
    const model::PodShape bound = shape_with({"a"});
    model::Pod pod = pending_pod("bound", bound);
    pod.node = model::NodeName("own");
    pod.phase = model::PodPhase::kRunning;
    pod.unschedulable = false;
    story.fact(events::ShapeRecorded{model::hash_of(bound), bound});
    story.fact(events::PodObserved{pod});
    add_pod(story, "second", shape_with({"b"}));
    add_pod(story, "third", shape_with({shared ? "a" : "c"}));
    story.step(1100);
    EXPECT_EQ(story.take<model::CreateNodeClaim>().size(), shared ? 0u : 1u)
        << "a claim that is mounted there counts once";
    EXPECT_EQ(story.state().pods().expected_on_node("own").size(), shared ? 2u : 1u);
  }
}

TEST(Volumes, OfANodesOwnDiskHoldPodsThereWhileItStays) {
  for (const bool leaves : {false, true}) {
    events::MemoryLog log(model::LogId("log"));
    Story story(log);
    set_the_stage(story);
    add_own_node(story, 9);
    story.step();
    if (leaves) {
      model::Node node = story.state().nodes().find(model::NodeName("own"))->node;
      node.deletion_millis = story.now();
      story.fact(events::NodeObserved{node});
    }
    model::PersistentVolume local = volume_in({});
    local.on_node = true;
    local.topology = {{{std::string(model::kHostnameLabel), Operator::kIn, {"own"}, 0}}};
    story.fact(events::ObjectObserved{local});
    story.fact(events::ObjectObserved{claim_of("fast", "v1")});
    const model::PodShape shape = shape_with({"data"});
    add_pod(story, "pod", shape);
    story.step(1100);
    EXPECT_EQ(story.take<model::CreateNodeClaim>().size(), leaves ? 1u : 0u);
    EXPECT_EQ(story.state().pods().expected_on_node("own").size(), leaves ? 0u : 1u)
        << verdict_of(story, shape);
  }
}

TEST(Volumes, OfOnePodAreUsedByOne) {
  for (const bool in_use : {false, true}) {
    events::MemoryLog log(model::LogId("log"));
    Story story(log);
    set_the_stage(story);
    add_own_node(story, 9);
    story.fact(events::ObjectObserved{class_in("fast", {}, false, true)});
    model::VolumeClaim once = claim_of("fast");
    once.once_per_pod = true;
    story.fact(events::ObjectObserved{once});
    const model::PodShape shape = shape_with({"data"});
    story.fact(events::ShapeRecorded{model::hash_of(shape), shape});
    if (in_use) {
      const model::PodShape other = shape_with({"data"}, 100);
      model::Pod user = pending_pod("user", other);
      user.node = model::NodeName("own");
      user.phase = model::PodPhase::kRunning;
      user.unschedulable = false;
      story.fact(events::ShapeRecorded{model::hash_of(other), other});
      story.fact(events::PodObserved{user});
    }
    for (const char* uid : {"pod-1", "pod-2"})
      story.fact(events::PodObserved{pending_pod(uid, shape)});
    story.step();
    story.step(1100);
    EXPECT_TRUE(story.take<model::CreateNodeClaim>().empty());
    EXPECT_EQ(story.state().pods().expected_on_node("own").size(), in_use ? 0u : 1u);
    EXPECT_EQ(
        verdict_of(story, shape),
        "unplaced | *: volume: persistentvolumeclaim \"default/data\" is ReadWriteOncePod, and "
        "another pod uses it");
    EXPECT_FALSE(verified(log).difference);
  }
}

TEST(Cordon, OnlyPodsThatTolerateItGoThere) {
  for (const bool tolerates : {false, true}) {
    events::MemoryLog log(model::LogId("log"));
    Story story(log);
    set_the_stage(story);
    add_own_node(story, 9);
    story.step();
    model::Node node = story.state().nodes().find(model::NodeName("own"))->node;
    node.cordoned = true;
    story.fact(events::NodeObserved{node});
    model::PodShape shape = shape_of(500);
    if (tolerates)
      shape.tolerations = {{"node.kubernetes.io/unschedulable", true, "",
                            model::TaintEffect::kNoSchedule, std::nullopt}};
    add_pod(story, "pod", shape);
    story.step(1100);
    EXPECT_EQ(story.take<model::CreateNodeClaim>().size(), tolerates ? 0u : 1u);
    EXPECT_EQ(story.state().pods().expected_on_node("own").size(), tolerates ? 1u : 0u);
  }
}

}  // namespace
}  // namespace karst::engine
