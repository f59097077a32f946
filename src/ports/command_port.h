// Hands without opinions: a port takes a command that is already durable, makes exactly one
// attempt, and reports the outcome as a fact. Implemented by kube (objects), cloud/* (instances)
// and sim (both).
#pragma once

#include <cstdint>
#include <functional>

#include "model/command.h"
#include "model/ids.h"

namespace karst::ports {

struct IssuedCommand {
  model::CommandId id;
  std::uint32_t attempt = 1;
  model::CommandSpec spec;
  // Whether the epoch in which it was issued lasts: asked when a write of it is about to leave,
  // however late what is read before it arrives. Any thread; empty: it always may.
  std::function<bool()> may_leave;
};

class CommandPort {
 public:
  virtual ~CommandPort() = default;
  // Engine thread. Never blocks, never fails, never retries: whatever happens becomes one
  // model::Outcome{id.position, attempt} in the fact sink, kUnclear when it is not known whether
  // the effect took place. More submissions than the port can carry at once wait inside it, up to
  // kInFlightMax; beyond that they are refused with kThrottled.
  // `<command id>-<attempt>` travels as Audit-ID to Kubernetes and the launch token as client token
  // to the cloud.
  virtual void submit(const IssuedCommand& command) = 0;
};
inline constexpr std::size_t kInFlightMax = 10'000;

}  // namespace karst::ports
