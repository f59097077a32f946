// Credentials kept fresh for every client of one transport. They are renewed kRefreshAheadMillis
// and a jitter before they end (so that replicas do not ask STS all at once), one renewal at a
// time. While it fails the old ones stay in use for as long as they are valid, and it is tried
// again with growing gaps. The transport's thread alone, the constructor aside; destroy the
// transport first.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "cloud/aws/credential_fetch.h"
#include "cloud/aws/server_time.h"
#include "cloud/aws/sigv4.h"
#include "http/transport.h"

namespace karst::cloud::aws {

inline constexpr std::int64_t kRefreshAheadMillis = 5 * 60'000;  // at most half of their life
inline constexpr std::int64_t kLastUseMillis = 10'000;    // not used so shortly before their end
inline constexpr std::int64_t kRefreshGapMillis = 5'000;  // after a failure; doubles up to:
inline constexpr std::int64_t kRefreshGapMillisMax = 60'000;
inline constexpr std::size_t kCredentialWaitersMax = 20'000;

class CredentialKeeper {
 public:
  using Current = std::shared_ptr<const Credentials>;
  using Then = std::function<void(base::Result<Current>)>;
  using Fetch = std::function<void(Fetched)>;
  // What people should know: renewing has failed, or works again. Holds nothing secret.
  using Notice = std::function<void(bool works, const std::string& line)>;

  // All outlive the keeper. `jitter_millis`: 0 to 60,000, differing between replicas. Asks for
  // nothing before the first get().
  CredentialKeeper(http::Transport& transport, const base::Clock& clock, const ServerTime& time,
                   Fetch fetch, std::int64_t jitter_millis, Notice notice);

  // `then` is called at once when there are valid ones, after the renewal under way otherwise.
  // Errors: those of fetch_credentials.
  void get(Then then);
  // A service did not believe in `used`: renewed now, unless that was just done.
  void refused(const Current& used);

 private:
  bool usable() const;
  void renew();
  void take(base::Result<Credentials> fetched);
  void schedule(std::int64_t millis);
  void answer_waiters();

  http::Transport& transport_;
  const base::Clock& clock_;
  const ServerTime& time_;
  const Fetch fetch_;
  const std::int64_t jitter_millis_;
  const Notice notice_;

  Current current_;
  bool suspect_ = false;  // refused by a service
  bool fetching_ = false;
  std::vector<Then> waiting_;
  std::optional<base::Error> failure_;  // of the last attempt
  std::int64_t gap_millis_ = 0;         // after the last attempt
  std::int64_t tried_monotonic_millis_ = 0;
  std::uint64_t timer_ = 0;  // the one that counts
};

}  // namespace karst::cloud::aws
