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

}  // namespace
}  // namespace karst::providers::aws
