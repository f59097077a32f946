// What is asked about the cluster itself, and what comes of the answers.
#include <gtest/gtest.h>

#include "providers/aws/cluster_answers.h"
#include "providers/aws/resolution.h"
#include "tests/providers/aws_answers.h"
#include "tests/providers/aws_launch_case.h"

namespace karst::providers::aws {
namespace {

Answer of_version(const std::string& version) {
  return page(R"({"cluster": {"name": "demo", "version": ")" + version + "\"}}");
}

TEST(AwsClusterAnswers, ImagesFollowTheVersionThatEksSays) {
  const LaunchCase c;
  const NodeClassSubject subject{"default", "uid", 3, *read_node_class_spec(c.spec.dump())};
  Cluster cluster = c.resolved.cluster;
  const auto asked = [&](const Answers& answers, const std::string& prefix) {
    std::string all;
    for (const Question& one : questions(subject, cluster, answers))
      if (one.key.starts_with(prefix)) all += one.key + " ";
    return all;
  };
  EXPECT_EQ("", asked({}, "cluster"));
  EXPECT_NE(std::string::npos, asked({}, "ssm/").find("/1.34/"));
  cluster.version_of_eks = true;
  EXPECT_EQ("cluster ", asked({}, "cluster"));
  EXPECT_EQ("", asked({}, "ssm/")) << "of which version, is not known yet";
  const Question first = questions(subject, cluster, {}).front();
  EXPECT_EQ("eks", first.request.service);
  EXPECT_EQ((std::vector<std::string>{"clusters", "demo"}), first.request.path);
  EXPECT_EQ(5 * 60'000, first.life_millis);
  struct Case {
    const char* name;
    Answer answer;
    const char* want;
  };
  for (const Case& one : {Case{"another one", of_version("1.35"), "1.35"},
                          Case{"denied", refused("AccessDeniedException"), "1.34"},
                          Case{"none of its answers", page("<html>"), "1.34"},
                          Case{"without a version", page(R"({"cluster": {}})"), "1.34"}}) {
    const Answers answers = {{"cluster", one.answer}};
    EXPECT_EQ("", asked(answers, "cluster")) << one.name;
    EXPECT_NE(std::string::npos, asked(answers, "ssm/").find("/" + std::string(one.want) + "/"));
    EXPECT_EQ(one.want, resolve(subject, cluster, answers, 0).resolved.cluster.version) << one.name;
  }
}

TEST(AwsClusterAnswers, ShiftsAreAskedForByTheArn) {
  const LaunchCase c;
  const NodeClassSubject subject{"default", "uid", 3, *read_node_class_spec(c.spec.dump())};
  Cluster cluster = c.resolved.cluster;
  cluster.heeds_shifts = true;
  EXPECT_NE(kShiftsKey, questions(subject, cluster, {}).front().key) << "its ARN is not known";
  cluster.arn = "arn:aws:eks:us-east-1:1:cluster/demo";
  const Question first = questions(subject, cluster, {}).front();
  EXPECT_EQ(kShiftsKey, first.key);
  EXPECT_EQ("arc-zonal-shift", first.request.service);
  EXPECT_EQ((std::vector<std::string>{"managedresources", cluster.arn}), first.request.path);
}

TEST(AwsClusterAnswers, ZonesAreShiftedWhileAShiftIsInForce) {
  const std::vector<Subnet> subnets = LaunchCase().resolved.subnets;
  struct Case {
    const char* name;
    std::string answer;
    std::vector<std::string> want;
  };
  const std::string applied = R"("appliedStatus": "APPLIED", )";
  for (const Case& one : {
           Case{"none", R"({"zonalShifts": [], "autoshifts": []})", {}},
           Case{"one of a person",
                R"({"zonalShifts": [{)" + applied +
                    R"("awayFrom": "use1-az1", "expiryTime": 2001}]})",
                {"us-east-1a"}},
           Case{"one with a fraction",
                R"({"zonalShifts": [{)" + applied +
                    R"("awayFrom": "use1-az1", "expiryTime": 2001.5}]})",
                {"us-east-1a"}},
           Case{"one for ever",
                R"({"zonalShifts": [{)" + applied +
                    R"("awayFrom": "use1-az1", "expiryTime": 1e300}]})",
                {"us-east-1a"}},
           Case{"one in another notation",
                R"({"zonalShifts": [{)" + applied +
                    R"("awayFrom": "use1-az1", "expiryTime": 2.001E3}]})",
                {"us-east-1a"}},
           Case{"one that is over",
                R"({"zonalShifts": [{)" + applied +
                    R"("awayFrom": "use1-az1", "expiryTime": 2000}]})",
                {}},
           Case{"one that is not applied",
                R"({"zonalShifts": [{"appliedStatus": "NOT_APPLIED", "awayFrom": "use1-az1"}]})",
                {}},
           Case{"both zones, one by AWS itself",
                R"({"zonalShifts": [{)" + applied + R"("awayFrom": "use1-az2", "expiryTime": 3000}],
                    "autoshifts": [{)" +
                    applied + R"("awayFrom": "use1-az1", "startTime": 1}]})",
                {"us-east-1a", "us-east-1b"}},
           Case{"a zone without a subnet",
                R"({"autoshifts": [{)" + applied + R"("awayFrom": "use1-az6"}]})",
                {}},
           Case{"none of its answers", "<html>", {}},
           Case{"nor this", R"({"zonalShifts": {"a": 1}, "autoshifts": [1, "a", {}]})", {}},
       }) {
    EXPECT_EQ(one.want, shifted_zones({{"zonal-shift", page(one.answer)}}, subnets, 2'000'000))
        << one.name;
  }
  EXPECT_TRUE(shifted_zones({{"zonal-shift", refused("Denied")}}, subnets, 0).empty());
}

TEST(AwsClusterAnswers, NothingIsOnSaleInAShiftedZone) {
  LaunchCase c;
  const auto spec = read_node_class_spec(c.spec.dump());
  const std::string usual = to_json(c.resolved);
  EXPECT_TRUE(shifted_zones(usual).empty());
  EXPECT_EQ(std::string::npos, usual.find("shifted")) << "what was found is as it always was";
  c.resolved.shifted_zones = {"us-east-1a"};
  c.resolved.reservations = {
      {"cr-1", "us-east-1a", "m5.large", "1", "open", "default", "active", "", 2, false}};
  EXPECT_EQ(c.resolved, *read_resolved(to_json(c.resolved)));
  EXPECT_EQ(c.resolved.shifted_zones, shifted_zones(to_json(c.resolved)));
  std::string offerings;
  for (const model::InstanceType& type :
       types_for(LaunchCase::catalogue(), *spec, *read_resolved(to_json(c.resolved))))
    if (type.name == "m5.large")
      for (const model::Offering& one : type.offerings)
        offerings += one.zone + " " + one.capacity_type + (one.available ? " yes; " : " no; ");
  EXPECT_EQ(
      "us-east-1a on-demand no; us-east-1a reserved no; us-east-1a spot no; us-east-1b on-demand "
      "yes; us-east-1b spot yes; ",
      offerings);
}

}  // namespace
}  // namespace karst::providers::aws
