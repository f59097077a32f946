// What the hands of EC2 read by themselves: instances, what is sold and its prices, what a node
// class names.
#include "base/sha256.h"
#include "providers/aws/resolution.h"
#include "tests/cloud/aws_cloud_case.h"
#include "tests/providers/aws_answers.h"

namespace karst::cloud::aws {
namespace {

using model::OutcomeKind;
using providers::aws::group;
using providers::aws::image;
using providers::aws::set_of;
using providers::aws::subnet;

constexpr const char* kPriceList =
    R"x({"PriceList": [{"product": {"attributes": {"instanceType": "m5.large"}}, "terms":)x"
    R"x({"OnDemand": {"a": {"priceDimensions": {"b": {"pricePerUnit": {"USD": "0.1"}}}}}}}]})x";

struct AwsReadsTest : AwsCloudTest {};

TEST_F(AwsReadsTest, TheListTellsWhatRunsAndWhatIsSold) {
  cloud->start();
  settle();
  EXPECT_EQ(
      reply(200, described(instance("i-a", "uid-0:1") + instance("i-b", "uid-1:1", "terminated"))),
      "DescribeInstances");
  EXPECT_EQ(sink.names(), (Strings{"ListStarted", "InstanceObserved", "ListEnded"}));
  EXPECT_EQ(reply(200, "<DescribeInstanceTypesResponse/>"), "DescribeInstanceTypes");
  EXPECT_EQ(reply(200, "<DescribeInstanceTypeOfferingsResponse/>"),
            "DescribeInstanceTypeOfferings");
  EXPECT_EQ(reply(403, error("UnauthorizedOperation")), "DescribeSpotPriceHistory");
  for (const char* family : {"\"Compute Instance\"", "bare metal"}) {
    reply(200, R"({"PriceList": []})");
    EXPECT_NE(std::string::npos, last.body.find(family)) << last.body;
  }
  EXPECT_EQ(sink.names().back(), "PricesObserved") << "prices are not needed for it";
}

// One of Karpenter's tells its claim by name, and is left out before it does.
TEST_F(AwsReadsTest, TheListHasKarpentersMachinesOfThisCluster) {
  const auto karpenters = [](const char* id, const char* cluster, const std::string& claim) {
    return std::string("<item><instanceId>") + id +
           "</instanceId><instanceType>m5.large</instanceType><placement><availabilityZone>"
           "us-east-1a</availabilityZone></placement><instanceState><name>running</name>"
           "</instanceState><tagSet><item><key>kubernetes.io/cluster/" +
           cluster + "</key><value>owned</value></item>" + claim + "</tagSet></item>";
  };
  const std::string claim = "<item><key>karpenter.sh/nodeclaim</key><value>pool-a</value></item>";
  cloud->start();
  settle();
  EXPECT_EQ(reply(200, described(karpenters("i-a", "demo", claim) + karpenters("i-b", "demo", "") +
                                 karpenters("i-c", "other", claim) + instance("i-d", "uid-0:1"))),
            "DescribeInstances");
  Strings told;
  for (const auto& seen : sink.all<events::InstanceObserved>())
    told.push_back(seen.instance.provider_id.str() + " " + seen.instance.claim.str() + " " +
                   seen.instance.claim_name.str());
  EXPECT_EQ(told, (Strings{"aws:///us-east-1a/i-a  pool-a", "aws:///us-east-1a/i-d uid-0 "}));
}

TEST_F(AwsReadsTest, PricesThatCannotBeReadAreToldOnceAndAskedAgain) {
  Strings told;
  cloud->tell_faults([&](bool good, const std::string& line) {
    told.push_back((good ? "good: " : "bad: ") + line.substr(0, line.find(':')));
  });
  cloud->start();
  settle();
  // Answers whatever is asked until a catalogue has come, which it must within ten minutes.
  const auto until_a_catalogue = [&](int price_list_status) {
    const std::size_t before = sink.all<events::CatalogueObserved>().size();
    for (int second = 0; second < 600; ++second) {
      while (!transport.open.empty()) {
        const std::string& body = transport.open.front().request.body;
        const bool prices = body.find("Action=") == std::string::npos;
        const bool instances = body.find("DescribeInstances&") != std::string::npos;
        if (prices)
          reply(price_list_status, price_list_status == 200 ? kPriceList : kDenied);
        else if (body.find("DescribeSpotPriceHistory") != std::string::npos)
          reply(200, set_of("spotPriceHistorySet", "<item><spotPrice>0.1</spotPrice></item>"));
        else
          reply(200, instances ? described("") : "<Response/>");
      }
      if (sink.all<events::CatalogueObserved>().size() > before) return second;
      transport.advance(1'000);
    }
    return -1;
  };
  EXPECT_EQ(0, until_a_catalogue(400));
  const int again = until_a_catalogue(400);
  EXPECT_GE(again, kPricesAgainMillis / 1000);
  EXPECT_LT(again, kPricesAgainMillis / 1000 + 10);
  EXPECT_NE(-1, until_a_catalogue(200));
  EXPECT_EQ(told, (Strings{"bad: EC2's on-demand prices cannot be read (AccessDeniedException)",
                           "good: EC2's prices can be read again"}));
}

TEST_F(AwsReadsTest, AnIsolatedNetworkHasNoPriceList) {
  cloud->without_price_list();
  cloud->start();
  settle();
  EXPECT_EQ(reply(200, described("")), "DescribeInstances");
  EXPECT_EQ(reply(200, "<DescribeInstanceTypesResponse/>"), "DescribeInstanceTypes");
  EXPECT_EQ(reply(200, "<DescribeInstanceTypeOfferingsResponse/>"),
            "DescribeInstanceTypeOfferings");
  EXPECT_EQ(reply(200, "<DescribeSpotPriceHistoryResponse/>"), "DescribeSpotPriceHistory");
  EXPECT_EQ(sink.names().back(), "PricesObserved");
  EXPECT_TRUE(transport.open.empty());
}

TEST_F(AwsReadsTest, AListBesideALaunchIsTakenAgain) {
  cloud->start();
  settle();
  cloud->submit({{model::LogId("log"), model::Position(7)}, 1, LaunchCase().command()});
  EXPECT_EQ(reply(200, described("")), "DescribeInstances");
  EXPECT_TRUE(sink.all<events::ListStarted>().empty());
}

TEST_F(AwsReadsTest, ANodeClassIsAskedUntilNothingIsOpen) {
  model::ResolveNodeClass spec;
  spec.ref = {"karpenter.k8s.aws", "EC2NodeClass", "default"};
  spec.uid = "class-uid";
  spec.generation = 3;
  model::NodeClass node_class;
  node_class.ref = spec.ref;
  node_class.uid = spec.uid;
  node_class.generation = 3;
  node_class.spec_json =
      R"({"amiFamily":"AL2023","amiSelectorTerms":[{"id":"ami-1"}],"instanceProfile":"nodes",
    "subnetSelectorTerms":[{"id":"subnet-1"}],"securityGroupSelectorTerms":[{"id":"sg-1"}]})";
  spec.request = providers::aws::encode_resolve(node_class);
  Strings asked;
  const auto answer_all = [&] {
    for (int i = 0; i < 20 && !transport.open.empty(); ++i)
      asked.push_back(reply(400, error("InvalidParameterValue")));
  };
  submit(spec);
  answer_all();
  const model::Outcome first = outcome();
  EXPECT_EQ(first.kind, OutcomeKind::kDone) << "what was refused is told by the class's conditions";
  EXPECT_NE(first.resolution.find("SubnetsReady"), std::string::npos);
  EXPECT_NE(std::find(asked.begin(), asked.end(), "DescribeSubnets"), asked.end());
  EXPECT_NE(std::find(asked.begin(), asked.end(), "DescribeSecurityGroups"), asked.end());
  sink.facts.clear();
  spec.known = base::hex_lower(base::sha256(first.resolution));
  submit(spec);
  answer_all();
  EXPECT_EQ(outcome().resolution, "") << "nothing has changed";
}

TEST_F(AwsReadsTest, AClassIsAskedForOnceItsUserDataIsKnown) {
  model::ResolveNodeClass spec;
  model::NodeClass node_class;
  node_class.ref = spec.ref = {"karpenter.k8s.aws", "EC2NodeClass", "default"};
  node_class.uid = spec.uid = "class-uid";
  node_class.spec_json =
      R"({"amiFamily":"AL2023","amiSelectorTerms":[{"id":"ami-1"}],"instanceProfile":"nodes",
    "subnetSelectorTerms":[{"id":"subnet-1"}],"securityGroupSelectorTerms":[{"id":"sg-1"}],
    "userData":{"bytes":1,"sha256":")" +
      base::hex_lower(base::sha256("x")) + R"("}})";
  spec.request = providers::aws::encode_resolve(node_class);
  submit(spec);
  const model::Outcome early = outcome();
  EXPECT_EQ(early.kind, model::OutcomeKind::kRefused);
  EXPECT_EQ(early.code, model::RefusalCode::kRetry);
  withheld.keep("x");
  sink.facts.clear();
  submit(spec);
  EXPECT_FALSE(transport.open.empty());
}

// Images each five minutes, subnets each two, as settings may say; groups each time.
TEST_F(AwsReadsTest, ImagesAndSubnetsAreAskedForAtTheirIntervals) {
  auto cluster = LaunchCase().resolved.cluster;
  cluster.image_refresh_millis = 300'000;
  cluster.subnet_refresh_millis = 120'000;
  cloud = std::make_unique<AwsCloud>(*client, sink, withheld, clock, cluster);
  model::ResolveNodeClass spec;
  model::NodeClass node_class;
  node_class.ref = spec.ref = {"karpenter.k8s.aws", "EC2NodeClass", "default"};
  node_class.uid = spec.uid = "class-uid";
  node_class.spec_json =
      R"({"amiFamily":"AL2023","amiSelectorTerms":[{"id":"ami-1"}],"instanceProfile":"nodes",
    "subnetSelectorTerms":[{"id":"subnet-1"}],"securityGroupSelectorTerms":[{"id":"sg-1"}]})";
  std::string found;
  const auto asked = [&](std::int64_t generation, bool good) {
    node_class.generation = spec.generation = generation;
    spec.request = providers::aws::encode_resolve(node_class);
    sink.facts.clear();
    submit(spec);
    std::string all;
    while (!transport.open.empty()) {
      const std::string& body = transport.open.front().request.body;
      const bool subnets = body.find("DescribeSubnets") != std::string::npos;
      const bool images = body.find("DescribeImages") != std::string::npos;
      all += subnets ? "subnets " : images ? "images " : "groups ";
      const std::string answer = subnets ? set_of("subnetSet", subnet("subnet-1", "a", 10))
                                 : images
                                     ? set_of("imagesSet", image("ami-1", "x86_64", "2026-07-01"))
                                     : set_of("securityGroupInfo", group("sg-1", "nodes"));
      good ? reply(200, answer) : reply(400, error("UnauthorizedOperation"));
    }
    found = outcome().resolution;
    return all;
  };
  const auto minutes = [&](int count) { clock.now_millis += count * 60'000 + 50; };
  EXPECT_EQ(asked(1, false), "subnets groups images ");
  minutes(1);
  EXPECT_EQ(asked(1, true), "subnets groups images ") << "an error is no answer";
  const std::string whole = found;
  minutes(1);
  EXPECT_EQ(asked(1, true), "groups ");
  EXPECT_EQ(found, whole) << "the rest is as it was found";
  minutes(1);
  EXPECT_EQ(asked(1, true), "subnets groups ");
  minutes(1);
  EXPECT_EQ(asked(2, true), "subnets groups images ") << "another generation asks for itself";
  minutes(3);
  EXPECT_EQ(asked(2, true), "subnets groups ");
  minutes(2);
  EXPECT_EQ(asked(2, true), "subnets groups images ");
}

// What EKS said counts on while it does not answer, which is told once.
TEST_F(AwsReadsTest, TheVersionOfEksOutlivesItsFailures) {
  auto cluster = LaunchCase().resolved.cluster;
  cluster.version_of_eks = true;
  cloud = std::make_unique<AwsCloud>(*client, sink, withheld, clock, cluster);
  Strings told;
  cloud->tell_faults([&](bool good, const std::string& line) {
    told.push_back((good ? "good: " : "bad: ") + line.substr(line.rfind('(') + 1));
  });
  model::ResolveNodeClass spec;
  model::NodeClass node_class;
  node_class.ref = spec.ref = {"karpenter.k8s.aws", "EC2NodeClass", "default"};
  node_class.uid = spec.uid = "class-uid";
  node_class.spec_json =
      R"({"amiSelectorTerms":[{"alias":"al2023@latest"}],"instanceProfile":"nodes",
    "subnetSelectorTerms":[{"id":"subnet-1"}],"securityGroupSelectorTerms":[{"id":"sg-1"}]})";
  spec.request = providers::aws::encode_resolve(node_class);
  // The version that the resolution has, after EKS answers so if it is asked.
  const auto version = [&](int status, const std::string& answer) {
    clock.now_millis += 60'000;
    sink.facts.clear();
    submit(spec);
    std::string asked = "kept ";
    while (!transport.open.empty()) {
      const bool eks =
          transport.open.front().request.url.find("/clusters/demo") != std::string::npos;
      if (!eks) {
        reply(400, error("InvalidParameterValue"));
        continue;
      }
      asked.clear();
      transport.answer(status, answer);
      settle();
    }
    const auto found = providers::aws::read_resolved(outcome().resolution);
    return asked + (found ? found->cluster.version : "none");
  };
  const std::string good = R"({"cluster": {"version": "1.35"}})";
  const std::string bad = R"({"__type": "AccessDeniedException", "message": "no"})";
  EXPECT_EQ(version(403, bad), "1.34") << "the one that karst started with";
  EXPECT_EQ(version(403, bad), "1.34");
  EXPECT_EQ(version(200, good), "1.35");
  for (int i = 1; i < 5; ++i) EXPECT_EQ(version(403, bad), "kept 1.35");
  EXPECT_EQ(version(403, bad), "1.35");
  EXPECT_EQ(told, (Strings{
                      "bad: DescribeCluster: AccessDeniedException)",
                      "good: DescribeCluster is answered again",
                      "bad: DescribeCluster: AccessDeniedException)",
                  }));
}

}  // namespace
}  // namespace karst::cloud::aws
