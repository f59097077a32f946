// Mirrors at the API server's hands, by script: what is read before a status is written, and what
// each answer means.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <tuple>

#include "tests/kube/writer_play.h"

namespace karst::kube {
namespace {

using nlohmann::json;
using namespace testing_kube;

const Reply kClaim{200, R"({"metadata":{"uid":"cu","resourceVersion":"7"}})", Failure::kNone};
const Reply kPool{200, R"({"metadata":{"uid":"pu","resourceVersion":"7"}})", Failure::kNone};
// A test of a JSON patch that is not so.
const Reply kUntrue{
    422, R"({"message":"the server rejected our request due to an error in our request"})",
    Failure::kNone};
const model::MirrorStatus kStatus{"karpenter.sh", "NodeOverlay", "", "o", "pu", {}, "", {}};

model::MirrorClaim mirror(bool labels) {
  model::MirrorClaim spec;
  spec.name = model::ClaimName("web-abcde");
  spec.uid = model::ClaimUid("cu");
  if (labels) spec.labels = {{"a", "1"}};
  return spec;
}

model::MirrorPool mirror_pool(const std::string& hash) {
  model::MirrorPool spec;
  spec.name = model::PoolName("web");
  spec.uid = "pu";
  spec.hash = hash;
  return spec;
}

TEST(KubeWriter, MirrorsEndInOneOutcome) {
  const std::string claim = "/apis/karpenter.sh/v1/nodeclaims/web-abcde";
  const std::vector<std::string> claim_told = {"GET " + claim, "PATCH " + claim + "/status"};
  const std::string overlay = "/apis/karpenter.sh/v1alpha1/nodeoverlays/o";
  const std::string overlay_status = "PATCH " + overlay + "/status";
  const std::string pool = "/apis/karpenter.sh/v1/nodepools/web";
  const std::string pool_patch = "PATCH " + pool;
  const std::string pool_status = pool_patch + "/status";
  const auto done = OutcomeKind::kDone, refused = OutcomeKind::kRefused;
  const auto unclear = OutcomeKind::kUnclear;
  const auto none = RefusalCode::kNone;
  play_all({
      {"mirror",
       mirror(true),
       {kClaim, {200}},
       {"PATCH " + claim, "PATCH " + claim + "/status"},
       done,
       none},
      {"mirror without labels", mirror(false), {kClaim, {200}}, claim_told, done, none},
      {"mirror: gone", mirror(true), {kGone}, {"PATCH " + claim}, refused, RefusalCode::kGone},
      {"mirror: gone by the read",
       mirror(false),
       {kGone},
       {"GET " + claim},
       refused,
       RefusalCode::kGone},
      {"mirror: read cut", mirror(false), {kCut}, {"GET " + claim}, refused, RefusalCode::kRetry},
      {"mirror: metadata cut", mirror(true), {kCut}, {"PATCH " + claim}, unclear, none},
      {"mirror: another claim by its labels",
       mirror(true),
       {kUntrue},
       {"PATCH " + claim},
       refused,
       RefusalCode::kGone},
      {"mirror: another claim",
       mirror(false),
       {{200, R"({"metadata":{"uid":"other"}})"}},
       {"GET " + claim},
       refused,
       RefusalCode::kGone},
      {"mirror: another answers",
       mirror(false),
       {{200, "<html>please log in</html>"}},
       {"GET " + claim},
       refused,
       RefusalCode::kRetry},
      {"mirror: written meanwhile",
       mirror(false),
       {kClaim, kUntrue},
       claim_told,
       refused,
       RefusalCode::kConflict},
      {"mirror: conflict",
       mirror(false),
       {kClaim, {409}},
       claim_told,
       refused,
       RefusalCode::kConflict},
      {"mirror: bad values",
       mirror(false),
       {kClaim, {422, R"({"message":"status.x is invalid"})"}},
       claim_told,
       refused,
       RefusalCode::kInvalid},
      {"mirror: cut", mirror(false), {kClaim, kCut}, claim_told, unclear, none},
      {"pool", mirror_pool("1"), {kPool, {200}}, {pool_patch, pool_status}, done, none},
      {"pool without a hash",
       mirror_pool(""),
       {kPool, {200}},
       {"GET " + pool, pool_status},
       done,
       none},
      {"pool: gone", mirror_pool("1"), {kGone}, {pool_patch}, refused, RefusalCode::kGone},
      {"status", kStatus, {kPool, {200}}, {"GET " + overlay, overlay_status}, done, none},
      {"status: written meanwhile",
       kStatus,
       {kPool, kUntrue},
       {"GET " + overlay, overlay_status},
       refused,
       RefusalCode::kConflict},
      {"status of something else",
       model::MirrorStatus{"g", "Kind", "", "n", "u", {}, "", {}},
       {},
       {},
       refused,
       RefusalCode::kInvalid},
  });
}

TEST(KubeWriter, AMirrorTestsTheVersionThatItWasMadeFrom) {
  const Reply labelled{200, R"({"metadata":{"uid":"cu","resourceVersion":"8"}})", Failure::kNone};
  for (const auto& [labels, first, version] :
       {std::tuple(false, kClaim, "7"), std::tuple(true, labelled, "8")}) {
    const Played got = play(mirror(labels), {first, {200}});
    ASSERT_EQ(got.requests.size(), 2u);
    EXPECT_NE(std::find(got.requests[1].headers.begin(), got.requests[1].headers.end(),
                        "Content-Type: application/json-patch+json"),
              got.requests[1].headers.end());
    const json test = json::parse(got.requests[1].body).at(0);
    EXPECT_EQ(test["op"], "test");
    EXPECT_EQ(test["path"], "/metadata/resourceVersion");
    EXPECT_EQ(test["value"], version);
  }
}

}  // namespace
}  // namespace karst::kube
