// Which offers an order names.
#include <map>

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
  model::Outcome outcome;
  outcome.command = first.id.position;
  outcome.attempt = first.attempt;
  outcome.kind = model::OutcomeKind::kRefused;
  outcome.code = model::RefusalCode::kCapacity;
  outcome.exhausted = {{"", "", "spot", 0, ""}};
  story.fact(std::move(outcome));
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

}  // namespace
}  // namespace karst::engine
