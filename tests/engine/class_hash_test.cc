// What claims are compared with their class by: the class's hash is stamped on both, and claims
// that carry another product's, or an older recipe's, take over ours without having drifted.
#include "tests/engine/kwok_machines.h"
#include "tests/engine/stage.h"

namespace karst::engine {
namespace {

using namespace testing;

// kwok's machines, of an account in which a class's hash is its spec.
class Hashing final : public KwokMachines {
 public:
  bool depends_on_class() const override { return true; }
  std::string encode_resolve(const model::NodeClass&) const override { return "find"; }
  std::string class_hash(const model::NodeClass& node_class, std::string_view) const override {
    return "hash of " + node_class.spec_json;
  }
  std::string_view class_hash_version() const override { return "ours"; }
};

constexpr const char* kHash = "karpenter.kwok.sh/kwoknodeclass-hash";
constexpr const char* kVersion = "karpenter.kwok.sh/kwoknodeclass-hash-version";

struct ClassHash : ::testing::Test {
  ClassHash() : story(log, {}, &provider) {
    seen.ref = {"karpenter.kwok.sh", "KWOKNodeClass", "default"};
    seen.uid = "c1";
    seen.generation = 1;
    seen.spec_json = "{}";
  }
  // The class with this hash stands there, and was resolved.
  void set_class(const std::string& hash, const std::string& version) {
    seen.hash = hash;
    seen.hash_version = version;
    set_the_stage(story);
    story.fact(events::NodeClassObserved{seen});
    resolve();
  }
  // The account answers all that is asked, also what was asked of an older generation.
  void resolve() {
    for (int i = 0; i < 3; ++i) {
      story.step(10'000);
      for (const auto& command : story.take<model::ResolveNodeClass>()) {
        model::Outcome outcome;
        outcome.command = command.id.position;
        outcome.resolution = "found";
        story.fact(outcome);
      }
      story.step();
    }
  }
  model::NodeClaim claim(const std::string& name, const std::string& hash,
                         const std::string& version) {
    model::NodeClaim one;
    one.name = model::ClaimName(name);
    one.uid = model::ClaimUid("uid-" + name);
    one.pool = model::PoolName("default");
    one.node_class = seen.ref;
    one.has_finalizer = true;
    one.provider_id = model::ProviderId("kwok://" + name);
    if (!hash.empty()) one.annotations = {{kHash, hash}, {kVersion, version}};
    return one;
  }
  // What the class was asked to carry; empty: nothing.
  std::string told() {
    std::string text;
    for (const auto& command : story.take<model::SyncNodeClass>()) {
      const auto& sync = std::get<model::SyncNodeClass>(command.spec);
      text += sync.hash_version + " " + sync.hash;
      story.answer(command, model::OutcomeKind::kDone);
      seen.hash = sync.hash;
      seen.hash_version = sync.hash_version;
    }
    story.fact(events::NodeClassObserved{seen});
    story.step();
    return text;
  }
  // Of the claims that were asked to carry something of it: "name: hash".
  std::vector<std::string> migrated() {
    std::vector<std::string> all;
    for (const auto& command : story.take<model::MirrorClaim>()) {
      const auto& mirror = std::get<model::MirrorClaim>(command.spec);
      story.answer(command, model::OutcomeKind::kDone);
      show(mirror);
      if (model::label_value(mirror.annotations, kVersion).empty()) continue;
      EXPECT_EQ(model::label_value(mirror.annotations, kVersion), "ours");
      all.push_back(mirror.name.str() + ": " +
                    std::string(model::label_value(mirror.annotations, kHash)));
    }
    return all;
  }
  // The API server has it now.
  void show(const model::MirrorClaim& mirror) {
    model::NodeClaim shown = story.state().claims().find(mirror.name)->claim;
    for (const auto& [key, value] : mirror.labels) model::set_label(shown.labels, key, value);
    for (const auto& [key, value] : mirror.annotations)
      model::set_label(shown.annotations, key, value);
    for (const model::Condition& one : mirror.conditions) {
      std::erase_if(shown.conditions, [&](const auto& known) { return known.type == one.type; });
      shown.conditions.push_back(one);
    }
    std::sort(shown.conditions.begin(), shown.conditions.end(),
              [](const auto& a, const auto& b) { return a.type < b.type; });
    story.fact(events::NodeClaimObserved{shown});
  }
  events::MemoryLog log{model::LogId("log")};
  Hashing provider;
  model::NodeClass seen;
  Story story;
};

TEST_F(ClassHash, AClassIsStampedAndAgainWhenItChanges) {
  set_class("", "");
  EXPECT_EQ(told(), "ours hash of {}");
  story.step(120'000);
  EXPECT_EQ(told(), "") << "once";
  seen.generation = 2;
  seen.spec_json = R"({"role":"other"})";
  story.fact(events::NodeClassObserved{seen});
  resolve();
  story.step(30'000);
  EXPECT_EQ(told(), R"(ours hash of {"role":"other"})");
}

TEST_F(ClassHash, AClaimOfOursKeepsTheHashItWasMadeWith) {
  set_class("hash of old", "ours");
  story.fact(events::NodeClaimObserved{claim("made", "hash of old", "ours")});
  story.step();
  story.step(30'000);
  EXPECT_EQ(told(), "ours hash of {}");
  EXPECT_TRUE(migrated().empty()) << "it differs now, and that is the point";
}

TEST_F(ClassHash, ClaimsOfAnotherRecipeTakeOverTheHashBeforeTheClass) {
  set_class("1234", "v5");
  model::NodeClaim drifted = claim("drifted", "99", "v5");
  drifted.conditions = {{"Drifted", model::ConditionStatus::kTrue, "NodeClassDrift", "", 1, 1}};
  for (const auto& early : story.take<model::SyncNodeClass>())
    story.answer(early, model::OutcomeKind::kRefused, {}, model::RefusalCode::kRetry);
  const std::vector<model::NodeClaim> claims = {claim("karpenters", "1234", "v5"), drifted,
                                                claim("plain", "", "")};
  for (const auto& one : claims) {
    story.fact(events::NodeClaimObserved{one});
    model::Instance machine;
    machine.provider_id = one.provider_id;
    machine.claim = one.uid;
    machine.attempt = 1;
    machine.state = model::InstanceState::kRunning;
    story.fact(events::InstanceObserved{machine});
  }
  story.step();
  EXPECT_TRUE(migrated().empty()) << "their status is written";
  story.step();
  story.step(60'000);
  EXPECT_EQ(migrated(),
            (std::vector<std::string>{"drifted: ", "karpenters: hash of {}", "plain: hash of {}"}));
  EXPECT_TRUE(story.take<model::SyncNodeClass>().empty()) << "claims first";
  story.step();
  story.step(60'000);
  EXPECT_TRUE(migrated().empty());
  EXPECT_EQ(told(), "ours hash of {}");
}

TEST_F(ClassHash, NewClaimsAreStamped) {
  set_class("", "");
  EXPECT_EQ(told(), "ours hash of {}");
  add_pods(story, 1);
  story.step(1'100);
  const auto made = story.take<model::CreateNodeClaim>();
  ASSERT_EQ(made.size(), 1u);
  const model::NodeClaim& claim = std::get<model::CreateNodeClaim>(made[0].spec).claim;
  EXPECT_EQ(model::label_value(claim.annotations, kHash), "hash of {}");
  EXPECT_EQ(model::label_value(claim.annotations, kVersion), "ours");
}

}  // namespace
}  // namespace karst::engine
