// The interruption queue's other direction: a message is deleted only after its fact is durable.
#pragma once

#include <string>

namespace karst::ports {

class QueuePort {
 public:
  virtual ~QueuePort() = default;
  // Engine thread. Never blocks. Best effort: a message that comes again is dropped by admission
  // and acknowledged again.
  virtual void acknowledge(const std::string& receipt) = 0;
};

}  // namespace karst::ports
