// When prices were last read, and what that leaves alone.
#include <gtest/gtest.h>

#include "projections/cluster_state.h"

namespace karst::projections {
namespace {

struct PricesRead : ::testing::Test {
  Position tell(const events::Body& body) {
    events::Envelope at;
    at.position = state.next_position();
    at.log_time = LogTime(static_cast<std::int64_t>(at.position.value()) * 1000);
    state.apply(at, body);
    return at.position;
  }
  static events::CatalogueObserved catalogue(std::int64_t on_demand, std::int64_t spot) {
    model::InstanceType type;
    type.name = "m5.large";
    type.offerings = {{"zone-a", "on-demand", on_demand, true, "", 0, {}},
                      {"zone-a", "spot", spot, true, "", 0, {}}};
    return {{"aws", {type}}};
  }
  const CatalogueRow& row() const { return *state.catalogues().find("aws"); }
  // Seconds, of on-demand and spot prices.
  std::string read() const {
    return std::to_string(row().read.at("on-demand").value() / 1000) + " " +
           std::to_string(row().read.at("spot").value() / 1000);
  }
  ClusterState state;
};

TEST_F(PricesRead, AReadingWithoutChangesIsNoOtherCatalogue) {
  const Position first = tell(catalogue(100, 40));
  EXPECT_EQ("1 1", read()) << "nobody tells of readings: the catalogue is one";
  const model::Catalogue before = row().catalogue;
  tell(events::PricesObserved{{"aws", {}}, true, true});
  EXPECT_EQ("2 2", read());
  EXPECT_EQ(row().position, first) << "what was worked out of it holds";
  EXPECT_EQ(row().catalogue, before);
  tell(events::PricesObserved{{"aws", {}}, true, false});
  EXPECT_EQ("3 2", read());
  tell(events::PricesObserved{{"aws", {}}, false, true});
  EXPECT_EQ("3 4", read());
  const Position changed = tell(catalogue(100, 50));
  EXPECT_EQ("3 0", read()) << "readings are told: the one of this price has not come";
  EXPECT_EQ(row().position, changed);
}

TEST_F(PricesRead, PricesThatCameMakeAnotherCatalogue) {
  tell(catalogue(100, 40));
  const Position at =
      tell(events::PricesObserved{{"aws", {{"m5.large", "zone-a", "spot", 50, ""}}}});
  EXPECT_EQ(row().position, at);
  EXPECT_EQ(row().catalogue.types[0].offerings[1].price_nanos_per_hour, 50);
  EXPECT_EQ("2 2", read()) << "as logs have it that do not say which kinds";
}

TEST_F(PricesRead, ThatTheyWereNotReadIsKnownFromThenOn) {
  tell(catalogue(100, 40));
  tell(events::PricesObserved{{"aws", {}}, false, false});
  EXPECT_EQ("0 0", read()) << "what came untold had not been read either";
  tell(catalogue(100, 50));
  EXPECT_EQ("0 0", read());
}

TEST_F(PricesRead, APriceThatStandsInForOneIsOfAnUnknownAge) {
  tell(catalogue(100, 40));
  tell(events::PricesObserved{{"aws", {}}, true, true});
  tell(catalogue(100, 50));
  tell(events::PricesObserved{{"aws", {}}, false, true});
  EXPECT_EQ("2 4", read()) << "the one that was not read is the same as before";
  tell(catalogue(90, 50));
  tell(events::PricesObserved{{"aws", {}}, false, true});
  EXPECT_EQ("0 6", read());
  tell(catalogue(100, 50));
  tell(events::PricesObserved{{"aws", {}}, true, false});
  EXPECT_EQ("8 6", read());
  model::Catalogue more = row().catalogue;
  more.types[0].offerings.push_back({"zone-b", "spot", 50, true, "", 0, {}});
  tell(events::CatalogueObserved{more});
  tell(events::PricesObserved{{"aws", {}}, true, false});
  EXPECT_EQ("10 0", read()) << "a new offer's price was not read";
}

// Both are facts of their own: one of them may come alone.
TEST_F(PricesRead, AChangedPriceIsOfAnUnknownAgeUntilTheReadingBehindItComes) {
  tell(catalogue(100, 40));
  tell(events::PricesObserved{{"aws", {}}, true, true});
  tell(catalogue(110, 50));
  EXPECT_EQ("0 0", read()) << "the reading of before says nothing of it";
  tell(events::PricesObserved{{"aws", {}}, true, true});
  EXPECT_EQ("4 4", read());
}

TEST_F(PricesRead, AreInDigestAndSnapshot) {
  tell(catalogue(100, 40));
  tell(events::PricesObserved{{"aws", {}}, false, true});
  tell(events::PricesObserved{{"aws", {}}, true, false});
  ClusterState loaded;
  ASSERT_TRUE(loaded.load(state.save()));
  EXPECT_EQ(loaded.digest(), state.digest());
  EXPECT_EQ(loaded.catalogues().find("aws")->read.on_demand_at, LogTime(3000));
  EXPECT_EQ(loaded.catalogues().find("aws")->read.spot_at, LogTime(2000));
  EXPECT_TRUE(loaded.catalogues().find("aws")->read.told);
}

}  // namespace
}  // namespace karst::projections
