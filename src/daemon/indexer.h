// The indexer's thread: writes the index of the log (src/index) behind it, up to what is on stable
// storage, in bounded batches with a look for stop() between two, at a lower priority than the
// rest, so that no round waits for it. It reads by cursors of its own and holds none while it
// waits. A missing or damaged index is built again; a full disk or an index that fails is told once
// and tried again every kIndexRetryMillis. With a key it signs the head of the tree whenever it has
// everything, as often as head_file.h says, and at its end. The log is never touched. Made and
// destroyed on one thread, while the log lives; lag() is for any.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "daemon/head_file.h"
#include "events/rocks_log.h"
#include "index/index.h"

namespace karst::daemon {

inline constexpr std::int64_t kIndexPollMillis = 200;  // between two looks at the log's end
inline constexpr std::int64_t kIndexRetryMillis = 10'000;
inline constexpr std::uint64_t kIndexAtStopMax =
    100'000;  // events, at the stop: well under a second

struct IndexLag {
  model::Position through;   // the last position indexed
  std::uint64_t events = 0;  // on stable storage and not indexed
  // Since a look found something to index, and none since then found nothing; 0: the latest look,
  // at most kIndexPollMillis ago, found nothing.
  std::int64_t since_millis = 0;
};

class Indexer {
 public:
  // Tells a person (good: or an alarm); called on the indexer's thread.
  using Tell = std::function<void(bool good, const std::string& line)>;

  Indexer(const events::RocksLog& log, const std::string& data, Tell tell,
          std::optional<proof::SignerKey> key = {});
  ~Indexer();  // waits for the batch at hand
  Indexer(const Indexer&) = delete;
  Indexer& operator=(const Indexer&) = delete;

  IndexLag lag() const;

 private:
  void run();
  base::Status work();
  bool wait(std::int64_t millis);  // false: stop
  void note(model::Position through);
  void catch_up();
  void sign(bool now);

  const events::RocksLog& log_;
  const std::string folder_;
  const Tell tell_;
  std::unique_ptr<index::Index> index_;  // of the thread, as is failed_
  bool failed_ = false;
  std::optional<HeadFile> head_;
  bool head_failed_ = false;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  model::Position through_;
  std::int64_t behind_since_millis_ = 0;  // monotonic; 0: not behind
  std::thread thread_;
};

}  // namespace karst::daemon
