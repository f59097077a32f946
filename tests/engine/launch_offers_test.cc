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

}  // namespace
}  // namespace karst::engine
