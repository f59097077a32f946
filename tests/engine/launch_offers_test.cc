// Which offers an order names.
#include <map>

#include "tests/engine/kwok_machines.h"
#include "tests/engine/stage.h"

namespace karst::engine {
namespace {

using namespace testing;

TEST(LaunchOffers, AreOfSixtyTypesEachWithItsCheapestOffers) {
  events::MemoryLog log{model::LogId("log")};
  Story story{log};
  set_the_stage(story);
  const auto command = launch_for_one_pod(story);
  const auto& launch = std::get<model::Launch>(command.spec);
  std::map<std::string, std::size_t> offers;
  for (const model::Offer& offer : launch.offers) ++offers[offer.instance_type];
  EXPECT_EQ(offers.size(), 60u);
  for (const auto& [type, count] : offers) EXPECT_EQ(count, 8u) << type << ": 4 zones, 2 ways";
  EXPECT_TRUE(std::is_sorted(launch.offers.begin(), launch.offers.end(),
                             [](const model::Offer& a, const model::Offer& b) {
                               return a.price_nanos_per_hour < b.price_nanos_per_hour;
                             }));
}

// One type in very many zones does not make an order without bounds.
TEST(LaunchOffers, AreTwelveOfATypeAtMost) {
  events::MemoryLog log{model::LogId("log")};
  Story story{log};
  set_the_stage(story);
  model::Catalogue catalogue = story.state().catalogues().find("kwok")->catalogue;
  for (model::InstanceType& type : catalogue.types) {
    const model::Offering first = type.offerings.front();
    for (int i = 0; i < 20; ++i) {
      model::Offering& more = type.offerings.emplace_back(first);
      more.reservation = "cr-" + std::to_string(i);
    }
  }
  story.fact(events::CatalogueObserved{catalogue});
  story.step();
  const auto command = launch_for_one_pod(story);
  const auto& launch = std::get<model::Launch>(command.spec);
  std::map<std::string, std::size_t> offers;
  for (const model::Offer& offer : launch.offers) ++offers[offer.instance_type];
  EXPECT_EQ(offers.size(), 60u);
  for (const auto& [type, count] : offers) EXPECT_EQ(count, 12u) << type;
}

// Without its role nothing of spot can be had, in no place and of no type.
TEST(LaunchOffers, AreNotOfACapacityTypeThatIsShut) {
  events::MemoryLog log{model::LogId("log")};
  Story story{log};
  set_the_stage(story);
  const auto first = launch_for_one_pod(story);
  refuse_for_capacity(story, first, {{"", "", "spot", 0, ""}});
  std::vector<ports::IssuedCommand> launches;
  for (int i = 0; i < 50 && launches.empty(); ++i) {
    for (const auto& command : story.take<model::DeleteObject>()) {
      const auto& object = std::get<model::DeleteObject>(command.spec).object;
      story.answer(command, model::OutcomeKind::kDone);
      story.fact(events::NodeClaimGone{model::ClaimUid(object.uid), model::ClaimName(object.name)});
    }
    launches = create_claims(story);
  }
  ASSERT_EQ(launches.size(), 1u);
  const auto& launch = std::get<model::Launch>(launches[0].spec);
  ASSERT_FALSE(launch.offers.empty());
  for (const model::Offer& offer : launch.offers) EXPECT_EQ(offer.capacity_type, "on-demand");
  EXPECT_EQ(verified(log).difference, std::nullopt);
}

// Of all machines one is reserved, and the others say that they are not.
TEST(LaunchOffers, OfAPodForAReservationAreTheReservedOnesAlone) {
  events::MemoryLog log{model::LogId("log")};
  Story story{log};
  set_the_stage(story);
  model::Catalogue catalogue = story.state().catalogues().find("kwok")->catalogue;
  for (model::InstanceType& type : catalogue.types)
    for (model::Offering& one : type.offerings) one.labels = {{"reservation-id", ""}};
  catalogue.types[0].offerings[0].labels = {{"reservation-id", "cr-1"}};
  story.fact(events::CatalogueObserved{catalogue});
  model::PodShape shape = shape_of(100);
  for (const char* wanted : {"cr-2", "cr-1"}) {
    shape.node_selector = {{"reservation-id", wanted}};
    add_pods_of(story, 1, shape);
    story.step(15'000);  // a pass that left pods behind holds the next one
    const auto launches = create_claims(story);
    ASSERT_EQ(launches.size(), std::string(wanted) == "cr-1" ? 1u : 0u) << wanted;
    if (launches.empty()) continue;
    const auto& launch = std::get<model::Launch>(launches[0].spec);
    ASSERT_EQ(launch.offers.size(), 1u);
    EXPECT_EQ(launch.offers[0].instance_type, catalogue.types[0].name);
    EXPECT_EQ(launch.offers[0].zone, catalogue.types[0].offerings[0].zone);
  }
  EXPECT_EQ(verified(log).difference, std::nullopt);
}

// What is ordered for no reservation does not come to be labelled with one.
TEST(LaunchOffers, OfAnyPodLeaveTheirNodesWithoutALabelThatTheySayTheyLack) {
  events::MemoryLog log{model::LogId("log")};
  Story story{log};
  set_the_stage(story);
  model::Catalogue catalogue = story.state().catalogues().find("kwok")->catalogue;
  for (model::InstanceType& type : catalogue.types)
    for (model::Offering& one : type.offerings) one.labels = {{"a", ""}, {"b", "c"}};
  story.fact(events::CatalogueObserved{catalogue});
  const auto command = launch_for_one_pod(story);
  const auto& launch = std::get<model::Launch>(command.spec);
  ASSERT_FALSE(launch.offers.empty());
  story.answer(command, model::OutcomeKind::kDone, {instance_for(launch, 0, command.id)});
  story.step();
  std::string shown;
  for (const auto& mirror : story.take<model::MirrorClaim>())
    for (const auto& [key, value] : std::get<model::MirrorClaim>(mirror.spec).labels)
      if (key == "a" || key == "b") shown += key + "=" + value + " ";
  EXPECT_EQ(shown, "b=c ");
}

// A class whose machines have little room to say whose they are.
class NarrowOrders final : public KwokMachines {
 public:
  std::size_t claims_per_order(const model::NodeClass&) const override { return 2; }
};

TEST(LaunchOffers, AreOfOrdersWithAsManyClaimsAsTheirClassAllows) {
  const NarrowOrders provider;
  events::MemoryLog log{model::LogId("log")};
  Story story(log, {}, &provider);
  set_the_stage(story);
  for (int i = 0; i < 5; ++i)
    story.fact(events::NodeClaimObserved{unlaunched_claim(story, std::to_string(i))});
  story.step();
  std::vector<std::size_t> sizes;
  for (const auto& command : story.take<model::Launch>())
    sizes.push_back(std::get<model::Launch>(command.spec).items.size());
  EXPECT_EQ(sizes, (std::vector<std::size_t>{2, 2, 1}));
}

}  // namespace
}  // namespace karst::engine
