// What stories of drift begin with: a claim that is as its pool says, its machine and its node, and
// a cloud that tells of the machine whatever its image says.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "model/pool_hash.h"
#include "tests/engine/kwok_machines.h"
#include "tests/engine/stage.h"

namespace karst::engine::testing {

inline constexpr const char* kDriftHash = "karpenter.sh/nodepool-hash";
inline constexpr const char* kDriftVersion = "karpenter.sh/nodepool-hash-version";
inline constexpr const char* kSoldType = "c-1x-amd64-linux";

// kwok's machines, of an account that tells of each by its image: "?" is nobody's to tell.
class Judging final : public KwokMachines {
 public:
  bool depends_on_class() const override { return asks_; }
  std::string encode_resolve(const model::NodeClass&) const override { return "find"; }
  std::vector<std::optional<std::string>> drift_of(
      const model::Catalogue&, const model::NodeClass&, std::string_view,
      std::span<const providers::DriftSubject> subjects) const override {
    std::vector<std::optional<std::string>> drifts;
    for (const auto& one : subjects) {
      ++judged;
      if (one.instance == nullptr || one.instance->image == "?")
        drifts.emplace_back(std::nullopt);
      else
        drifts.emplace_back(one.instance->image);
    }
    return drifts;
  }
  void ask() { asks_ = true; }
  mutable int judged = 0;

 private:
  bool asks_ = false;
};

struct DriftStage {
  DriftStage() : story(log, {}, &provider) {
    pool = pool_of("default");
    pool.consolidate_after_millis = std::nullopt;
    pool.hash = model::pool_hash(pool);
    pool.hash_version = model::kPoolHashVersion;
    claim.name = model::ClaimName("default-a");
    claim.uid = model::ClaimUid("uid-a");
    claim.pool = pool.name;
    claim.node_class = pool.node_class;
    claim.has_finalizer = true;
    claim.creation_millis = story.now();
    claim.provider_id = model::ProviderId("kwok://a");
    claim.annotations = {{kDriftHash, pool.hash}, {kDriftVersion, pool.hash_version}};
    claim.labels = {{"karpenter.sh/capacity-type", "on-demand"},
                    {"node.kubernetes.io/instance-type", kSoldType},
                    {"topology.kubernetes.io/zone", "test-zone-a"}};
    machine.provider_id = claim.provider_id;
    machine.claim = claim.uid;
    machine.attempt = 1;
    machine.state = model::InstanceState::kRunning;
  }
  void begin() {
    set_the_stage(story, pool);
    story.fact(events::InstanceObserved{machine});
    story.fact(events::NodeClaimObserved{claim});
    story.fact(events::NodeObserved{node_up(machine)});
  }
  // Carries out what the claim is asked to show for some minutes, and then what Drifted says.
  std::string shown(std::int64_t millis = 60'000) {
    for (std::int64_t passed = 0; passed < millis; passed += 6'000) {
      story.step(6'000);
      for (const auto& command : story.take<model::MirrorClaim>()) {
        const auto& mirror = std::get<model::MirrorClaim>(command.spec);
        for (const model::Condition& one : mirror.conditions) {
          drop(one.type);
          claim.conditions.push_back(one);
          told += one.type == "Drifted" ? "+" + one.reason : "";
        }
        for (const std::string& type : mirror.cleared) {
          drop(type);
          told += type == "Drifted" ? "-" : "";
        }
        for (const auto& [key, value] : mirror.labels) model::set_label(claim.labels, key, value);
        for (const auto& [key, value] : mirror.annotations)
          model::set_label(claim.annotations, key, value);
        std::sort(claim.conditions.begin(), claim.conditions.end(),
                  [](const auto& a, const auto& b) { return a.type < b.type; });
        story.answer(command, model::OutcomeKind::kDone);
        story.fact(events::NodeClaimObserved{claim});
      }
    }
    for (const model::Condition& one : claim.conditions)
      if (one.type == "Drifted" && one.status == model::ConditionStatus::kTrue)
        return one.reason == one.message ? one.reason : "message: " + one.message;
    return "";
  }
  void drop(const std::string& type) {
    std::erase_if(claim.conditions, [&](const auto& one) { return one.type == type; });
  }
  void see(const std::string& image) {
    machine.image = image;
    story.fact(events::InstanceObserved{machine});
  }
  // Pools and classes are listed after a start.
  void set_the_stage_again() {
    model::NodeClass seen;
    for (const auto& [ref, slot] : story.state().node_classes().slots()) seen = slot.row.node_class;
    story.list("NodeClass", {events::NodeClassObserved{seen}});
    story.list("NodePool", {events::NodePoolObserved{pool}});
  }
  void see_pool() { story.fact(events::NodePoolObserved{pool}); }
  // As whoever stamps pools does.
  void stamp_pool() {
    pool.hash = model::pool_hash(pool);
    see_pool();
  }

  events::MemoryLog log{model::LogId("log")};
  Judging provider;
  Story story;
  model::NodePool pool;
  model::NodeClaim claim;
  model::Instance machine;
  std::string told;  // each change of Drifted, "+reason" and "-"
};

}  // namespace karst::engine::testing
