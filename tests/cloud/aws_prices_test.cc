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
constexpr const char* kOffered =
    "<item><instanceType>m5.large</instanceType><locationType>availability-zone</locationType>"
    "<location>us-east-1a</location></item>";
constexpr const char* kDenied = R"({"__type": "AccessDeniedException", "message": "no"})";

struct AwsPricesTest : AwsCloudTest {
  std::string spot_price = "0.04";
  std::string on_demand_price = "0.1";  // dollars an hour

  std::string spot_answer() const {
    return set_of("spotPriceHistorySet",
                  "<item><instanceType>m5.large</instanceType><availabilityZone>us-east-1a"
                  "</availabilityZone><spotPrice>" +
                      spot_price + "</spotPrice><timestamp>2026-08-01T00:00:00.000Z</timestamp>" +
                      "</item>");
  }
  std::string price_list() const {
    return R"x({"PriceList": [{"product": {"attributes": {"instanceType": "m5.large"}}, "terms":)x"
           R"x({"OnDemand": {"a": {"priceDimensions": {"b": {"pricePerUnit": {"USD": ")x" +
           on_demand_price + "\"}}}}}}}]}";
  }
  // Answers the oldest open call, each kind of price with its status.
  void answer_next(int spot, int shared, int metal) {
    const std::string& body = transport.open.front().request.body;
    const auto asks = [&](const char* what) { return body.find(what) != std::string::npos; };
    if (!asks("Action=")) {
      const int status = asks("bare metal") ? metal : shared;
      reply(status, status == 200 ? price_list() : kDenied);
    } else if (asks("DescribeSpotPriceHistory")) {
      reply(spot, spot == 200 ? spot_answer() : error("UnauthorizedOperation"));
    } else if (asks("DescribeInstanceTypeOfferings")) {
      reply(200, set_of("instanceTypeOfferingSet", kOffered));
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

}  // namespace
}  // namespace karst::cloud::aws
