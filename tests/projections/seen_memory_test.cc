// The memory that machines show when they register, kept for the next ones of their type and image.
#include <gtest/gtest.h>

#include "projections/cluster_state.h"

namespace karst::projections {
namespace {

constexpr std::int64_t kMi = 1 << 20;

class SeenMemory : public ::testing::Test {
 protected:
  void tell(events::Body body) {
    events::Envelope at;
    at.position = state.next_position();
    at.log_time = LogTime(1'000 + static_cast<std::int64_t>(at.position.value()));
    state.apply(at, body);
  }
  static model::ProviderId machine(const std::string& name) {
    return model::ProviderId("aws:///zone/i-" + name);
  }
  void claim(const std::string& name, const std::string& type, const std::string& image) {
    model::NodeClaim claim;
    claim.name = model::ClaimName(name);
    claim.uid = model::ClaimUid("uid-" + name);
    claim.provider_id = machine(name);
    claim.labels = {{std::string(model::kInstanceTypeLabel), type}};
    tell(events::NodeClaimObserved{claim});
    model::Instance instance;
    instance.provider_id = machine(name);
    instance.claim = claim.uid;
    instance.state = model::InstanceState::kRunning;
    instance.image = image;
    tell(events::InstanceObserved{instance});
  }
  void node(const std::string& name, std::int64_t memory_mib, bool registered = true) {
    model::Node node;
    node.name = model::NodeName("node-" + name);
    node.uid = model::NodeUid("uid-node-" + name);
    node.provider_id = machine(name);
    node.capacity.memory_bytes = memory_mib * kMi;
    if (registered) node.labels = {{std::string(model::kRegisteredLabel), "true"}};
    tell(events::NodeObserved{node});
  }
  std::int64_t seen_mib(const std::string& type, const std::string& image) const {
    const SeenMemoryRow* row = state.seen_memory().find(std::pair(type, image));
    return row == nullptr ? 0 : row->bytes / kMi;
  }

  ClusterState state;
};

TEST_F(SeenMemory, IsTheLeastThatRegisteredMachinesOfATypeAndImageShow) {
  claim("a", "m5.large", "ami-1");
  node("a", 7'000, /*registered=*/false);
  EXPECT_EQ(0, seen_mib("m5.large", "ami-1")) << "it may be another's yet";
  EXPECT_EQ(Position(), state.seen_memory_position());
  node("a", 7'600);
  EXPECT_EQ(7'600, seen_mib("m5.large", "ami-1"));
  const Position first = state.seen_memory_position();
  EXPECT_EQ(state.last_position(), first);
  for (const auto& [name, type, image, mib, want] :
       std::vector<std::tuple<std::string, std::string, std::string, std::int64_t, std::int64_t>>{
           {"more", "m5.large", "ami-1", 7'700, 7'600},
           {"less", "m5.large", "ami-1", 7'500, 7'500},
           {"nothing", "m5.large", "ami-1", 0, 7'500},
           {"another image", "m5.large", "ami-2", 7'400, 7'400},
           {"another type", "c5.large", "ami-1", 3'700, 3'700},
           {"no image", "c5.large", "", 3'600, 0}}) {
    claim(name, type, image);
    node(name, mib);
    EXPECT_EQ(want, seen_mib(type, image)) << name;
  }
  EXPECT_EQ(3u, state.seen_memory().size());
  EXPECT_LT(first, state.seen_memory_position());

  tell(events::NodeGone{model::NodeUid("uid-node-a"), model::NodeName("node-a")});
  EXPECT_EQ(7'500, seen_mib("m5.large", "ami-1")) << "it stays when the machines go";
  ClusterState again;
  ASSERT_TRUE(again.load(state.save()));
  EXPECT_EQ(state.digest(), again.digest());
  EXPECT_EQ(state.seen_memory_position(), again.seen_memory_position());
}

TEST_F(SeenMemory, KeepsTheNewestFigures) {
  for (std::size_t i = 0; i <= kSeenMemoryMax; ++i) {
    claim(std::to_string(i), "m5.large", "ami-" + std::to_string(i));
    node(std::to_string(i), 7'000);
  }
  EXPECT_EQ(kSeenMemoryMax, state.seen_memory().size());
  EXPECT_EQ(0, seen_mib("m5.large", "ami-0"));
  EXPECT_EQ(7'000, seen_mib("m5.large", "ami-1"));
}

}  // namespace
}  // namespace karst::projections
