#include "daemon/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "model/quantity.h"

namespace karst::daemon {

std::string names_list(const std::vector<std::string>& names, std::size_t shown) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), shown); ++i) {
    if (i > 0) text += ", ";
    text += names[i];
  }
  if (names.size() > shown) text += fmt::format(" and {} other(s)", names.size() - shown);
  return text;
}

std::string dollars(std::int64_t nanos) {
  const std::int64_t ten_thousandths = (std::llabs(nanos) + 50'000) / 100'000;
  return fmt::format("{}${}.{:04}", nanos < 0 ? "-" : "", ten_thousandths / 10'000,
                     ten_thousandths % 10'000);
}

std::string cents(std::int64_t nanos) {
  const std::int64_t hundredths = (nanos + 5'000'000) / 10'000'000;
  return fmt::format("${}.{:02}", hundredths / 100, hundredths % 100);
}

std::string duration_text(std::int64_t millis) {
  if (millis < 0) return "-" + duration_text(-millis);
  if (millis < 1000) return fmt::format("{}ms", millis);
  const std::int64_t seconds = millis / 1000;
  if (seconds < 60) return fmt::format("{}s", seconds);
  const std::string tail = seconds % 60 == 0 ? "" : fmt::format("{}s", seconds % 60);
  if (seconds < 3600) return fmt::format("{}m{}", seconds / 60, tail);
  return seconds % 3600 < 60 ? fmt::format("{}h", seconds / 3600)
                             : fmt::format("{}h{}m", seconds / 3600, seconds % 3600 / 60);
}

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string size_text(const model::Resources& resources) {
  const std::int64_t mebibytes = resources.memory_bytes >> 20;
  const std::string memory =
      mebibytes < 1024 ? fmt::format("{} MiB", mebibytes)
                       : fmt::format("{}.{} GiB", mebibytes / 1024, mebibytes % 1024 * 10 / 1024);
  const std::int64_t tenths = resources.cpu_millis / 100;
  const std::string cpu = tenths % 10 == 0 ? fmt::format("{}", tenths / 10)
                                           : fmt::format("{}.{}", tenths / 10, tenths % 10);
  return cpu + " cpu, " + memory;
}

std::vector<std::pair<std::string, std::string>> quantities(const model::Resources& resources) {
  std::vector<std::pair<std::string, std::string>> all;
  if (resources.cpu_millis != 0)
    all.emplace_back("cpu", model::format_millis(resources.cpu_millis));
  if (resources.memory_bytes != 0)
    all.emplace_back("memory", model::format_bytes(resources.memory_bytes));
  if (resources.ephemeral_bytes != 0)
    all.emplace_back("ephemeral-storage", model::format_bytes(resources.ephemeral_bytes));
  if (resources.pods != 0) all.emplace_back("pods", fmt::format("{}", resources.pods));
  for (const auto& [name, amount] : resources.extended)
    all.emplace_back(name, fmt::format("{}", amount));
  std::sort(all.begin(), all.end());
  return all;
}

std::string_view disruption_reason(std::string_view reason) {
  if (reason == "empty") return "Empty";
  if (reason == "drifted") return "Drifted";
  return reason == "underutilized" ? "Underutilized" : "";
}

std::string_view eviction_reason(std::string_view reason) {
  const std::string_view voluntary = disruption_reason(reason);
  return voluntary.empty() ? "Forceful Termination" : voluntary;
}

std::string_view phase_name(model::PodPhase phase) {
  switch (phase) {
    case model::PodPhase::kPending:
      return "Pending";
    case model::PodPhase::kRunning:
      return "Running";
    case model::PodPhase::kSucceeded:
      return "Succeeded";
    case model::PodPhase::kFailed:
      return "Failed";
    case model::PodPhase::kUnknown:
      return "Unknown";
  }
  return "?";
}

}  // namespace karst::daemon
