// Leadership as the sender of commands sees it. Whether this replica leads is state (EpochOpened,
// LeadershipLost); this port only answers whether a send is still covered by the lease, on the
// monotonic clock. Any thread.
#pragma once

#include <cstdint>

namespace karst::ports {

class LeasePort {
 public:
  virtual ~LeasePort() = default;
  // Whether a lease must be won before anything is decided. False: the only replica, which leads
  // from the start.
  virtual bool contested() const = 0;
  // Milliseconds of base::Clock::monotonic_millis() until which commands of that epoch may be sent;
  // past it nothing leaves this process. INT64_MIN for an epoch that is not the open one.
  virtual std::int64_t send_deadline_monotonic_millis(std::uint64_t epoch) const = 0;
};

}  // namespace karst::ports
