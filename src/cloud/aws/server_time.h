// The time that requests are signed with: this machine's wall clock, put right by the Date of the
// services' answers when it is more than kSkewMillisMax off (they refuse signatures from five
// minutes on). So a wrong clock costs one refused request and is told; it does not stop the
// autoscaler. The transport's thread.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "cloud/aws/protocols.h"
#include "http/date.h"

namespace karst::cloud::aws {

class ServerTime {
 public:
  explicit ServerTime(const base::Clock& clock) : clock_(clock) {}

  // Unix milliseconds as the services have them, as far as we know.
  std::int64_t now_millis() const { return clock_.wall().value() + offset_millis_; }

  // Takes note of a service's answer; how far its Date is ahead of our clock (negative: behind), 0
  // when it has none.
  std::int64_t observe(const http::Response& response) {
    const auto date = http::parse_http_date(response.header("date"));
    if (!date) return 0;
    const std::int64_t skew = *date - clock_.wall().value();
    offset_millis_ = skew > kSkewMillisMax || skew < -kSkewMillisMax ? skew : 0;
    return skew;
  }
  // How far our clock is put right; 0: it is believed.
  std::int64_t offset_millis() const { return offset_millis_; }

 private:
  const base::Clock& clock_;
  std::int64_t offset_millis_ = 0;
};

}  // namespace karst::cloud::aws
