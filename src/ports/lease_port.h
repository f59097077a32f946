// Leadership as the sender of commands sees it. Whether this replica leads is state (EpochOpened);
// this port only answers whether a send is still covered by the lease on the monotonic clock.
#pragma once

#include <cstdint>

namespace karst::ports {

class LeasePort {
 public:
  virtual ~LeasePort() = default;
  // Milliseconds of base::Clock::monotonic_millis() until which commands may be sent; past it
  // nothing leaves this process.
  virtual std::int64_t send_deadline_monotonic_millis() const = 0;
};

}  // namespace karst::ports
