// The derived names that are dear to change. The expected texts were computed with Python's hashlib
// and base64, not with the code under test: a change here breaks every running cluster's
// idempotency.
#include "model/ids.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/pod.h"

namespace karst::model {
namespace {

CommandId command(const char* log, std::uint64_t position) {
  return {LogId(log), Position(position)};
}

TEST(Ids, CommandIdText) {
  EXPECT_EQ("abcdefghijklmnopqrstuvwxyz-42", to_string(command("abcdefghijklmnopqrstuvwxyz", 42)));
  EXPECT_EQ("l-18446744073709551615", to_string(command("l", ~std::uint64_t{0})));
}

// b32encode(sha256(b"abcdefghijklmnopqrstuvwxyz-42").digest()).lower()[:5] and of b"l-1".
TEST(Ids, ClaimNameKnownAnswers) {
  EXPECT_EQ("default-f7ttz",
            claim_name_for(PoolName("default"), command("abcdefghijklmnopqrstuvwxyz", 42)).str());
  EXPECT_EQ("gpu-mevgx", claim_name_for(PoolName("gpu"), command("l", 1)).str());
}

TEST(Ids, ClaimNameIsAtMost63Characters) {
  const std::string longest(57, 'p');
  EXPECT_EQ(longest + "-mevgx", claim_name_for(PoolName(longest), command("l", 1)).str());
  EXPECT_EQ(longest + "-mevgx", claim_name_for(PoolName(longest + "qqq"), command("l", 1)).str());
  EXPECT_EQ(63u, claim_name_for(PoolName(longest + "qqq"), command("l", 1)).str().size());
}

// b32encode(sha256(text(cluster) + text(uid) + u64(attempt) + …).digest()) with text(x) =
// u64(len(x)) + x, u64 little-endian, pairs sorted.
TEST(Ids, LaunchTokenKnownAnswers) {
  const std::vector<LaunchKey> one = {{ClaimUid("uid-a"), 1}};
  EXPECT_EQ("pvdus2ggcdbzsko7tf64md4srda2alg4scxjmfeqmpsnuvtr3efq",
            launch_token("cluster-1", one).str());
  const std::vector<LaunchKey> two = {{ClaimUid("uid-b"), 2}, {ClaimUid("uid-a"), 1}};
  EXPECT_EQ("yld3nmen4ol4o6dhpxf3e6khlejshkedihgeufjbwae75lxmppoq",
            launch_token("cluster-1", two).str());
  EXPECT_EQ("v5kxb5nbqefxv54mv5f4octgb4g7khscxl4r2tpfwizi3yhihx6a", launch_token("", {}).str());
}

TEST(Ids, LaunchTokenDependsOnWhatIsLaunchedAndNotOnOrder) {
  const std::vector<LaunchKey> ab = {{ClaimUid("a"), 1}, {ClaimUid("b"), 1}};
  const std::vector<LaunchKey> ba = {{ClaimUid("b"), 1}, {ClaimUid("a"), 1}};
  EXPECT_EQ(launch_token("c", ab), launch_token("c", ba));
  EXPECT_EQ(52u, launch_token("c", ab).str().size());
  const std::vector<std::vector<LaunchKey>> others = {
      {{ClaimUid("a"), 2}, {ClaimUid("b"), 1}},
      {{ClaimUid("a"), 1}},
      {{ClaimUid("ab"), 1}},
      {{ClaimUid("a"), 1}, {ClaimUid("b"), 1}, {ClaimUid("b"), 2}},
  };
  for (const auto& keys : others) EXPECT_NE(launch_token("c", ab), launch_token("c", keys));
  EXPECT_NE(launch_token("c", ab), launch_token("d", ab));
  EXPECT_NE(launch_token("ca", std::vector<LaunchKey>{{ClaimUid("b"), 1}}),
            launch_token("c", std::vector<LaunchKey>{{ClaimUid("ab"), 1}}));
}

TEST(Ids, ShapeHashText) {
  EXPECT_EQ("00000000000000010000000000000002", to_string(ShapeHash{1, 2}));
  EXPECT_EQ("fedcba98765432100123456789abcdef",
            to_string(ShapeHash{0xfedcba9876543210, 0x0123456789abcdef}));
}

TEST(Ids, ShapeHashSeesEveryField) {
  const PodShape plain;
  std::vector<PodShape> shapes(19, plain);
  shapes[0].requests.cpu_millis = 1;
  shapes[1].node_selector = {{"a", "b"}};
  shapes[2].required_terms = {{{}, false}};
  shapes[3].required_terms = {{{}, true}};
  shapes[4].preferred_terms = {{1, {}}};
  shapes[5].tolerations = {{}};
  shapes[6].spread = {{}};
  shapes[7].affinity = {{}};
  shapes[8].host_ports = {{}};
  shapes[9].volume_claims = {""};
  shapes[10].priority = 1;
  shapes[11].priority_class = "x";
  shapes[12].grace_seconds = 31;
  shapes[13].deletion_cost = 1;
  shapes[14].do_not_disrupt = DoNotDisrupt::kForever;
  shapes[15].do_not_disrupt_millis = 1;
  shapes[16].gated = true;
  shapes[17].uses_dra = true;
  shapes[18].owner_kind = OwnerKind::kJob;
  std::vector<ShapeHash> seen = {hash_of(plain)};
  for (const PodShape& shape : shapes) {
    for (const ShapeHash& other : seen) EXPECT_NE(other, hash_of(shape));
    seen.push_back(hash_of(shape));
  }
  EXPECT_EQ(hash_of(plain), hash_of(PodShape{}));
}

}  // namespace
}  // namespace karst::model
