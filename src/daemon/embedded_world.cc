#include "daemon/embedded_world.h"

#include <chrono>
#include <utility>

namespace karst::daemon {
namespace {

constexpr std::int64_t kPumpWaitMaxMillis = 1000;

}  // namespace

EmbeddedWorld::EmbeddedWorld(sim::Scenario scenario, std::uint64_t seed, ports::FactSink& sink,
                             const base::Clock& real, std::int64_t speed,
                             std::function<void(const std::string&)> on_acknowledged)
    : paced_(std::move(scenario), seed, sink, real, speed),
      on_acknowledged_(std::move(on_acknowledged)) {}

EmbeddedWorld::~EmbeddedWorld() {
  stop();
}

void EmbeddedWorld::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void EmbeddedWorld::start() {
  thread_ = std::thread([this] { run(); });
}

void EmbeddedWorld::leave(Work work) {
  std::lock_guard lock(mutex_);
  left_.push_back(std::move(work));
  changed_.notify_all();
}

void EmbeddedWorld::submit(const ports::IssuedCommand& command) {
  leave(command);
}

void EmbeddedWorld::acknowledge(const std::string& receipt) {
  if (on_acknowledged_) on_acknowledged_(receipt);
  leave(receipt);
}

void EmbeddedWorld::carry_out(const std::vector<Work>& works) {
  for (const Work& work : works) {
    if (const auto* command = std::get_if<ports::IssuedCommand>(&work)) {
      const bool cloud = model::goes_to_cloud(model::kind_of(command->spec));
      (cloud ? paced_.world().cloud() : paced_.world().kube()).submit(*command);
    } else {
      paced_.world().queue().acknowledge(std::get<std::string>(work));
      deleted_ = paced_.world().queue().deleted();
    }
  }
}

void EmbeddedWorld::run() noexcept {
  paced_.world().connect();
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const std::vector<Work> works = std::exchange(left_, {});
    lock.unlock();
    paced_.pump(0);  // what came before the commands
    carry_out(works);
    const std::int64_t wait = paced_.pump(kPumpWaitMaxMillis);
    lock.lock();
    changed_.wait_for(lock, std::chrono::milliseconds(wait),
                      [&] { return stopping_ || !left_.empty(); });
  }
}

}  // namespace karst::daemon
