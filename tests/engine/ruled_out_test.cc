// Why a claim may not become the types that it does not list.
#include "reconcilers/ruled_out.h"

#include <map>
#include <set>

#include "scheduling/problem.h"
#include "tests/engine/stage.h"

namespace karst::engine {
namespace {

using namespace testing;

constexpr const char* kArch = "kubernetes.io/arch";

model::InstanceType type_of(const std::string& name, std::int64_t cpu_millis,
                            const std::string& arch = "amd64") {
  model::InstanceType type;
  type.name = name;
  type.requirements = {{std::string(model::kInstanceTypeLabel), model::Operator::kIn, {name}, 0},
                       {kArch, model::Operator::kIn, {arch}, 0}};
  type.capacity.cpu_millis = type.allocatable.cpu_millis = cpu_millis;
  type.capacity.memory_bytes = type.allocatable.memory_bytes = std::int64_t{8} << 30;
  type.capacity.pods = type.allocatable.pods = 110;
  type.offerings = {{"zone-a", "on-demand", cpu_millis * 10'000, true, "", 0, {}}};
  return type;
}

using WhyNot = std::map<std::string, std::vector<std::string>>;

WhyNot reasons_of(Story& story, const model::CommandSpec& command) {
  reconcilers::ClassTypes class_types;
  WhyNot reasons;
  for (const auto& one : reconcilers::ruled_out(
           story.state(),
           {base::LogTime(story.now()), *providers::find_provider("kwok"), class_types}, command))
    reasons[one.why] = one.types;
  return reasons;
}

// A pool of amd64 machines in zone-a, and one pod of 3.5 cores.
struct Bought {
  events::MemoryLog log{model::LogId("log")};
  Story story{log};

  explicit Bought(std::vector<model::InstanceType> types,
                  std::vector<model::RequirementSpec> more = {}) {
    model::NodePool pool = pool_of("default");
    pool.requirements = {
        {kArch, model::Operator::kIn, {"amd64"}, 0},
        {std::string(model::kZoneLabel), model::Operator::kIn, {"zone-a"}, 0},
    };
    pool.requirements.insert(pool.requirements.end(), more.begin(), more.end());
    set_the_stage(story, pool);
    std::sort(types.begin(), types.end(),
              [](const auto& one, const auto& other) { return one.name < other.name; });
    story.fact(events::CatalogueObserved{{"kwok", std::move(types)}});
    story.step();
  }

  model::NodeClaim claim_for(const model::PodShape& shape) {
    add_pods_of(story, 1, shape);
    story.step(1'100);
    const auto created = story.take<model::CreateNodeClaim>();
    EXPECT_EQ(created.size(), 1u);
    return created.empty() ? model::NodeClaim()
                           : std::get<model::CreateNodeClaim>(created[0].spec).claim;
  }

  WhyNot why_not(const model::NodeClaim& claim) {
    return reasons_of(story, model::CreateNodeClaim{claim});
  }
};

TEST(RuledOut, HasTheFirstReasonOfEachType) {
  model::InstanceType elsewhere = type_of("elsewhere", 8'000);
  elsewhere.offerings[0].zone = "zone-b";
  model::InstanceType sold_out = type_of("sold-out", 8'000);
  sold_out.offerings[0].available = false;
  model::InstanceType narrow = type_of("narrow", 8'000);
  narrow.allocatable.memory_bytes = 1 << 20;
  Bought bought({type_of("right", 4'000), type_of("large", 8'000), type_of("small", 2'000),
                 type_of("arm", 4'000, "arm64"), elsewhere, sold_out, narrow});
  const model::NodeClaim claim = bought.claim_for(shape_of(3'500));
  EXPECT_EQ(bought.why_not(claim), (WhyNot{{"offering", {"elsewhere"}},
                                           {"requirement kubernetes.io/arch", {"arm"}},
                                           {"capacity", {"sold-out"}},
                                           {"resource cpu", {"small"}},
                                           {"resource memory", {"narrow"}}}));
}

// What a claim is bought as follows from what there was: a type that is sold as something else
// alone is not out of place, it is sold out.
TEST(RuledOut, IsCapacityWhereOnlyTheOtherWayToBuyIsSoldOut) {
  model::InstanceType spot = type_of("spot", 4'000);
  spot.offerings[0].capacity_type = "spot";
  model::InstanceType on_demand = type_of("on-demand", 4'000);
  on_demand.offerings[0].available = false;
  Bought bought({spot, on_demand});
  EXPECT_EQ(bought.why_not(bought.claim_for(shape_of(3'500))),
            (WhyNot{{"capacity", {"on-demand"}}}));
}

// "No such label" is met by machines that have none, as those of EC2 say of GPUs.
TEST(RuledOut, IsNoDemandThatBothSidesMeetByTheLabelsAbsence) {
  model::InstanceType without = type_of("without", 2'000);
  without.requirements.push_back({"example.com/gpu", model::Operator::kDoesNotExist, {}, 0});
  Bought bought({type_of("right", 4'000), without},
                {{"example.com/gpu", model::Operator::kNotIn, {"a100"}, 0}});
  EXPECT_EQ(bought.why_not(bought.claim_for(shape_of(3'500))),
            (WhyNot{{"resource cpu", {"without"}}}));
}

TEST(RuledOut, TellsWhatThePoolDemandsOfATypesNameFromWhatAPodDoes) {
  const std::vector<model::InstanceType> types = {type_of("a", 4'000), type_of("b", 4'000),
                                                  type_of("c", 4'000)};
  const std::string key(model::kInstanceTypeLabel);
  Bought bought(types, {{key, model::Operator::kIn, {"a", "b"}, 0}});
  model::PodShape shape = shape_of(1'000);
  shape.node_selector = {{key, "a"}};
  const model::NodeClaim claim = bought.claim_for(shape);
  EXPECT_EQ(bought.why_not(claim), (WhyNot{{"other", {"b"}}, {"requirement " + key, {"c"}}}));
}

TEST(RuledOut, IsThePriceOnlyWhereTheListIsFull) {
  const std::size_t most = scheduling::Options().instance_types_max;
  std::vector<model::InstanceType> types;
  for (std::size_t i = 0; i < most + 2; ++i)
    types.push_back(
        type_of("t-" + std::to_string(1'000 + i), 4'000 + static_cast<std::int64_t>(i)));
  Bought bought(types);
  const model::NodeClaim claim = bought.claim_for(shape_of(3'500));
  EXPECT_EQ(bought.why_not(claim), (WhyNot{{"price", {"t-1600", "t-1601"}}}));
}

// Every type that is sold is either listed or ruled out, once.
TEST(RuledOut, LeavesNoTypeUntold) {
  events::MemoryLog log{model::LogId("log")};
  Story story{log};
  set_the_stage(story);
  add_pods(story, 3, 7'000);
  story.step(1'100);
  const auto created = story.take<model::CreateNodeClaim>();
  ASSERT_FALSE(created.empty());
  const model::NodeClaim& claim = std::get<model::CreateNodeClaim>(created[0].spec).claim;
  std::multiset<std::string> told;
  for (const model::RequirementSpec& spec : claim.requirements)
    if (spec.key == model::kInstanceTypeLabel) told.insert(spec.values.begin(), spec.values.end());
  const std::size_t listed = told.size();
  for (const auto& [why, types] : reasons_of(story, model::CreateNodeClaim{claim})) {
    EXPECT_EQ(why, "resource cpu");
    told.insert(types.begin(), types.end());
  }
  EXPECT_LT(listed, told.size());
  std::multiset<std::string> sold;
  for (const auto& type : story.state().catalogues().find("kwok")->catalogue.types)
    sold.insert(type.name);
  EXPECT_EQ(told, sold);
}

// An order names sixty types, and none that lately had no capacity.
TEST(RuledOut, SaysOfAnOrderWhatItsClaimListsBeside) {
  std::vector<model::InstanceType> types;
  for (int i = 0; i < 63; ++i) types.push_back(type_of("t-" + std::to_string(100 + i), 4'000 + i));
  Bought bought(types);
  add_pods_of(bought.story, 1, shape_of(3'500));
  auto launches = create_claims(bought.story);
  ASSERT_EQ(launches.size(), 1u);
  const auto& launch = std::get<model::Launch>(launches[0].spec);
  EXPECT_EQ(reasons_of(bought.story, launch), (WhyNot{{"order", {"t-160", "t-161", "t-162"}}}));
  refuse_for_capacity(bought.story, launches[0], {{"t-161", "zone-a", "on-demand", 0, ""}});
  bought.story.step();
  EXPECT_EQ(reasons_of(bought.story, launch),
            (WhyNot{{"capacity", {"t-161"}}, {"order", {"t-160", "t-162"}}}));
}

TEST(RuledOut, IsNothingWhereThePoolIsNotKnown) {
  Bought bought({type_of("a", 4'000), type_of("b", 1'000)});
  model::NodeClaim claim = bought.claim_for(shape_of(3'500));
  EXPECT_EQ(bought.why_not(claim).size(), 1u);
  claim.pool = model::PoolName("another");
  EXPECT_TRUE(bought.why_not(claim).empty());
}

}  // namespace
}  // namespace karst::engine
