// The drift hash of pools: equal to Karpenter's where its value is known, and what changes it.
#include "model/pool_hash.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "base/time.h"

namespace karst::model {
namespace {

constexpr std::int64_t kHour = base::kMillisPerHour;

NodePool ec2() {
  NodePool pool;
  pool.node_class = {"karpenter.k8s.aws", "EC2NodeClass", "default"};
  pool.expire_after_millis = 720 * kHour;
  return pool;
}

NodePool kwok() {
  NodePool pool;
  pool.template_labels = {{"team", "a"}};
  pool.template_annotations = {{"x", "y"}};
  pool.taints = {{"dedicated", "gpu", TaintEffect::kNoSchedule}};
  pool.node_class = {"karpenter.kwok.sh", "KWOKNodeClass", "default"};
  pool.termination_grace_millis = kHour;
  pool.expire_after_millis = std::nullopt;  // Never
  return pool;
}

TEST(PoolHash, IsKarpentersV3) {
  EXPECT_EQ(pool_hash(ec2()), "6821555240594823858");  // published in the tests of its AWS provider
  EXPECT_EQ(pool_hash(kwok()), "5587239143141795576");
}

// Every change gives a hash of its own; the golden values hold them still from version to version.
TEST(PoolHash, EachFieldOfTheTemplateCounts) {
  struct Case {
    const char* name;
    std::function<void(HashedTemplate&)> change;
  };
  const Case cases[] = {
      {"nothing", [](auto&) {}},
      {"a label", [](auto& t) { t.labels = Labels{{"a", "b"}}; }},
      {"its value", [](auto& t) { t.labels = Labels{{"a", "c"}}; }},
      {"key and value the other way round", [](auto& t) { t.labels = Labels{{"b", "a"}}; }},
      {"no labels, said aloud", [](auto& t) { t.labels = Labels{}; }},
      {"an annotation", [](auto& t) { t.annotations = Labels{{"a", "b"}}; }},
      {"no annotations, said aloud", [](auto& t) { t.annotations = Labels{}; }},
      {"a taint", [](auto& t) { t.taints = {{"a", "", TaintEffect::kNoSchedule}}; }},
      {"its value", [](auto& t) { t.taints = {{"a", "b", TaintEffect::kNoSchedule}}; }},
      {"its effect", [](auto& t) { t.taints = {{"a", "", TaintEffect::kNoExecute}}; }},
      {"as a startup taint",
       [](auto& t) { t.startup_taints = {{"a", "", TaintEffect::kNoSchedule}}; }},
      {"no taints, said aloud", [](auto& t) { t.taints = std::vector<Taint>{}; }},
      {"no startup taints, said aloud", [](auto& t) { t.startup_taints = std::vector<Taint>{}; }},
      {"another class", [](auto& t) { t.node_class.name = "other"; }},
      {"another kind", [](auto& t) { t.node_class.kind = "Other"; }},
      {"another group", [](auto& t) { t.node_class.group = "other.sh"; }},
      {"a grace period", [](auto& t) { t.termination_grace_millis = kHour; }},
      {"another one", [](auto& t) { t.termination_grace_millis = 2 * kHour; }},
      {"none at all", [](auto& t) { t.termination_grace_millis = 0; }},
      {"another expiry", [](auto& t) { t.expire_after_millis = kHour; }},
      {"no expiry", [](auto& t) { t.expire_after_millis = std::nullopt; }},
  };
  std::set<std::uint64_t> seen;
  for (const Case& test : cases) {
    HashedTemplate what;
    what.node_class = {"karpenter.k8s.aws", "EC2NodeClass", "default"};
    what.expire_after_millis = 720 * kHour;
    test.change(what);
    EXPECT_TRUE(seen.insert(template_hash(what)).second) << test.name;
  }
}

TEST(PoolHash, OrderDoesNotCountNorDoesWhatIsNoPartOfIt) {
  NodePool pool = kwok();
  pool.taints.push_back({"a", "", TaintEffect::kNoSchedule});
  const std::string hash = pool_hash(pool);
  std::swap(pool.taints[0], pool.taints[1]);
  EXPECT_EQ(pool_hash(pool), hash);
  pool.requirements = {{"kubernetes.io/arch", Operator::kIn, {"arm64"}, 0}};
  pool.weight = 5;
  pool.limits = {{"cpu", 1000}};
  pool.budgets = {{}};
  pool.consolidate_after_millis = 5;
  EXPECT_EQ(pool_hash(pool), hash);
}

}  // namespace
}  // namespace karst::model
