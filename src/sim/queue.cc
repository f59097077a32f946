#include "sim/queue.h"

#include <utility>

#include "base/sha256.h"

namespace karst::sim {

namespace {
constexpr std::int64_t kVisibilityTimeoutMillis = 30'000;
}

void Queue::send(model::Interruption interruption) {
  const std::string id = "m-" + core_.run + std::to_string(++next_);
  interruption.message = model::MessageId(id);
  interruption.sent_millis = core_.now();
  core_.history.messages[id] = MessageRecord{id, "", core_.now(), -1, 0};
  put(id, events::InterruptionReceived{std::move(interruption)});
}

void Queue::send_refused(const std::string& reason) {
  const std::string id = "m-" + core_.run + std::to_string(++next_);
  const auto digest = base::sha256("not an interruption " + id);
  const std::string hex = base::hex_lower(digest);
  core_.history.messages[id] = MessageRecord{id, hex, core_.now(), -1, 0};
  put(id, events::InputRefused{"queue", id, reason, hex});
}

void Queue::put(const std::string& id, events::Body body) {
  messages_[id] = Message{std::move(body), 0};
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
  const std::string id = receipt.substr(0, receipt.find('/'));
  if (messages_.erase(id) == 0) return;
  MessageRecord& record = core_.history.messages[id];
  record.acknowledged_at = core_.now();
  record.durable_end = core_.durable_end();
}

}  // namespace karst::sim
