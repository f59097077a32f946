// How old the price of a launch is said to be.
#include <gtest/gtest.h>

#include "events/codec.h"
#include "events/memory_log.h"
#include "exports/walk.h"

namespace karst::exports {
namespace {

using model::Position;

// Position and age in seconds of each launch's price; "-" for what is missing.
class PriceCells final : public TableWriter {
 public:
  PriceCells(const Table& table, std::vector<std::string>& rows) : table_(table), rows_(rows) {}
  base::Status row(const Row& row) override {
    rows_.push_back("#" + cell(row, "price_position", 1) + " " +
                    cell(row, "price_age_millis", 1000));
    return {};
  }
  base::Status finish() override { return {}; }

 private:
  std::string cell(const Row& row, std::string_view name, std::int64_t unit) const {
    for (std::size_t i = 0; i < table_.columns.size(); ++i)
      if (table_.columns[i].name == name)
        return row.cells()[i].null ? "-" : std::to_string(row.cells()[i].number / unit);
    return "no such column";
  }
  const Table table_;
  std::vector<std::string>& rows_;
};

class PriceAge : public ::testing::Test {
 protected:
  PriceAge() : log_(model::LogId("abc"), base::WallTime(0)) { start(1, "aws"); }  // position 2
  void start(std::int64_t second, const std::string& provider) {
    events::DaemonStarted started;
    started.config.provider = provider;
    at(second, started);
  }
  void at(std::int64_t second, const events::Body& body) {
    events::Record record = events::make_record(body);
    record.log_time = base::LogTime(second * 1000);
    ASSERT_TRUE(log_.append(std::vector{record}, events::Durability::kSynced));
  }
  void catalogue(std::int64_t second, std::int64_t on_demand, std::int64_t spot,
                 const std::string& provider = "aws") {
    model::InstanceType type;
    type.name = "m5.large";
    type.offerings = {{"zone-a", "on-demand", on_demand, true, "", 0, {}},
                      {"zone-a", "spot", spot, true, "", 0, {}}};
    at(second, events::CatalogueObserved{{provider, {type}}});
  }
  void reading(std::int64_t second, bool on_demand, bool spot) {
    at(second, events::PricesObserved{{"aws", {}}, on_demand, spot});
  }
  // One of each kind.
  void launches(std::int64_t second) {
    for (const char* capacity_type : {"on-demand", "spot"}) {
      model::Launch launch;
      launch.items = {{model::ClaimUid("c1"), model::ClaimName("a"), 1}};
      launch.offers = {{"m5.large", "zone-a", capacity_type, 1, ""}};
      at(second, model::Command{"lifecycle", "provisioned", {}, launch});
    }
  }
  // On demand, then spot, of each call of launches().
  std::vector<std::string> ages() const {
    std::vector<std::string> rows;
    auto filter = Filter::make({}, log_.id());
    std::vector<Output> outputs(1);
    outputs[0].view = make_view("decisions", {});
    outputs[0].writer = std::make_unique<PriceCells>(outputs[0].view->table(), rows);
    const auto walked = walk(log_, *filter, outputs, [](Position) {});
    EXPECT_TRUE(walked) << walked.error().message;
    return rows;
  }
  using Ages = std::vector<std::string>;
  events::MemoryLog log_;
};

TEST_F(PriceAge, CountsFromTheLastReadingThoughNothingChanged) {
  catalogue(10, 100, 40);  // position 3
  reading(100, true, true);
  launches(107);
  EXPECT_EQ(ages(), (Ages{"#3 7", "#3 7"}));
}

TEST_F(PriceAge, GrowsWhileItsKindCannotBeRead) {
  catalogue(10, 100, 40);  // position 3
  reading(100, true, true);
  catalogue(200, 110, 40);  // position 5: the spot price is the one that was read before
  reading(200, true, false);
  launches(207);
  catalogue(300, 110, 50);  // position 9
  reading(300, false, true);
  launches(308);
  reading(400, false, false);
  launches(409);
  EXPECT_EQ(ages(), (Ages{"#5 7", "#3 107", "#5 108", "#9 8", "#5 209", "#9 109"}));
}

TEST_F(PriceAge, IsNotKnownBetweenAChangedPriceAndItsReading) {
  catalogue(10, 100, 40);
  reading(100, true, true);
  catalogue(200, 110, 50);  // position 5
  launches(200);
  reading(200, true, true);
  launches(200);
  EXPECT_EQ(ages(), (Ages{"#5 -", "#5 -", "#5 0", "#5 0"}));
}

// As at a first start on a cloud that has to be asked, and where it cannot be.
TEST_F(PriceAge, IsNotKnownBeforeItsKindIsRead) {
  catalogue(10, 100, 40);  // position 3: embedded
  reading(10, false, false);
  launches(11);
  catalogue(20, 100, 50);  // position 7
  reading(20, false, true);
  launches(21);
  EXPECT_EQ(ages(), (Ages{"#3 -", "#3 -", "#3 -", "#7 1"}));
}

TEST_F(PriceAge, OfWhatIsReservedIsThatOfWhatItFollowsFrom) {
  catalogue(10, 100, 40);  // position 3
  reading(100, true, true);
  model::Launch launch;
  launch.items = {{model::ClaimUid("c1"), model::ClaimName("a"), 1}};
  launch.offers = {{"m5.large", "zone-a", "reserved", 0, "cr-1"}};
  at(107, model::Command{"lifecycle", "provisioned", {}, launch});
  EXPECT_EQ(ages(), (Ages{"#3 7"}));
}

TEST_F(PriceAge, CountsFromTheCatalogueWhereNoReadingIsTold) {
  catalogue(10, 100, 40);  // position 3
  launches(11);
  catalogue(100, 100, 50);  // position 6
  launches(107);
  EXPECT_EQ(ages(), (Ages{"#3 1", "#3 1", "#3 7", "#6 7"}));
}

TEST_F(PriceAge, CountsFromAPriceThatCameByItself) {
  catalogue(10, 100, 40);  // position 3
  at(100, events::PricesObserved{{"aws", {{"m5.large", "zone-a", "spot", 50, ""}}}, false, true});
  launches(107);
  EXPECT_EQ(ages(), (Ages{"#3 -", "#4 7"}));
}

TEST_F(PriceAge, IsNotOfAnotherProvidersReading) {
  start(9, "kwok");
  catalogue(10, 100, 40, "kwok");  // position 4
  reading(100, true, true);
  launches(107);
  EXPECT_EQ(ages(), (Ages{"#4 97", "#4 97"}));
}

TEST_F(PriceAge, IsThatOfTheProviderThatKarstWasStartedWith) {
  catalogue(10, 100, 40);  // position 3
  reading(100, true, true);
  start(200, "kwok");
  launches(201);
  catalogue(210, 100, 40, "kwok");  // position 8
  launches(211);
  start(300, "aws");  // what the log has of it counts on
  launches(301);
  EXPECT_EQ(ages(), (Ages{"#- -", "#- -", "#8 1", "#8 1", "#3 201", "#3 201"}));
}

// What the baseline knows is when prices were read, not what they came with.
TEST_F(PriceAge, IsKnownOfATrimmedLog) {
  catalogue(10, 100, 40);
  reading(100, true, true);
  reading(200, true, false);
  while (log_.end().value() <= events::kTrimTile) at(201, events::SourceBeat{"Pod", ""});
  projections::ClusterState state;
  auto cursor = log_.read(log_.first());
  for (auto event = (*cursor)->next(); event && *event; event = (*cursor)->next())
    state.apply(**event);
  ASSERT_EQ(state.last_position(), Position(events::kTrimTile));
  launches(307);
  catalogue(400, 100, 50);  // position 259
  launches(408);
  reading(500, false, true);
  launches(509);
  EXPECT_EQ(ages(), (Ages{"#3 107", "#3 207", "#3 208", "#259 -", "#3 309", "#259 9"}));
  log_.trim({Position(events::kTrimTile), std::string(projections::kProjectionVersion), "d0",
             state.save()});
  EXPECT_EQ(ages(), (Ages{"#- 107", "#- 207", "#- 208", "#259 -", "#- 309", "#259 9"}));
}

}  // namespace
}  // namespace karst::exports
