// What happened as Events of the Kubernetes objects that it happened to, with the reasons, types
// and messages of Karpenter 1.14, so that what people search and alert for stays. Notices
// (docs/decisions/0004): best effort, repeated ones left out for a while, and never more than the
// buckets hold. Engine thread; publishing never blocks.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "daemon/happening.h"
#include "daemon/notices.h"
#include "kube/event_publisher.h"

namespace karst::daemon {

// So many tokens, and so many more each second.
class TokenBucket {
 public:
  TokenBucket(std::int64_t burst, std::int64_t per_second)
      : millitokens_(burst * 1000), burst_(burst * 1000), per_second_(per_second) {}
  bool take(base::LogTime now);

 private:
  std::int64_t millitokens_;
  std::int64_t burst_;
  std::int64_t per_second_;
  base::LogTime last_;
};

inline constexpr std::int64_t kEventsBurst = 200;
inline constexpr std::int64_t kEventsPerSecond = 20;
inline constexpr std::int64_t kNominatedBurst = 10;  // Karpenter's own limit
inline constexpr std::int64_t kNominatedPerSecond = 5;
inline constexpr std::size_t kEventsRemembered =
    20'000;  // to know a repetition; beyond, none is told

class KubeEvents {
 public:
  // The events of these happenings that are to be told now, in their order.
  std::vector<kube::ObjectEvent> of(const std::vector<Happening>& happenings);

 private:
  struct Draft;  // an event and what makes it a repetition
  void add(const Happening& happening, std::vector<Draft>& drafts) const;
  void add_of_interruption(const Happening& happening, std::vector<Draft>& drafts) const;
  void add_of_verdict(const Happening& happening, std::vector<Draft>& drafts) const;
  void add_of_pods(const Happening& happening, std::vector<Draft>& drafts) const;
  bool is_news(const Draft& draft, base::LogTime now);

  std::map<std::string, base::LogTime> told_until_;
  TokenBucket all_{kEventsBurst, kEventsPerSecond};
  TokenBucket nominated_{kNominatedBurst, kNominatedPerSecond};
};

// The log lines, and the events beside them.
class ClusterNotices final : public Notices {
 public:
  ClusterNotices(Notices& lines, kube::EventPublisher& publisher)
      : lines_(lines), publisher_(publisher) {}
  void round(const std::vector<Happening>& happenings, const Watcher& watcher,
             std::int64_t round_millis) override {
    lines_.round(happenings, watcher, round_millis);
    for (kube::ObjectEvent& event : events_.of(happenings)) publisher_.publish(std::move(event));
  }
  void alarm(base::WallTime time, std::string_view message) override {
    lines_.alarm(time, message);
  }
  void relief(base::WallTime time, std::string_view message) override {
    lines_.relief(time, message);
  }

 private:
  Notices& lines_;
  kube::EventPublisher& publisher_;
  KubeEvents events_;
};

}  // namespace karst::daemon
