// A node with pods that goes: what the tests of its drain begin with.
#pragma once

#include "tests/engine/stage.h"

namespace karst::engine::testing {

inline constexpr std::int64_t kSecond = base::kMillisPerSecond;
inline constexpr const char* kNode = "node-1";

struct PodOf {
  std::string name;
  std::string priority_class;
  model::OwnerKind owner = model::OwnerKind::kReplicaSet;
  model::DoNotDisrupt hold = model::DoNotDisrupt::kNo;
  std::int64_t hold_millis = 0;
  std::int64_t grace_seconds = 30;
  bool tolerates_disrupted = false;
  std::vector<std::string> volume_claims = {};
};

// One claim with a node that is up; its deletion is asked for by `leave`.
class WayDown {
 public:
  WayDown() : story(log_) {
    set_the_stage(story);
    bring_up_an_empty_node(story);
    story.step();
    (void)story.take<model::TaintNode>();  // it is empty: the pods come before the echo
    for (const auto& command : story.take<model::MirrorClaim>())
      story.answer(command, model::OutcomeKind::kDone);
  }

  model::NodeClaim claim() { return story.state().claims().slots().begin()->second.row.claim; }
  model::Node node() { return story.state().nodes().find(model::NodeName(kNode))->node; }

  void add(const PodOf& of, std::int64_t deletion_millis = 0) {
    model::PodShape shape = shape_of(10);
    shape.priority_class = of.priority_class;
    shape.owner_kind = of.owner;
    shape.do_not_disrupt = of.hold;
    shape.do_not_disrupt_millis = of.hold_millis;
    shape.grace_seconds = of.grace_seconds;
    shape.volume_claims = of.volume_claims;
    if (of.tolerates_disrupted)
      shape.tolerations = {{std::string(model::kDisruptedTaintKey), true, "", std::nullopt, {}}};
    model::Pod pod = pending_pod(of.name, shape);
    pod.unschedulable = false;
    pod.node = model::NodeName(kNode);
    pod.phase = model::PodPhase::kRunning;
    pod.start_millis = story.now();
    pod.deletion_millis = deletion_millis;
    story.fact(events::ShapeRecorded{model::hash_of(shape), shape});
    story.fact(events::PodObserved{pod});
  }
  void gone(const std::string& name) {
    story.fact(events::PodGone{model::PodUid(name), "default", name});
  }

  // The API server deletes the claim, and the node carries the taint.
  void leave(std::optional<std::int64_t> grace_millis = std::nullopt) {
    model::NodeClaim leaving = claim();
    leaving.has_finalizer = true;
    leaving.termination_grace_millis = grace_millis;
    leaving.deletion_millis = story.now();
    story.fact(events::NodeClaimObserved{leaving});
    story.step();
    model::Node tainted = node();
    tainted.taints.push_back(
        {std::string(model::kDisruptedTaintKey), "", model::TaintEffect::kNoSchedule});
    story.fact(events::NodeObserved{tainted});
    story.step();
  }

  // Names of the pods that are to be evicted or deleted since the last call, "!" in front of those
  // that are deleted with so many seconds.
  std::vector<std::string> told_to_go() {
    std::vector<std::string> names;
    last = story.take<model::EvictPod>();
    for (const auto& command : last) {
      const auto& evict = std::get<model::EvictPod>(command.spec);
      names.push_back(evict.force ? "!" + evict.name + " " + std::to_string(evict.grace_seconds)
                                  : evict.name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  void answer_read_back() {
    for (const auto& command : story.take<model::ReadBackNode>()) {
      model::Outcome outcome;
      outcome.command = command.id.position;
      outcome.attempt = command.attempt;
      model::NodeReadBack& found = outcome.read_back.emplace();
      found.exists = found.tainted = true;
      story.fact(std::move(outcome));
    }
    story.step();
  }
  const events::MemoryLog& log() const { return log_; }
  bool looks_for_the_instance() { return !story.take<model::FindInstances>().empty(); }

 private:
  events::MemoryLog log_{model::LogId("log")};

 public:
  Story story;
  std::vector<ports::IssuedCommand> last;
};

using Names = std::vector<std::string>;

// Refuses the last eviction with the word of a budget, and steps until the next try or until `end`.
// How long that took.
inline std::int64_t refuse_and_wait(WayDown& down, std::int64_t end) {
  const std::int64_t began = down.story.now();
  down.story.answer(down.last.at(0), model::OutcomeKind::kRefused, {},
                    model::RefusalCode::kBlocked);
  down.story.step();
  while (down.told_to_go().empty() && down.story.now() < end) down.story.step(500);
  return down.story.now() - began;
}

}  // namespace karst::engine::testing
