// The simulated world, behind src/ports: API server, kube-scheduler, workload owners, kubelets,
// cloud, queue, people and faults, from one scenario and one seed. The same scenario, seed and
// submissions give the same facts at the same times.
//
// How to drive it: connect() when a process comes up (everything is listed anew), then advance() to
// next_event_at() or earlier, again and again; facts go into the sink during advance(), commands
// and acknowledgements come in between. disconnect() when the process dies: answers under way to it
// are lost, what it asked for still happens. One thread, no threads inside; a caller in another
// thread serialises. Times are unix milliseconds of the virtual clock.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/clock.h"
#include "ports/command_port.h"
#include "ports/fact.h"
#include "ports/queue_port.h"
#include "sim/api_server.h"
#include "sim/cloud.h"
#include "sim/controllers.h"
#include "sim/core.h"
#include "sim/hands.h"
#include "sim/kube_scheduler.h"
#include "sim/kubelets.h"
#include "sim/mishaps.h"
#include "sim/queue.h"
#include "sim/scenario.h"
#include "sim/watches.h"

namespace karst::sim {

class World {
 public:
  // `sink` must outlive the world.
  World(Scenario scenario, std::uint64_t seed, ports::FactSink& sink);
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  void connect();
  void disconnect();

  // Does everything that is due until then; the clock stands at `to_millis` afterwards.
  void advance(std::int64_t to_millis);
  // When the next thing happens; kNever when nothing is planned.
  std::int64_t next_event_at() const { return core_.queue.next_at(); }

  std::int64_t now() const { return core_.now(); }
  const base::Clock& clock() const { return core_.clock; }
  ports::CommandPort& kube() { return hands_; }
  ports::CommandPort& cloud() { return hands_; }
  ports::QueuePort& queue() { return queue_; }

  // Hears one line for each notable thing that really happens.
  void narrate(std::function<void(const std::string&)> narrator) {
    core_.narrator = std::move(narrator);
  }
  // Asked for the first log position that is not durable whenever a command or an acknowledgement
  // arrives.
  void watch_durability(std::function<std::uint64_t()> durable_end) {
    core_.durable_end = std::move(durable_end);
  }

  // The truth, for checkers and stories.
  const Scenario& scenario() const { return scenario_; }
  const ApiServer& api() const { return api_; }
  // Whether a disruption budget would let that pod go now.
  bool may_evict(const PodEntry& pod) const { return controllers_.may_evict(pod); }
  const Cloud& machines() const { return cloud_; }
  const Queue& messages() const { return queue_; }
  const History& history() const { return core_.history; }
  Faults& faults() { return core_.faults; }
  const Faults& faults() const { return core_.faults; }

 private:
  Scenario scenario_;
  Core core_;
  ApiServer api_;
  Watches watches_;
  Cloud cloud_;
  Queue queue_;
  KubeScheduler scheduler_;
  Controllers controllers_;
  Kubelets kubelets_;
  Hands hands_;
  Mishaps mishaps_;
};

// The same world on a real clock: `speed` virtual milliseconds pass per real one. The caller calls
// pump() when it said.
class PacedWorld {
 public:
  // `real` must outlive it. The virtual time begins at the real wall clock's.
  PacedWorld(Scenario scenario, std::uint64_t seed, ports::FactSink& sink, const base::Clock& real,
             std::int64_t speed);

  World& world() { return world_; }
  // Virtual time that the real clock stands for now: what embedded karst uses as its clock.
  const base::Clock& clock() const { return clock_; }
  // Does what is due; returns the real milliseconds until the next thing, at most `most_millis`.
  std::int64_t pump(std::int64_t most_millis);

 private:
  class Paced : public base::Clock {
   public:
    Paced(const base::Clock& real, std::int64_t speed)
        : real_(real),
          speed_(speed),
          real_start_(real.monotonic_millis()),
          start_(real.wall().value()) {}
    std::int64_t monotonic_millis() const override {
      return start_ + (real_.monotonic_millis() - real_start_) * speed_;
    }
    base::WallTime wall() const override { return base::WallTime(monotonic_millis()); }

   private:
    const base::Clock& real_;
    std::int64_t speed_;
    std::int64_t real_start_;
    std::int64_t start_;
  };
  static Scenario starting_at(Scenario scenario, std::int64_t unix_millis) {
    scenario.start_unix_millis = unix_millis;
    return scenario;
  }

  std::int64_t speed_;
  Paced clock_;
  World world_;
};

}  // namespace karst::sim
