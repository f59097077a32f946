#include "sim/queue.h"

#include <utility>

#include "providers/aws/messages.h"

namespace karst::sim {

namespace {
constexpr std::int64_t kVisibilityTimeoutMillis = 30'000;
}

void Queue::send(model::Interruption interruption) {
  interruption.message = next_id();
  interruption.sent_millis = core_.now();
  put(std::move(interruption));
}

void Queue::send_text(const std::string& body) {
  const model::MessageId own = next_id();
  for (model::Interruption& one : providers::aws::read_message({own.str(), body, core_.now()}))
    put(std::move(one));
}

model::MessageId Queue::next_id() {
  return model::MessageId("m-" + core_.run + std::to_string(++next_));
}

void Queue::put(model::Interruption interruption) {
  const std::string id = interruption.message.str();
  core_.history.messages[id] = MessageRecord{id, core_.now(), -1, 0};
  messages_[id] = Message{events::InterruptionReceived{std::move(interruption)}, 0};
  const bool late = core_.faults.strikes(Fault::kMessageLate);
  const std::int64_t delay =
      late ? core_.faults.rng().between(5'000, 180'000) : core_.delay(50, 500);
  core_.after(delay, [this, id, connection = core_.connection] { receive(id, connection); });
}

void Queue::connect() {
  for (const auto& [id, message] : messages_)
    core_.after(core_.delay(50, 2'000),
                [this, one = id, connection = core_.connection] { receive(one, connection); });
}

// Receives it now and, unless it is acknowledged, again and again. Each connection has a chain of
// its own.
void Queue::receive(const std::string& id, std::uint64_t connection) {
  const auto at = messages_.find(id);
  if (at == messages_.end() || connection != core_.connection) return;
  const std::string receipt = id + "/" + std::to_string(++at->second.deliveries);
  core_.emit(at->second.body, receipt);
  if (core_.faults.strikes(Fault::kMessageDuplicate))
    core_.emit(at->second.body, id + "/" + std::to_string(++at->second.deliveries));
  core_.after(kVisibilityTimeoutMillis, [this, id, connection] { receive(id, connection); });
}

void Queue::acknowledge(const std::string& receipt) {
  const std::string id = receipt.substr(0, receipt.rfind('/'));  // an id may have one, too
  if (messages_.erase(id) == 0) return;
  ++deleted_;
  MessageRecord& record = core_.history.messages[id];
  record.acknowledged_at = core_.now();
  record.durable_end = core_.durable_end();
}

}  // namespace karst::sim
