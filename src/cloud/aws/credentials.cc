#include "cloud/aws/credentials.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace karst::cloud::aws {

CredentialKeeper::CredentialKeeper(http::Transport& transport, const base::Clock& clock,
                                   const ServerTime& time, Fetch fetch, std::int64_t jitter_millis,
                                   Notice notice)
    : transport_(transport),
      clock_(clock),
      time_(time),
      fetch_(std::move(fetch)),
      jitter_millis_(jitter_millis),
      notice_(std::move(notice)) {
  KARST_CHECK(jitter_millis >= 0 && jitter_millis <= 60'000, "a jitter of at most a minute");
}

bool CredentialKeeper::usable() const {
  if (!current_) return false;
  const auto ends = current_->expires_wall_millis;
  return !ends || *ends - time_.now_millis() > kLastUseMillis;
}

void CredentialKeeper::get(Then then) {
  if (usable() && !(suspect_ && fetching_)) return then(current_);
  const bool too_soon =
      failure_ && clock_.monotonic_millis() - tried_monotonic_millis_ < gap_millis_;
  if (!fetching_ && too_soon) return then(base::fail(*failure_));
  if (waiting_.size() >= kCredentialWaitersMax)
    return then(base::fail(base::Kind::kRetry, "too many calls wait for credentials"));
  waiting_.push_back(std::move(then));
  if (!fetching_) renew();
}

void CredentialKeeper::refused(const Current& used) {
  if (used != current_ || fetching_) return;
  if (clock_.monotonic_millis() - tried_monotonic_millis_ < kRefreshGapMillis) return;
  suspect_ = true;
  renew();
}

void CredentialKeeper::renew() {
  fetching_ = true;
  ++timer_;
  tried_monotonic_millis_ = clock_.monotonic_millis();
  fetch_([this](base::Result<Credentials> fetched) { take(std::move(fetched)); });
}

void CredentialKeeper::take(base::Result<Credentials> fetched) {
  fetching_ = false;
  suspect_ = false;
  const std::int64_t now = time_.now_millis();
  if (fetched && fetched->expires_wall_millis &&
      *fetched->expires_wall_millis - now <= kLastUseMillis)
    fetched =
        base::fail(base::Kind::kRetry, fetched->source +
                                           " gives credentials that are over already, or this "
                                           "machine's clock is wrong; let NTP set it");
  if (!fetched) {
    gap_millis_ = std::clamp(gap_millis_ * 2, kRefreshGapMillis, kRefreshGapMillisMax);
    const bool news = !failure_ || failure_->message != fetched.error().message;
    failure_ = fetched.error();
    if (news && notice_)
      notice_(false, "AWS credentials cannot be had" +
                         std::string(usable() ? ", the old ones stay in use: " : ": ") +
                         failure_->message);
    if (usable()) schedule(gap_millis_);
    return answer_waiters();
  }
  if (failure_ && notice_) notice_(true, "AWS credentials are renewed again: " + fetched->source);
  failure_.reset();
  gap_millis_ = 0;
  current_ = std::make_shared<const Credentials>(std::move(*fetched));
  if (const auto ends = current_->expires_wall_millis) {
    const std::int64_t left = *ends - now;
    schedule(left - std::min(kRefreshAheadMillis + jitter_millis_, left / 2));
  }
  answer_waiters();
}

void CredentialKeeper::schedule(std::int64_t millis) {
  transport_.after(millis, [this, timer = ++timer_] {
    if (timer == timer_ && !fetching_) renew();
  });
}

void CredentialKeeper::answer_waiters() {
  for (const Then& then : std::exchange(waiting_, {})) {
    if (usable())
      then(current_);
    else
      then(base::fail(*failure_));
  }
}

}  // namespace karst::cloud::aws
