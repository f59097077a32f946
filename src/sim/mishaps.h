// What goes wrong outside: spot interruptions, machines that vanish, people with kubectl, stray
// messages, wall clocks that jump. Planned steps come from the scenario, the rest from the storm's
// chances. One thread.
#pragma once

#include <optional>
#include <string>

#include "sim/api_server.h"
#include "sim/cloud.h"
#include "sim/core.h"
#include "sim/queue.h"
#include "sim/scenario.h"

namespace karst::sim {

class Mishaps {
 public:
  Mishaps(Core& core, ApiServer& api, Cloud& cloud, Queue& queue, const Scenario& scenario)
      : core_(core), api_(api), cloud_(cloud), queue_(queue), scenario_(scenario) {}

  void start();
  // A process came up: it is told of a wall clock that is off.
  void connect();

 private:
  std::optional<model::ProviderId> pick(const std::string& capacity_type);
  void interrupt(const std::string& capacity_type);
  void tick();
  void strip_finalizer();
  void delete_something(Fault fault);
  void jump(std::int64_t offset_millis);

  Core& core_;
  ApiServer& api_;
  Cloud& cloud_;
  Queue& queue_;
  const Scenario& scenario_;
};

}  // namespace karst::sim
