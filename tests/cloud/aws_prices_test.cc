// What each reading of what EC2 sells tells of its prices: which kinds were read, and the
// catalogue.
#include "tests/cloud/aws_cloud_case.h"
#include "tests/providers/aws_answers.h"

namespace karst::cloud::aws {
namespace {

using providers::aws::set_of;

constexpr const char* kType =
    "<item><instanceType>m5.large</instanceType><processorInfo><supportedArchitectures><item>"
    "x86_64</item></supportedArchitectures></processorInfo><supportedVirtualizationTypes><item>hvm"
    "</item></supportedVirtualizationTypes><supportedUsageClasses><item>on-demand</item><item>spot"
    "</item></supportedUsageClasses></item>";
// In place of an HTTP status: an answer without prices, and one whose second page is denied.
constexpr int kEmpty = 1;
constexpr int kHalf = 2;

std::string offered_in(const std::string& zone) {
  return "<item><instanceType>m5.large</instanceType><locationType>availability-zone"
         "</locationType><location>us-east-1" +
         zone + "</location></item>";
}

struct AwsPricesTest : AwsCloudTest {
  std::string spot_price = "0.04";
  std::string on_demand_price = "0.1";  // dollars an hour
  std::string offered = offered_in("a");

  // One page; the first of two has the token of the second.
  std::string spot_answer(const std::string& token) const {
    return "<Answer><spotPriceHistorySet><item><instanceType>m5.large</instanceType>"
           "<availabilityZone>us-east-1a</availabilityZone><spotPrice>" +
           spot_price + "</spotPrice><timestamp>2026-08-01T00:00:00.000Z</timestamp></item>" +
           "</spotPriceHistorySet><nextToken>" + token + "</nextToken></Answer>";
  }
  std::string price_list() const {
    return R"x({"PriceList": [{"product": {"attributes": {"instanceType": "m5.large"}}, "terms":)x"
           R"x({"OnDemand": {"a": {"priceDimensions": {"b": {"pricePerUnit": {"USD": ")x" +
           on_demand_price + "\"}}}}}}}]}";
  }
  void answer_spot(int status, bool second_page) {
    if (status == kEmpty) return void(reply(200, set_of("spotPriceHistorySet", "")));
    if (status == kHalf && !second_page) return void(reply(200, spot_answer("more")));
    reply(status == kHalf ? 403 : status,
          status == 200 ? spot_answer("") : error("UnauthorizedOperation"));
  }
  // Answers the oldest open call, each kind of price with its status.
  void answer_next(int spot, int shared, int metal) {
    const std::string& body = transport.open.front().request.body;
    const auto asks = [&](const char* what) { return body.find(what) != std::string::npos; };
    if (!asks("Action=")) {
      const int status = asks("bare metal") ? metal : shared;
      if (status == kEmpty) return void(reply(200, R"({"PriceList": []})"));
      reply(status, status == 200 ? price_list() : kDenied);
    } else if (asks("DescribeSpotPriceHistory")) {
      answer_spot(spot, asks("NextToken"));
    } else if (asks("DescribeInstanceTypeOfferings")) {
      reply(200, set_of("instanceTypeOfferingSet", offered));
    } else {
      reply(200, asks("DescribeInstanceTypes") ? set_of("instanceTypeSet", kType) : described(""));
    }
  }
  // What the next reading tells, which is there in little more than an hour: kinds read, and
  // prices.
  std::string reading(int spot, int shared, int metal) {
    if (sink.facts.empty()) cloud->start();
    sink.facts.clear();
    for (int second = 0; second < kCatalogueMillis / 1000 + 10; ++second) {
      while (!transport.open.empty()) answer_next(spot, shared, metal);
      if (!sink.all<events::PricesObserved>().empty()) return told();
      clock.now_millis += 1'000;  // or the budget of calls would not grow
      transport.advance(1'000);
    }
    return "no reading";
  }
  // What an earlier process has left in the log, in thousandths of a dollar.
  static model::Catalogue logged(std::int64_t on_demand, std::int64_t spot) {
    model::InstanceType type;
    type.name = "m5.large";
    type.offerings = {{"us-east-1a", "on-demand", on_demand * 1'000'000, true},
                      {"us-east-1a", "spot", spot * 1'000'000, true}};
    return {"aws", {type}};
  }
  std::string told() {
    const auto prices = sink.all<events::PricesObserved>();
    if (prices.size() != 1) return std::to_string(prices.size()) + " events of prices";
    EXPECT_TRUE(prices[0].update.prices.empty()) << "they are in the catalogue";
    EXPECT_EQ(prices[0].update.provider, "aws");
    const Strings names = sink.names();
    EXPECT_EQ(names[names.size() - 2], "CatalogueObserved") << "that it is of";
    EXPECT_EQ(names.back(), "PricesObserved") << "not before it is all there";
    std::string text = prices[0].on_demand_read ? "on-demand " : "";
    if (prices[0].spot_read) text += "spot ";
    const auto catalogues = sink.all<events::CatalogueObserved>();
    for (const model::InstanceType& type : catalogues.front().catalogue.types)
      for (const model::Offering& one : type.offerings)
        text += std::to_string(one.price_nanos_per_hour / 1'000'000) + " ";
    return text;
  }
};

TEST_F(AwsPricesTest, AReadingIsToldThoughNothingHasChanged) {
  EXPECT_EQ("on-demand spot 100 40 ", reading(200, 200, 200));
  EXPECT_EQ("on-demand spot 100 40 ", reading(200, 200, 200));
}

TEST_F(AwsPricesTest, SpotPricesThatCannotBeReadAreNotToldAsRead) {
  EXPECT_EQ("on-demand spot 100 40 ", reading(200, 200, 200));
  on_demand_price = "0.2";
  spot_price = "0.05";
  EXPECT_EQ("on-demand 200 40 ", reading(403, 200, 200)) << "the one read before is kept";
  EXPECT_EQ("on-demand spot 200 50 ", reading(200, 200, 200));
}

TEST_F(AwsPricesTest, OnDemandPricesAreReadWhenAllOfThemAre) {
  EXPECT_EQ("on-demand spot 100 40 ", reading(200, 200, 200));
  spot_price = "0.05";
  EXPECT_EQ("spot 100 50 ", reading(200, 400, 200));
  EXPECT_EQ("spot 100 50 ", reading(200, 200, 400));
  EXPECT_EQ("100 50 ", reading(403, 400, 400)) << "that none could be read is told, too";
}

TEST_F(AwsPricesTest, WithoutAPriceListOnDemandPricesAreNeverRead) {
  cloud->without_price_list();
  EXPECT_EQ("spot 96 40 ", reading(200, 200, 200)) << "the embedded table's";
}

TEST_F(AwsPricesTest, WhatAnEarlierProcessReadIsKeptUntilItIsReadAgain) {
  cloud->know_prices(logged(110, 30), true, true);
  EXPECT_EQ("110 30 ", reading(403, 403, 403));
  EXPECT_EQ("110 30 ", reading(403, 403, 403)) << "and once more";
  EXPECT_EQ("on-demand spot 100 40 ", reading(200, 200, 200));
}

TEST_F(AwsPricesTest, OfAnEarlierProcessOnlyWhatItReadIsKept) {
  cloud->know_prices(logged(110, 30), true, false);
  EXPECT_EQ("110 110 ", reading(403, 403, 403)) << "spot counts as on-demand";
}

TEST_F(AwsPricesTest, OfAnEarlierProcessSpotPricesAreKeptAlone) {
  cloud->know_prices(logged(110, 30), false, true);
  EXPECT_EQ("96 30 ", reading(403, 403, 403)) << "on demand it is the embedded table's";
}

// A zone without a price would count as one without spot.
TEST_F(AwsPricesTest, HalfOfASpotHistoryIsNoneHoweverOftenItFails) {
  offered = offered_in("a") + offered_in("b");
  EXPECT_EQ("on-demand 100 100 100 100 ", reading(kHalf, 200, 200));
  EXPECT_EQ("on-demand 100 100 100 100 ", reading(kHalf, 200, 200));
  cloud->know_prices(logged(110, 30), true, false);
  EXPECT_EQ("on-demand 100 100 100 100 ", reading(kHalf, 200, 200));
}

TEST_F(AwsPricesTest, AnAnswerWithoutPricesTellsNone) {
  EXPECT_EQ("96 96 ", reading(kEmpty, kEmpty, kEmpty)) << "the embedded table's";
  EXPECT_EQ("on-demand spot 100 40 ", reading(200, 200, 200));
  EXPECT_EQ("on-demand 100 40 ", reading(kEmpty, 200, 200)) << "the one read before is kept";
  const std::int64_t before = clock.now_millis;
  EXPECT_EQ("spot 100 40 ", reading(200, kEmpty, kEmpty));
  EXPECT_GE(clock.now_millis, before + kPricesAgainMillis);
  EXPECT_LT(clock.now_millis, before + kPricesAgainMillis + 10'000) << "it is asked again soon";
}

}  // namespace
}  // namespace karst::cloud::aws
