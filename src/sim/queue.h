// The simulated interruption queue: at least once, in no order. A message that was received and not
// acknowledged comes again after the visibility timeout. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "model/cloud.h"
#include "ports/queue_port.h"
#include "sim/core.h"

namespace karst::sim {

class Queue : public ports::QueuePort {
 public:
  explicit Queue(Core& core) : core_(core) {}

  void send(model::Interruption interruption);
  // A message as it lies in a queue, whatever it is: read as EC2's queue is.
  void send_text(const std::string& body);

  void connect();  // a process came up and receives
  void acknowledge(const std::string& receipt) override;
  std::uint64_t deleted() const override { return deleted_; }

  std::size_t waiting() const { return messages_.size(); }

 private:
  struct Message {
    events::InterruptionReceived body;
    std::uint64_t deliveries = 0;
  };
  model::MessageId next_id();
  void put(model::Interruption interruption);
  void receive(const std::string& id, std::uint64_t connection);

  Core& core_;
  std::map<std::string, Message> messages_;  // by message id
  std::uint64_t next_ = 0;
  std::uint64_t deleted_ = 0;
};

}  // namespace karst::sim
