// The daemon's engine thread as it is in production, on a log on this disk, for measurements from
// outside: what it dispatches goes to the ports that the measurement gives it.
#pragma once

#include <filesystem>
#include <thread>

#include "daemon/daemon.h"
#include "daemon/system_clock.h"
#include "events/rocks_log.h"

namespace karst::bench {

class RunningDaemon {
 public:
  // The clock's wall time begins at `wall_start_millis`. All else outlives it.
  RunningDaemon(const char* folder, const char* provider, std::int64_t wall_start_millis)
      : folder_(std::filesystem::temp_directory_path() / folder),
        clock_(system_clock_, base::WallTime(wall_start_millis)) {
    std::filesystem::remove_all(folder_);
    events::RocksLogOptions options;
    options.path = folder_.string();
    options.ballast_bytes = 0;
    auto log = events::RocksLog::open(options);
    if (!log) std::abort();
    log_ = std::move(*log);
    parts_.log = log_.get();
    parts_.provider = providers::find_provider(provider);
    parts_.clock = &clock_;
    parts_.lease = &lease_;
    parts_.notices = &silent_;
    parts_.kill_points = &kill_points_;
    parts_.engine.config.provider = provider;
  }
  ~RunningDaemon() {
    end();
    daemon_.reset();
    log_.reset();
    std::filesystem::remove_all(folder_);
  }

  // Once. Facts go into inbox() from then on.
  void start(ports::CommandPort& objects, ports::CommandPort& instances, ports::QueuePort* queue) {
    parts_.objects = &objects;
    parts_.instances = &instances;
    parts_.queue = queue;
    daemon_.emplace(parts_);
    sink_.inbox = &daemon_->inbox();
    thread_ = std::thread([this] {
      const auto ended = daemon_->run();
      if (!ended) std::fprintf(stderr, "%s\n", ended.error().message.c_str()), std::abort();
    });
  }
  // Nothing is dispatched after this.
  void end() {
    if (daemon_) daemon_->stop();
    if (thread_.joinable()) thread_.join();
  }
  daemon::Inbox& inbox() { return daemon_->inbox(); }
  // The same for whoever is made before start(); nothing is offered until then.
  ports::FactSink& sink() { return sink_; }
  const base::Clock& clock() const { return clock_; }
  void offer(events::Body body) { inbox().offer({std::move(body), clock_.wall(), ""}); }

 private:
  struct Late final : ports::FactSink {
    bool offer(ports::Fact fact) override { return inbox->offer(std::move(fact)); }
    daemon::Inbox* inbox = nullptr;
  };
  struct Silent final : daemon::Notices {
    void round(const std::vector<daemon::Happening>&, const daemon::Watcher&,
               std::int64_t) override {}
    void alarm(base::WallTime, std::string_view message) override {
      std::fprintf(stderr, "%s\n", std::string(message).c_str());
    }
    void relief(base::WallTime, std::string_view) override {}
  };

  const std::filesystem::path folder_;
  const daemon::SystemClock system_clock_;
  const daemon::ShiftedClock clock_;
  std::unique_ptr<events::RocksLog> log_;
  daemon::AlwaysLeads lease_;
  Silent silent_;
  Late sink_;
  daemon::KillPoints kill_points_;
  daemon::DaemonParts parts_;
  std::optional<daemon::Daemon> daemon_;
  std::thread thread_;
};

}  // namespace karst::bench
