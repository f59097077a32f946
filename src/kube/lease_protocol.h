// Leader election over one coordination.k8s.io/v1 Lease, as client-go does it
// (k8s.io/client-go/tools/leaderelection), as a state machine: answers and a timer go in, the next
// request comes out. No I/O, no clock, no threads. Times of other machines are never compared with
// ours: a foreign lease counts from when we saw it change.
//   start → get → (free, ours, or not renewed for its duration: update | none: create | else: wait)
// A term is won with an accepted write and lasts renew_deadline_millis from when that write was
// sent, on the monotonic clock; each renewal moves it on. Others wait duration_millis from when
// they saw the write, so no two terms overlap while clocks run at rates that differ by less than
// the ratio of the two.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace karst::kube {

// Karpenter's name and client-go's periods.
inline constexpr const char* kLeaseName = "karpenter-leader-election";
inline constexpr std::int64_t kLeaseDurationMillis = 15'000;
inline constexpr std::int64_t kLeaseRenewDeadlineMillis = 10'000;
inline constexpr std::int64_t kLeaseRetryMillis = 2'000;
inline constexpr std::int64_t kLeaseRequestMillis = 5'000;         // for one answer
inline constexpr std::int64_t kForeignDurationSecondsMax = 3'600;  // more is not believed

struct LeaseName {
  std::string namespace_name;
  std::string name;
  std::string identity;  // who we are: HOSTNAME_uuid; two that run at once have two
};

class LeaseProtocol {
 public:
  struct Request {
    enum class Kind { kGet, kCreate, kUpdate };
    Kind kind = Kind::kGet;
    std::string body;
    std::int64_t timeout_millis = kLeaseRequestMillis;
  };
  // Either a request, whose answer comes to answered(), or a wait, after which comes timer().
  struct Step {
    std::optional<Request> request;
    std::int64_t wait_millis = 0;
  };
  struct Answer {
    int status = 0;  // 0: none came
    std::string_view body;
    std::string error;  // for people, when it is no success
  };
  // `monotonic`: milliseconds that never step back; `wall`: unix milliseconds, only to be written.
  struct Now {
    std::int64_t monotonic = 0;
    std::int64_t wall = 0;
  };

  // `epoch_floor`: terms are numbered from above it, and each above the one before, whatever the
  // lease says: it may have been deleted.
  LeaseProtocol(LeaseName name, std::uint64_t epoch_floor);

  Step start(Now now);
  Step answered(Now now, const Answer& answer);
  Step timer(Now now);
  // Gives the lease back, whoever holds it then: the body of an update, if it is ours.
  std::optional<Request> release(Now now);

  // The number of the term that we hold, 0 when we do not; and its end, monotonic.
  std::uint64_t epoch() const { return epoch_; }
  std::int64_t deadline() const { return deadline_; }
  // Who holds it, as last seen; empty: nobody.
  const std::string& holder() const { return seen_.holder; }
  // Why it cannot be had at the moment, for people; empty while all is well.
  const std::string& trouble() const { return trouble_; }

 private:
  struct Seen {
    std::string holder;
    std::string renewed;
    std::string version;
    std::uint64_t transitions = 0;
    std::int64_t duration_millis = 0;
    bool operator==(const Seen&) const = default;
  };

  Step get(Now now);
  Step next(Now now);
  Step write(Now now, Request::Kind kind);
  Step wait(Now now);
  Step got(Now now, const Answer& answer);
  Step written(Now now, const Answer& answer);
  bool take(Now now, std::string_view body);
  void end_late_term(Now now);
  std::string record(Now now, bool released) const;

  const LeaseName name_;
  std::uint64_t epoch_floor_;
  std::string object_;  // JSON as last read, so that what others keep in it stays
  Seen seen_;
  std::int64_t seen_at_ = 0;   // when seen_ last changed
  bool has_namesake_ = false;  // somebody else writes our identity
  bool known_ = false;         // object_ is what the server has, as far as we know
  Request::Kind asked_ = Request::Kind::kGet;
  std::int64_t sent_at_ = 0;
  std::uint64_t bid_ = 0;  // the epoch that the write under way would win, or renew
  std::uint64_t epoch_ = 0;
  std::int64_t deadline_ = 0;
  std::int64_t acquired_wall_ = 0;
  std::string trouble_;
};

}  // namespace karst::kube
