#include "cloud/aws/budget.h"

#include <algorithm>

#include "base/check.h"

namespace karst::cloud::aws {
namespace {

constexpr std::int64_t kCall = 1000;
constexpr std::int64_t kRateMin = 500;  // one call in two seconds

std::int64_t kept_back(Purpose purpose, std::int64_t full) {
  switch (purpose) {
    case Purpose::kRemove:
      return 0;
    case Purpose::kRead:
      return full / 10;
    case Purpose::kMake:
      return full * 4 / 10;
  }
  return 0;
}

}  // namespace

Budget::Budget(Limits limits, std::int64_t now_millis)
    : full_(limits.burst * kCall),
      rate_max_(limits.per_second * kCall),
      rate_(rate_max_),
      tokens_(full_),
      filled_millis_(now_millis) {
  KARST_CHECK(limits.burst >= 2 && limits.per_second >= 1, "a budget that lets calls through");
}

std::int64_t Budget::take(Purpose purpose, std::int64_t now_millis) {
  const std::int64_t passed = std::clamp<std::int64_t>(now_millis - filled_millis_, 0, 1'000'000);
  const std::int64_t gained = rate_ * passed / 1000;
  // A share of a thousandth is not lost: the time is kept until it makes one.
  if (gained > 0) {
    tokens_ = std::min(full_, tokens_ + gained);
    filled_millis_ = now_millis;
  }
  if (now_millis < paused_until_millis_) return paused_until_millis_ - now_millis;
  const std::int64_t missing = kept_back(purpose, full_) + kCall - tokens_;
  if (missing > 0) return std::max<std::int64_t>(1, (missing * 1000 + rate_ - 1) / rate_);
  tokens_ -= kCall;
  return 0;
}

void Budget::throttled(std::int64_t now_millis, std::optional<std::int64_t> retry_after_millis) {
  if (retry_after_millis)
    paused_until_millis_ =
        std::max(paused_until_millis_,
                 now_millis + std::clamp<std::int64_t>(*retry_after_millis, 0, kPauseMillisMax));
  // The answers to all that was under way tell the same once more.
  if (slowed_millis_ && now_millis - *slowed_millis_ < kSlowDownGapMillis) return;
  slowed_millis_ = now_millis;
  rate_ = std::max(kRateMin, rate_ / 2);
  tokens_ /= 2;
}

void Budget::answered() {
  rate_ = std::min(rate_max_, rate_ + std::max<std::int64_t>(1, rate_max_ / 50));
}

}  // namespace karst::cloud::aws
