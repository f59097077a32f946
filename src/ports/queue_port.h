// The interruption queue's other direction: a message is deleted only after its fact is durable.
#pragma once

#include <cstdint>
#include <string>

namespace karst::ports {

class QueuePort {
 public:
  virtual ~QueuePort() = default;
  // Engine thread. Never blocks. Best effort: a message that comes again is dropped by admission
  // and acknowledged again.
  virtual void acknowledge(const std::string& receipt) = 0;
  // How many messages the queue has deleted by its own word. Any thread.
  virtual std::uint64_t deleted() const = 0;
};

}  // namespace karst::ports
