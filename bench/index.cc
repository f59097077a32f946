// How far behind the log is its index while a busy cluster writes, and does a round take longer
// beside the indexer? 1,000 nodes, 50,000 pods; kPerSecond rounds a second of kChanged changed pods
// each, for kSeconds, in turns without and with the daemon's indexer thread. The lag is asked after
// each round; a round's time includes its append and, when due, the sync. Usage: bench_index
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <thread>

#include "bench/cluster.h"
#include "daemon/indexer.h"
#include "engine/engine.h"
#include "events/rocks_log.h"
#include "providers/provider.h"

namespace {

using namespace karst;
using Clock = std::chrono::steady_clock;

constexpr int kTurns = 3;
constexpr int kSeconds = 10;
constexpr int kPerSecond = 20;
constexpr std::int64_t kChanged = 250;
constexpr bench::ClusterSize kSize{1'000, 50'000, 500};

struct Turn {
  std::vector<double> round_millis;
  std::int64_t lag_millis_max = 0;
  std::uint64_t lag_events_max = 0;
  std::uint64_t events = 0;
};

class Writer {
 public:
  explicit Writer(events::RocksLog& log)
      : engine_(log, &log.snapshots(), *providers::find_provider("kwok"), {}) {
    if (!engine_.recover(base::LogTime(now_), base::WallTime(now_))) std::abort();
    for (std::int64_t number = 0; number < kSize.shapes; ++number)
      shapes_.push_back(model::hash_of(bench::shape_number(number)));
    std::vector<ports::Fact> facts;
    bench::all_facts(kSize, [&](events::Body body) {
      facts.push_back({std::move(body), base::WallTime(now_), ""});
      if (facts.size() == engine::kFactsPerRoundMax) round(std::exchange(facts, {}));
    });
    round(std::move(facts));
  }
  double changes() {
    std::vector<ports::Fact> facts;
    for (std::int64_t i = 0; i < kChanged; ++i) {
      model::Pod pod = bench::pod_number(++changed_ * 7919 % kSize.pods, kSize, shapes_);
      pod.start_millis += changed_;
      facts.push_back({events::PodObserved{pod}, base::WallTime(now_), ""});
    }
    const auto start = Clock::now();
    round(std::move(facts));
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  }

 private:
  void round(std::vector<ports::Fact> facts) {
    now_ += 1'000 / kPerSecond;
    if (!engine_.step(base::LogTime(now_), base::WallTime(now_), std::move(facts))) std::abort();
  }

  std::int64_t now_ = 1'800'000'100'000;
  std::int64_t changed_ = 0;
  engine::Engine engine_;
  std::vector<model::ShapeHash> shapes_;
};

Turn play(const std::string& folder, bool indexed) {
  std::filesystem::remove_all(folder);
  auto log = events::RocksLog::open({folder, base::WallTime(0), 0});
  if (!log) std::abort();
  Writer writer(**log);
  std::optional<daemon::Indexer> indexer;
  if (indexed) {
    indexer.emplace(**log, folder, [](bool, const std::string&) {});
    if (!(*log)->sync()) std::abort();
    do {  // what the first lists were
      std::this_thread::sleep_for(std::chrono::milliseconds(daemon::kIndexPollMillis));
    } while (indexer->lag().events > 0);
  }
  Turn turn;
  const std::uint64_t before = (*log)->end().value();
  auto next = Clock::now();
  for (int i = 0; i < kSeconds * kPerSecond; ++i) {
    std::this_thread::sleep_until(next += std::chrono::milliseconds(1'000 / kPerSecond));
    turn.round_millis.push_back(writer.changes());
    if (!indexed) continue;
    const daemon::IndexLag lag = indexer->lag();
    turn.lag_millis_max = std::max(turn.lag_millis_max, lag.since_millis);
    turn.lag_events_max = std::max(turn.lag_events_max, lag.events);
  }
  turn.events = (*log)->end().value() - before;
  std::sort(turn.round_millis.begin(), turn.round_millis.end());
  return turn;
}

void print(const char* what, const Turn& turn) {
  const std::size_t rounds = turn.round_millis.size();
  std::printf("%-20s a round: median %.2f ms, p99 %.2f ms, worst %.2f ms; %.0f events/s", what,
              turn.round_millis[rounds / 2], turn.round_millis[rounds * 99 / 100],
              turn.round_millis.back(), static_cast<double>(turn.events) / kSeconds);
  if (turn.lag_events_max > 0)
    std::printf("; the index behind by at most %.3f s, %llu events",
                static_cast<double>(turn.lag_millis_max) / 1e3,
                static_cast<unsigned long long>(turn.lag_events_max));
  std::printf("\n");
}

}  // namespace

int main() {
  const std::string folder =
      (std::filesystem::temp_directory_path() / "karst-bench-index").string();
  std::vector<double> ratios;
  for (int i = 0; i < kTurns; ++i) {
    const Turn without = play(folder, false), with = play(folder, true);
    print("without the indexer", without);
    print("beside the indexer", with);
    ratios.push_back(with.round_millis[with.round_millis.size() / 2] /
                     without.round_millis[without.round_millis.size() / 2]);
  }
  std::sort(ratios.begin(), ratios.end());
  std::printf("a round beside the indexer: %.2f times one without (median of %d turns)\n",
              ratios[kTurns / 2], kTurns);
  std::filesystem::remove_all(folder);
}
