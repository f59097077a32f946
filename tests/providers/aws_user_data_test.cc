// User data of each image family, whole, against files; and what is merged, refused and kept.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "providers/aws/mime.h"
#include "providers/aws/toml.h"
#include "providers/aws/user_data.h"

namespace karst::providers::aws {
namespace {

UserDataInput input(Family family) {
  UserDataInput in;
  in.family = family;
  in.cluster.name = "demo";
  in.cluster.endpoint = "https://demo.example";
  in.cluster.ca = "Q0E=";
  in.cluster.dns_ip = "10.100.0.10";
  in.cluster.service_cidr = "10.100.0.0/16";
  in.max_pods = 29;
  in.labels = {{"karpenter.sh/capacity-type", "spot"},
               {"karpenter.sh/nodepool", "default"},
               {"node.kubernetes.io/instance-type", "m5.large"},
               {"topology.kubernetes.io/zone", "us-east-1a"}};
  in.taints = {{"team", "a", model::TaintEffect::kNoSchedule},
               {"karpenter.sh/unregistered", "", model::TaintEffect::kNoExecute}};
  return in;
}

const char* kKubelet =
    R"({"clusterDNS": ["10.0.0.1"], "cpuCFSQuota": false, "evictionHard": {"nodefs.available": "5%",
        "memory.available": "200Mi"}, "evictionMaxPodGracePeriod": 60, "evictionSoft":
        {"memory.available": "500Mi"}, "evictionSoftGracePeriod": {"memory.available": "1m"},
        "imageGCHighThresholdPercent": 85, "imageGCLowThresholdPercent": 80, "kubeReserved":
        {"memory": "1Gi", "cpu": "100m"}, "podsPerCore": 4, "systemReserved": {"cpu": "50m"}})";

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// UPDATE_GOLDEN=1 writes the files.
void expect_golden(const std::string& name, const UserDataInput& in) {
  SCOPED_TRACE(name);
  const auto made = user_data(in);
  ASSERT_TRUE(made) << made.error().message;
  const std::string path =
      std::string(KARST_SOURCE_DIR) + "/tests/providers/data/user_data/" + name + ".txt";
  if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << *made;
  EXPECT_EQ(read_file(path), *made);
}

TEST(AwsUserData, EachFamilyPlainAndWithAllSettings) {
  struct Case {
    const char* name;
    Family family;
    const char* custom;
  };
  const Case cases[] = {
      {"al2", Family::kAl2, "#!/bin/bash\necho hello\n"},
      {"al2023", Family::kAl2023, "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\n"},
      {"bottlerocket", Family::kBottlerocket, "[settings.kernel]\nlockdown = \"integrity\"\n"},
      {"windows", Family::kWindows2022, "Write-Host hello"},
  };
  for (const Case& c : cases) {
    UserDataInput in = input(c.family);
    expect_golden(std::string(c.name) + "_plain", in);
    in.kubelet_json = kKubelet;
    in.raid = true;
    in.custom = c.custom;
    expect_golden(std::string(c.name) + "_full", in);
  }
}

TEST(AwsUserData, CustomIsAsItIs) {
  UserDataInput in = input(Family::kCustom);
  in.custom = "anything\r\n";
  EXPECT_EQ("anything\r\n", *user_data(in));
}

TEST(AwsUserData, AnArchiveKeepsItsParts) {
  UserDataInput in = input(Family::kAl2023);
  for (const char* before : {"", "\r\n \t\n"}) {
    in.custom = std::string(before) +
                "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=\"BOUNDARY\"\r\n\r\n"
                "--BOUNDARY\r\nContent-Type: text/cloud-config\r\n\r\na: 1\r\n"
                "--BOUNDARY\r\nContent-Type: text/x-shellscript\r\n\r\necho\r\n--BOUNDARY--\r\n";
    const auto made = user_data(in);
    ASSERT_TRUE(made) << made.error().message;
    const auto parts = read_mime(*made);
    ASSERT_TRUE(parts);
    ASSERT_EQ(3u, parts->size());
    EXPECT_EQ("Content-Type: text/cloud-config", (*parts)[0].headers);
    EXPECT_EQ("a: 1", (*parts)[0].body);
    EXPECT_EQ("echo", (*parts)[1].body);
    EXPECT_EQ("Content-Type: application/node.eks.aws", (*parts)[2].headers);
    EXPECT_EQ(std::string::npos, made->find('\r'));
  }
}

TEST(AwsUserData, PlainTextLosesItsCarriageReturns) {
  for (const Family family : {Family::kAl2, Family::kAl2023}) {
    UserDataInput in = input(family);
    in.custom = "#!/bin/bash\r\necho\r\n";
    const auto made = user_data(in);
    ASSERT_TRUE(made);
    EXPECT_NE(std::string::npos, made->find("#!/bin/bash\necho\n"));
    EXPECT_EQ(std::string::npos, made->find('\r'));
    in.custom = "#!/bin/bash\n\r--//\n";
    EXPECT_FALSE(user_data(in)) << "a separator when it has lost them";
  }
}

TEST(AwsUserData, TextOfTheClassIsAPartOfItsKind) {
  struct Case {
    Family family;
    const char* custom;
    const char* headers;
  };
  const char* shell = "Content-Type: text/x-shellscript; charset=\"us-ascii\"";
  const char* config = "Content-Type: application/node.eks.aws";
  const Case cases[] = {
      {Family::kAl2023, "#!/bin/bash\necho hello\n", shell},
      {Family::kAl2023, "kind: Anything\n", config},
      {Family::kAl2023, "# only a comment\n", config},
      {Family::kAl2, "kind: Anything\n", shell},
  };
  for (const Case& c : cases) {
    UserDataInput in = input(c.family);
    in.custom = c.custom;
    const auto made = user_data(in);
    ASSERT_TRUE(made);
    const auto parts = read_mime(*made);
    ASSERT_TRUE(parts);
    ASSERT_EQ(2u, parts->size());
    EXPECT_EQ(c.headers, parts->front().headers) << c.custom;
  }
}

TEST(AwsUserData, WhatIsBrokenIsRefusedWithTheReason) {
  struct Case {
    Family family;
    std::string custom;
    const char* message;
  };
  const Case cases[] = {
      {Family::kAl2, "MIME-Version: 1.0\n\nx", "no boundary"},
      {Family::kAl2, "Content-Type: multipart/mixed; boundary=\"b\"\n\n--b\n\nx\n", "does not end"},
      {Family::kAl2, "echo\n--//\n", "--//"},
      {Family::kAl2023, std::string(kUserDataBytesMax, 'x'), "at most 16384"},
      {Family::kBottlerocket, "[settings\n", "line 1: expected a header"},
      {Family::kBottlerocket, "a = 1\nb\n", "line 2: expected KEY = VALUE"},
      {Family::kBottlerocket, "a = \"open\n", "line 1: expected a value"},
      {Family::kBottlerocket, "a = [1, 2\n", "expected a value"},
      {Family::kBottlerocket, "[settings]\nkubernetes = {a}\n", "expected KEY = VALUE"},
  };
  for (const Case& c : cases) {
    UserDataInput in = input(c.family);
    in.custom = c.custom;
    const auto made = user_data(in);
    ASSERT_FALSE(made) << c.message;
    EXPECT_NE(std::string::npos, made.error().message.find(c.message)) << made.error().message;
  }
}

TEST(AwsUserData, BottlerocketMergesEveryWayToWriteATable) {
  for (const char* custom :
       {"[settings.kubernetes]\nmax-pods = 5\nlog-level = 3\nmade-up = 1\n"
        "[settings.kubernetes.node-labels]\n\"team\" = \"b\"\n'karpenter.sh/nodepool' = \"no\"\n",
        "settings.kubernetes.max-pods = 5\nsettings.kubernetes.log-level = 3\n"
        "settings.kubernetes.node-labels.team = \"b\"\nsettings.kubernetes.made-up = 1",
        "[settings]\nkubernetes = {max-pods = 5, log-level = 3, node-labels = {team = \"b\"}, "
        "made-up = {a = [1, {b = 2}]}}\n"}) {
    UserDataInput in = input(Family::kBottlerocket);
    in.custom = custom;
    const auto made = user_data(in);
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_NE(std::string::npos, made->find("\nlog-level = 3\nmax-pods = 29\n")) << *made;
    EXPECT_NE(std::string::npos, made->find("team = \"b\"\n")) << *made;
    EXPECT_NE(std::string::npos, made->find("\"karpenter.sh/nodepool\" = \"default\"\n"));
    EXPECT_EQ(std::string::npos, made->find("made-up"));
    EXPECT_EQ(made->find("[settings.kubernetes]"), made->rfind("[settings.kubernetes]"));
  }
}

TEST(AwsUserData, BottlerocketKeepsWhatIsNotKubernetes) {
  UserDataInput in = input(Family::kBottlerocket);
  in.custom =
      "# a comment\n[settings.host-containers.admin]\nenabled = true # yes\n"
      "user-data = \"\"\"\nmany # lines\n\"\"\"\n"
      "[[settings.container-registry.mirrors]]\nregistry = \"*\"\nendpoint = [\n  \"https://a\", # "
      "x\n]\n"
      "[[settings.container-registry.mirrors]]\nregistry = \"b\"\n";
  const auto made = user_data(in);
  ASSERT_TRUE(made) << made.error().message;
  for (const char* kept : {"[settings.host-containers.admin]\nenabled = true\n"
                           "user-data = "
                           "\"\"\"\nmany # lines\n\"\"\"\n",
                           "[[settings.container-registry.mirrors]]\nregistry = \"*\"\nendpoint = "
                           "[\n  \"https://a\", # x\n]\n"
                           "[[settings.container-registry.mirrors]]\nregistry = \"b\"\n"})
    EXPECT_NE(std::string::npos, made->find(kept)) << *made;
}

TEST(AwsUserData, OldBottlerocketIsToldWhatToBind) {
  UserDataInput in = input(Family::kBottlerocket);
  in.raid = true;
  for (const auto& [version, told] : std::vector<std::pair<const char*, bool>>{
           {"latest", false}, {"v1.46.0", false}, {"1.45.9", true}, {"", true}, {"2.0.0", false}}) {
    in.alias_version = version;
    EXPECT_EQ(told, user_data(in)->find("--dirs") != std::string::npos) << version;
  }
}

TEST(AwsUserData, KubeletSetsNoLabelsOfKubernetes) {
  for (const auto& [label, may] :
       std::vector<std::pair<const char*, bool>>{{"team", true},
                                                 {"karpenter.sh/nodepool", true},
                                                 {"karpenter.k8s.aws/instance-cpu", true},
                                                 {"kubernetes.io/os", false},
                                                 {"node.kubernetes.io/instance-type", false},
                                                 {"topology.k8s.aws/zone-id", true},
                                                 {"a.k8s.io/b", false},
                                                 {"notk8s.io/b", true}})
    EXPECT_EQ(may, kubelet_may_set(label)) << label;
}

}  // namespace
}  // namespace karst::providers::aws
