// One launch order with everything that it needs, for tests to change.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "providers/aws/class_types.h"
#include "providers/aws/launch.h"

namespace karst::providers::aws {

struct LaunchCase {
  nlohmann::json spec = nlohmann::json::parse(R"({
    "amiSelectorTerms": [{"alias": "al2023@latest"}], "role": "node",
    "subnetSelectorTerms": [{"id": "subnet-a"}], "securityGroupSelectorTerms": [{"id": "sg-1"}],
    "tags": {"team": "a"}})");
  Resolved resolved;
  std::vector<model::NodeClaim> claims{1};
  std::vector<model::Offer> offers = {{"m6g.large", "us-east-1a", "spot", 20'000'000, ""},
                                      {"c5.large", "us-east-1b", "spot", 30'000'000, ""},
                                      {"m5.large", "us-east-1a", "spot", 40'000'000, ""},
                                      {"m5.large", "us-east-1b", "spot", 40'000'000, ""}};
  std::string token = "token-1";
  std::string command_tag = "log-7";
  bool class_gone = false;
  std::vector<SeenMemory> seen_memory;

  static Image image(const char* id, const char* arch, bool gpu) {
    Image one{id, id, "2026-01-01T00:00:00.000Z", false, {}};
    one.requirements = {{"karpenter.k8s.aws/instance-gpu-count",
                         gpu ? model::Operator::kExists : model::Operator::kDoesNotExist,
                         {},
                         0},
                        {"kubernetes.io/arch", model::Operator::kIn, {arch}, 0}};
    return one;
  }

  // Of m5.large in us-east-1a.
  static Reservation reservation(const char* id, std::int64_t available) {
    return {id,        "us-east-1a", "m5.large", "1",       "targeted",
            "default", "active",     "",         available, false};
  }

  // The embedded one.
  static const model::Catalogue& catalogue() {
    static const model::Catalogue kAll = embedded_base_catalogue();
    return kAll;
  }

  std::vector<model::AddressUse> promised;  // by orders before it

  LaunchCase() {
    resolved.cluster = {"demo", "uid-1",       "https://demo.example",
                        "Q0E=", "10.100.0.10", "10.100.0.0/16",
                        "1.34", "us-east-1",   false};
    resolved.subnets = {{"subnet-b", "us-east-1b", "use1-az2", 100},
                        {"subnet-a", "us-east-1a", "use1-az1", 50},
                        {"subnet-c", "us-east-1a", "use1-az1", 10}};
    resolved.security_groups = {{"sg-1", "a"}, {"sg-2", "b"}};
    resolved.images = {image("ami-1", "amd64", false), image("ami-2", "arm64", false)};
    resolved.instance_profile = "profile";
    claims.front().uid = model::ClaimUid("uid-0");
    claims.front().name = model::ClaimName("pool-abcde");
    claims.front().pool = model::PoolName("pool");
    claims.front().labels = {{"karpenter.sh/nodepool", "pool"}};
    claims.front().node_class = {"karpenter.k8s.aws", "EC2NodeClass", "default"};
  }

  std::string encode() const {
    const std::string node_class = class_gone ? std::string() : spec.dump();
    const std::string found = to_json(resolved);
    std::vector<LaunchSubject> subjects;
    for (const model::NodeClaim& claim : claims)
      subjects.push_back({&claim, 1, node_class, found, seen_memory, promised});
    LaunchInput input;
    input.catalogue = &catalogue();
    input.subjects = subjects;
    input.offers = offers;
    input.token = token;
    input.command_tag = command_tag;
    return encode_launch(input);
  }

  LaunchOrder order() const {
    auto read = read_launch(encode());
    EXPECT_TRUE(read) << (read ? "" : read.error().message);
    return read ? *read : LaunchOrder();
  }

  // The command that carries this order.
  model::Launch command() const {
    model::Launch launch;
    for (const model::NodeClaim& claim : claims) launch.items.push_back({claim.uid, claim.name, 1});
    launch.token = model::LaunchToken(token);
    launch.offers = offers;
    launch.request = encode();
    return launch;
  }
};

}  // namespace karst::providers::aws
