#include "daemon/metrics_text.h"

#include <fmt/format.h>

#include <cstdlib>

namespace karst::daemon {
namespace {

std::string escaped(std::string_view value) {
  std::string out;
  for (const char c : value) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out;
}

std::string_view type_name(MetricType type) {
  switch (type) {
    case MetricType::kCounter:
      return "counter";
    case MetricType::kGauge:
      return "gauge";
    case MetricType::kHistogram:
      return "histogram";
    case MetricType::kSummary:
      break;
  }
  return "summary";
}

// Milliseconds as the seconds of an `le`: 0.005, 1, 1.25.
std::string seconds_text(std::int64_t millis) {
  std::string text = fmt::format("{}.{:03}", millis / 1000, millis % 1000);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace

void MetricsText::family(std::string_view name, MetricType type, std::string_view help) {
  name_ = name;
  text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type_name(type));
}

void MetricsText::begin(std::string_view suffix, const Labels& labels) {
  text_ += name_;
  text_ += suffix;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    text_ +=
        fmt::format("{}{}=\"{}\"", i == 0 ? "{" : ",", labels[i].first, escaped(labels[i].second));
  }
  if (!labels.empty()) text_ += '}';
}

void MetricsText::write(std::string_view suffix, const Labels& labels, std::int64_t value,
                        int decimals) {
  begin(suffix, labels);
  if (decimals == 0) {
    text_ += fmt::format(" {}\n", value);
    return;
  }
  std::int64_t scale = 1;
  for (int i = 0; i < decimals; ++i) scale *= 10;
  text_ += fmt::format(" {}{}.{:0{}}\n", value < 0 ? "-" : "", std::llabs(value) / scale,
                       std::llabs(value) % scale, decimals);
}

void MetricsText::sample(std::int64_t value, const Labels& labels) {
  write("", labels, value, 0);
}

void MetricsText::sample_scaled(std::int64_t value, int decimals, const Labels& labels) {
  write("", labels, value, decimals);
}

void MetricsText::histogram(const Histogram& histogram, const Labels& labels) {
  std::uint64_t below = 0;
  const auto bucket = [&](std::size_t i, const std::string& bound) {
    below += histogram.counts()[i];
    Labels all = labels;
    all.emplace_back("le", bound);
    write("_bucket", all, static_cast<std::int64_t>(below), 0);
  };
  const std::size_t bounds = histogram.bounds().size();
  for (std::size_t i = 0; i < bounds; ++i) bucket(i, seconds_text(histogram.bounds()[i]));
  bucket(bounds, "+Inf");
  write("_sum", labels, histogram.sum(), 3);
  write("_count", labels, static_cast<std::int64_t>(histogram.count()), 0);
}

void MetricsText::summary(const Summary& summary, const Labels& labels) {
  constexpr std::pair<std::size_t, std::string_view> kQuantiles[] = {
      {0, "0"}, {50, "0.5"}, {90, "0.9"}, {99, "0.99"}, {100, "1"}};
  for (const auto& [percent, text] : kQuantiles) {
    Labels all = labels;
    all.emplace_back("quantile", text);
    if (summary.count() > 0) write("", all, summary.quantile(percent), 3);
  }
  write("_sum", labels, summary.sum(), 3);
  write("_count", labels, static_cast<std::int64_t>(summary.count()), 0);
}

}  // namespace karst::daemon
