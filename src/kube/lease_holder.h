// Holds the lease over HTTP: carries out LeaseProtocol, tells the engine what changes (EpochOpened,
// LeadershipLost as facts), and says until when commands may be sent. Its client has a transport of
// its own, so that nothing holds a renewal up. Losing the lease ends nothing: this replica follows
// on as a standby, and what it had not sent stays unsent (docs/decisions/0011-losing-the-lease.md).
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>

#include "base/clock.h"
#include "kube/client.h"
#include "kube/lease_protocol.h"
#include "ports/fact.h"
#include "ports/lease_port.h"

namespace karst::kube {

inline constexpr std::int64_t kReleaseMillis = 2'000;  // for giving the lease back at the end

class LeaseHolder final : public ports::LeasePort {
 public:
  struct Told {
    std::function<void()> won;  // after EpochOpened went to the engine: list everything anew
    std::function<void(bool good, const std::string& line)> notice;  // for people
  };

  // All outlive the client's transport, and the holder does: destroy that first. What `told`
  // reaches for may go after stand_down().
  LeaseHolder(Client& client, LeaseName name, ports::FactSink& sink, const base::Clock& clock,
              Told told);

  // Any thread, once. Terms are numbered from above `epoch_floor`.
  void start(std::uint64_t epoch_floor);
  // Asks for nothing more, and tells of no term that is won from now on; the term that is held
  // lasts until its deadline. Blocks for as long as an answer is awaited, kReleaseMillis at most.
  void stand_down();
  // Gives the lease back, so that another replica need not wait for its end. Call after
  // stand_down(), when no command can leave any more; blocks for up to kReleaseMillis.
  void release();

  bool contested() const override { return true; }
  std::int64_t send_deadline_monotonic_millis(std::uint64_t epoch) const override;
  // For Client::guard_writes: whether the term of this moment lasts.
  std::function<bool()> guard() const;

 private:
  void carry_out(const LeaseProtocol::Step& step);
  void send(const LeaseProtocol::Request& request, http::Transport::Done done);
  void note();
  LeaseProtocol::Now moment() const;

  Client& client_;
  const LeaseName name_;
  ports::FactSink& sink_;
  const base::Clock& clock_;
  const Told told_;
  // The transport's thread:
  std::unique_ptr<LeaseProtocol> protocol_;
  std::uint64_t noted_epoch_ = 0;
  std::string noted_holder_;
  std::string noted_trouble_;
  bool asking_ = false;                                // a request is under way
  std::shared_ptr<std::promise<void>> standing_down_;  // kept once no request is under way
  bool released_ = false;

  mutable std::mutex mutex_;  // guards what follows
  std::uint64_t epoch_ = 0;
  std::int64_t deadline_millis_ = 0;
};

}  // namespace karst::kube
