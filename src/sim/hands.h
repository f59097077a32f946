// The simulated hands: one attempt per command, an answer after some latency, and every way in
// which an answer can mislead. What was submitted happens even if the process that asked dies; only
// its answer is lost then. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "ports/command_port.h"
#include "sim/api_server.h"
#include "sim/cloud.h"
#include "sim/controllers.h"
#include "sim/core.h"
#include "sim/scenario.h"

namespace karst::sim {

class Hands : public ports::CommandPort {
 public:
  Hands(Core& core, ApiServer& api, Cloud& cloud, const Controllers& controllers,
        const Scenario& scenario)
      : core_(core), api_(api), cloud_(cloud), controllers_(controllers), scenario_(scenario) {}

  void submit(const ports::IssuedCommand& command) override;

 private:
  struct Fate {
    bool effect = true;
    bool answered = true;           // otherwise the outcome is "unclear"
    std::int64_t effect_delay = 0;  // late success
    model::RefusalCode refusal = model::RefusalCode::kNone;
  };
  Fate fate_of(model::CommandKind kind);
  void arrive(const ports::IssuedCommand& command, std::uint64_t connection);
  void answer(const ports::IssuedCommand& command, model::Outcome outcome,
              std::uint64_t connection);

  model::Outcome perform(const ports::IssuedCommand& command, bool late);
  model::Outcome create_claim(const model::CreateNodeClaim& command);
  model::Outcome delete_object(const model::ObjectRef& object);
  model::Outcome taint(const model::TaintNode& command);
  model::Outcome evict(const model::EvictPod& command);
  model::Outcome set_finalizer(const model::SetFinalizer& command);
  model::Outcome read_back(const model::ReadBackNode& command) const;
  model::Outcome sync_node(const model::SyncNode& command);
  model::Outcome mirror_claim(const model::MirrorClaim& command);
  model::Outcome mirror_pool(const model::MirrorPool& command);

  Core& core_;
  ApiServer& api_;
  Cloud& cloud_;
  const Controllers& controllers_;
  const Scenario& scenario_;
  std::map<std::string, std::int64_t> blocked_until_;  // evictions, by pod uid
  std::size_t in_flight_ = 0;
};

}  // namespace karst::sim
