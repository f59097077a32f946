// The simulated world of `run --embedded` on a thread of its own, in real time or faster. Commands
// and acknowledgements are left for that thread, so submit() never blocks; facts go into the sink
// from it. start() begins delivering; the destructor ends the thread. Close the sink first: a full
// one would hold the thread up.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "ports/command_port.h"
#include "ports/fact.h"
#include "ports/queue_port.h"
#include "sim/world.h"

namespace karst::daemon {

class EmbeddedWorld final : public ports::CommandPort, public ports::QueuePort {
 public:
  // `real` and `sink` must outlive it. `on_acknowledged` (may be empty) hears each receipt before
  // the message is deleted, on the engine's thread.
  EmbeddedWorld(sim::Scenario scenario, std::uint64_t seed, ports::FactSink& sink,
                const base::Clock& real, std::int64_t speed,
                std::function<void(const std::string&)> on_acknowledged);
  ~EmbeddedWorld() override;

  void start();
  // Ends the thread: nothing goes into the sink any more. The destructor does it too.
  void stop();
  const base::Clock& clock() const { return paced_.clock(); }

  void submit(const ports::IssuedCommand& command) override;
  void acknowledge(const std::string& receipt) override;
  std::uint64_t deleted() const override { return deleted_; }

 private:
  using Work = std::variant<ports::IssuedCommand, std::string>;
  void leave(Work work);
  void run() noexcept;
  void carry_out(const std::vector<Work>& works);

  sim::PacedWorld paced_;  // the thread's, once it runs
  std::function<void(const std::string&)> on_acknowledged_;
  std::atomic<std::uint64_t> deleted_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Work> left_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace karst::daemon
