#include "daemon/size_watch.h"

#include <fmt/format.h>

#include <algorithm>

namespace karst::daemon {
namespace {

constexpr std::int64_t kMillisPerDay = 24 * 60 * 60 * 1000;

// In units that people compare: "1.5 GiB".
std::string amount(std::uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  std::uint64_t tenths = bytes * 10;
  for (; tenths >= 10'240 && unit + 1 < std::size(kUnits); ++unit) tenths /= 1024;
  return fmt::format("{}.{} {}", tenths / 10, tenths % 10, kUnits[unit]);
}

}  // namespace

void SizeWatch::learn(std::int64_t now, std::uint64_t bytes) {
  if (samples_.empty() || now - samples_.back().millis >= kSizeSampleMillis) {
    samples_.push_back({now, bytes});
    if (samples_.size() > kSizeSamplesMax) samples_.pop_front();
  }
  const Sample& oldest = samples_.front();
  const std::int64_t watched = now - oldest.millis;
  if (watched < kSizeSampleMillis) return;
  const auto grown = static_cast<std::int64_t>(bytes) - static_cast<std::int64_t>(oldest.bytes);
  growth_ = grown / (watched / 1000) * (kMillisPerDay / 1000);
}

std::optional<SizeWord> SizeWatch::see(std::int64_t monotonic_millis,
                                       const events::LogSizes& sizes) {
  if (sizes.disk_bytes == 0) return std::nullopt;  // could not be read
  learn(monotonic_millis, sizes.log_bytes);
  const std::uint64_t free_percent =
      sizes.free_bytes / std::max<std::uint64_t>(sizes.disk_bytes / 100, 1);
  const bool grows = growth_ && *growth_ > 0;
  const std::int64_t days_left =
      grows ? static_cast<std::int64_t>(sizes.free_bytes) / *growth_ : kDaysLeftGood;
  const bool bad = free_percent < kFreePercentMin || days_left < kDaysLeftMin;
  const bool good = free_percent >= kFreePercentGood && days_left >= kDaysLeftGood;
  if (alarmed_ ? !good : !bad) return std::nullopt;
  alarmed_ = !alarmed_;
  std::string text =
      fmt::format("the log has {}, {} of {} on its disk are free", amount(sizes.log_bytes),
                  amount(sizes.free_bytes), amount(sizes.disk_bytes));
  if (grows)
    text += fmt::format(", it grows by {} a day: {} days are left",
                        amount(static_cast<std::uint64_t>(*growth_)), days_left);
  text += alarmed_ ? ". Give it a larger disk, or archive it and trim it "
                     "(docs/operations.md, 'When the log gets large')"
                   : ": enough again";
  return SizeWord{alarmed_, std::move(text)};
}

}  // namespace karst::daemon
