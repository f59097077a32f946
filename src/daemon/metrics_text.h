// Prometheus exposition format 0.0.4, written exactly: no floating point. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/spread.h"

namespace karst::daemon {

enum class MetricType { kCounter, kGauge, kHistogram, kSummary };

class MetricsText {
 public:
  using Labels = std::vector<std::pair<std::string_view, std::string_view>>;

  // Samples that follow belong to this family.
  void family(std::string_view name, MetricType type, std::string_view help);
  void sample(std::int64_t value, const Labels& labels = {});
  // `value` divided by 10^decimals, written exactly: sample_scaled(1500, 3) is 1.500.
  void sample_scaled(std::int64_t value, int decimals, const Labels& labels = {});
  void histogram(const Histogram& histogram, const Labels& labels = {});  // in seconds
  void summary(const Summary& summary, const Labels& labels = {});        // in seconds
  std::string take() { return std::move(text_); }

 private:
  void begin(std::string_view suffix, const Labels& labels);
  void write(std::string_view suffix, const Labels& labels, std::int64_t value, int decimals);
  std::string name_;
  std::string text_;
};

}  // namespace karst::daemon
