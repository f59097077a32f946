// The interruption queue of SQS: long polls by several receivers, each message read by
// providers/aws/messages.h and offered as facts, deleted only when acknowledge() says that they are
// durable. A message that comes again is old news to admission and acknowledged again; one that is
// nothing for us is an interruption of kind kOther, so that it is logged once and deleted.
// Of a message that tells several things only the last fact carries the receipt: facts become
// durable in their order.
//
// The sink may block while the engine's inbox is full, which holds the receivers back: give this
// source a transport (and so a client) of its own. start() and acknowledge() are for any thread;
// all else happens on the transport's. A queue that cannot be asked is asked again with growing
// gaps; what it does not delete comes again, and is acknowledged again. Destroy the transport
// first.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "cloud/aws/client.h"
#include "ports/fact.h"
#include "ports/queue_port.h"

namespace karst::cloud::aws {

inline constexpr int kReceiversMax = 16;
inline constexpr int kReceiveMessagesMax = 10;  // SQS gives no more at once
inline constexpr int kReceiveWaitSeconds = 20;
inline constexpr int kVisibilitySeconds = 30;  // not acknowledged by then, it comes again
inline constexpr std::size_t kDeleteBatchMax = 10;
inline constexpr std::int64_t kDeleteGatherMillis = 50;  // receipts are gathered for so long
inline constexpr std::size_t kReceiptsWaitingMax = 100'000;
inline constexpr std::int64_t kQueueGapMillis = 1'000;  // after a failure; doubles up to:
inline constexpr std::int64_t kQueueGapMillisMax = 60'000;

class SqsQueue final : public ports::QueuePort {
 public:
  // What people should know: the queue cannot be asked, or deletes nothing; or does again.
  using Notice = std::function<void(bool works, const std::string& line)>;

  // All outlive the queue. `name`: the queue's name, no URL. `receivers`: 1 to kReceiversMax.
  SqsQueue(Client& client, ports::FactSink& sink, const base::Clock& clock, std::string name,
           int receivers, Notice notice);

  // A replica takes messages only while it leads: what a standby deleted, its leader would never
  // hear of. Before start().
  void only_while(std::function<bool()> leads) { leads_ = std::move(leads); }

  void start();  // once
  void acknowledge(const std::string& receipt) override;
  std::uint64_t deleted() const override { return deleted_; }

 private:
  bool leads() const { return !leads_ || leads_(); }
  void find_url();
  void receive();
  void take(const Answer& answer);
  void offer_message(const std::string& id, const std::string& body, std::int64_t sent_millis,
                     const std::string& receipt);
  void try_later(const std::string& why, std::function<void()> again);
  void works();
  void flush();
  void take_deletions(const Answer& answer);

  Client& client_;
  ports::FactSink& sink_;
  const base::Clock& clock_;
  const std::string name_;
  const int receivers_;
  const Notice notice_;
  std::function<bool()> leads_;

  std::string url_;  // what follows: the transport's thread
  std::int64_t gap_millis_ = 0;
  bool stopped_ = false;  // the engine takes nothing more
  bool deletes_fail_ = false;
  std::atomic<std::uint64_t> deleted_{0};

  std::mutex mutex_;  // guards what follows
  std::vector<std::string> receipts_;
  bool flush_planned_ = false;
};

}  // namespace karst::cloud::aws
