// How fast is a log folded again, beside a plain scan of the same log? Floor 0.3 of the scan's
// rate, goal 0.5. Both in one process, in turns; the median of the ratios counts.
#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "bench/big_log.h"
#include "engine/replay.h"

namespace {

using namespace karst;
using bench::cpu_seconds;
using bench::scan_seconds;
using bench::seconds_since;
using bench::write_log;

double rebuild_seconds(const std::string& folder, std::uint64_t& count) {
  auto log = events::RocksLog::open_reader(folder, folder + "-scratch");
  if (!log) std::abort();
  projections::ClusterState state;
  const auto start = cpu_seconds();
  if (!engine::rebuild(**log, nullptr, model::Position(), state)) std::abort();
  count = state.last_position().value();
  return seconds_since(start);
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t changes = argc > 1 ? std::atoll(argv[1]) : 1'000'000;
  const std::string folder =
      (std::filesystem::temp_directory_path() / "karst-bench-rebuild").string();
  std::filesystem::remove_all(folder);
  write_log(folder, changes);
  std::vector<double> ratios;
  for (int turn = 0; turn < 5; ++turn) {
    std::uint64_t scanned = 0, bytes = 0, folded = 0;
    const double scan = scan_seconds(folder, scanned, bytes);
    const double fold = rebuild_seconds(folder, folded);
    if (scanned != folded) std::abort();
    ratios.push_back(scan / fold);
    std::printf("scan %.0f events/s (%.0f MB/s)   rebuild %.0f events/s   ratio %.2f\n",
                static_cast<double>(scanned) / scan, static_cast<double>(bytes) / scan / 1e6,
                static_cast<double>(folded) / fold, scan / fold);
  }
  std::sort(ratios.begin(), ratios.end());
  std::printf("rebuild beside a plain scan: ratio %.2f (floor 0.30, goal 0.50)\n",
              ratios[ratios.size() / 2]);
  std::filesystem::remove_all(folder);
  std::filesystem::remove_all(folder + "-scratch");
  return ratios[ratios.size() / 2] >= 0.3 ? 0 : 1;
}
