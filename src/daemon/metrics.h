// The text of /metrics: Prometheus exposition format 0.0.4. Our names begin with karst_; the
// karpenter_ ones mean what they mean there, so that dashboards carry over. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/view.h"

namespace karst::daemon {

enum class MetricType { kCounter, kGauge };

class MetricsText {
 public:
  using Labels = std::vector<std::pair<std::string_view, std::string_view>>;

  // Samples that follow belong to this family.
  void family(std::string_view name, MetricType type, std::string_view help);
  void sample(std::int64_t value, const Labels& labels = {});
  // `value` divided by 10^decimals, written exactly: sample_scaled(1500, 3) is 1.500.
  void sample_scaled(std::int64_t value, int decimals, const Labels& labels = {});
  std::string take() { return std::move(text_); }

 private:
  void begin(const Labels& labels);
  std::string name_;
  std::string text_;
};

std::string metrics_text(const View& view);

}  // namespace karst::daemon
