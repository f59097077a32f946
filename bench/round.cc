// How long does a round take with a large cluster in the state, and how much memory does it hold,
// RocksDB included? 10,000 nodes, 200,000 pods, 2,000 shapes, unique labels, 50-character names.
// Times are told; peak memory has a budget of 512 MiB, and exit 1 says that it was not kept.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "bench/cluster.h"
#include "engine/engine.h"
#include "events/rocks_log.h"
#include "providers/provider.h"

namespace {

using namespace karst;
using Clock = std::chrono::steady_clock;

double millis_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

void print(const char* what, std::vector<double>& millis) {
  std::sort(millis.begin(), millis.end());
  std::printf("%-44s median %8.3f ms   p99 %8.3f ms   max %8.3f ms   (%zu rounds)\n", what,
              millis[millis.size() / 2], millis[millis.size() * 99 / 100], millis.back(),
              millis.size());
}

ports::Fact fact(events::Body body) {
  return {std::move(body), base::WallTime(0), ""};
}

using Millis = std::vector<double>;

class Bench {
 public:
  Bench(events::EventLog& log, const bench::ClusterSize& size)
      : size_(size), engine_(log, nullptr, *providers::find_provider("kwok"), {}) {
    if (!engine_.recover(base::LogTime(now_), base::WallTime(0))) std::abort();
    for (std::int64_t number = 0; number < size.shapes; ++number)
      shapes_.push_back(model::hash_of(bench::shape_number(number)));
  }

  void first_lists() {
    std::vector<ports::Fact> facts;
    std::size_t count = 0;
    const auto start = Clock::now();
    bench::all_facts(size_, [&](events::Body body) {
      facts.push_back(fact(std::move(body)));
      ++count;
      if (facts.size() == engine::kFactsPerRoundMax) step(std::exchange(facts, {}));
    });
    step(std::move(facts));
    std::printf("%-44s %.0f ms, %zu facts\n", "the first lists", millis_since(start), count);
    for (int settle = 0; settle < 20; ++settle) step({});
    std::printf("%-44s %zu nodes, %zu pods, %zu open commands\n", "in the state",
                engine_.state().nodes().size(), engine_.state().pods().size(),
                engine_.state().commands().size());
  }

  void small_rounds() {
    Millis one, idle;
    for (std::int64_t i = 0; i < 200; ++i) {
      model::Pod pod = bench::pod_number(i * 7 % size_.pods, size_, shapes_);
      pod.ready = false;
      std::vector<ports::Fact> facts;
      facts.push_back(fact(events::PodObserved{pod}));
      one.push_back(timed(std::move(facts)));
      idle.push_back(timed({}));
    }
    Millis many;
    for (std::int64_t i = 0; i < 50; ++i) {
      std::vector<ports::Fact> facts;
      for (std::int64_t k = 0; k < 100; ++k) {
        model::Pod pod = bench::pod_number((i * 1000 + k * 3) % size_.pods, size_, shapes_);
        pod.start_millis += i + 1;
        facts.push_back(fact(events::PodObserved{pod}));
      }
      many.push_back(timed(std::move(facts)));
    }
    print("a round with one changed pod", one);
    print("a round with 100 changed pods", many);
    print("a wake-up that changes nothing", idle);
  }

  // False: nothing was placed, and the figure says nothing.
  bool burst() {
    std::vector<ports::Fact> facts;
    for (std::int64_t k = 0; k < 500; ++k) {
      model::Pod pod = bench::pod_number(size_.pods + k, size_, shapes_);
      pod.node = {};
      pod.phase = model::PodPhase::kPending;
      pod.unschedulable = true;
      facts.push_back(fact(events::PodObserved{pod}));
    }
    step(std::move(facts));
    now_ += 1'500;
    const auto start = Clock::now();
    const engine::Round round = step({});
    std::printf("%-44s %.1f ms, %zu commands, %llu decisions\n",
                "the round that places 500 pending pods", millis_since(start),
                round.to_dispatch.size(), static_cast<unsigned long long>(round.decisions));
    return round.decisions > 0;
  }

 private:
  engine::Round step(std::vector<ports::Fact> facts) {
    auto round = engine_.step(base::LogTime(now_ += 50), base::WallTime(0), std::move(facts));
    if (!round) std::abort();
    return std::move(*round);
  }
  double timed(std::vector<ports::Fact> facts) {
    const auto start = Clock::now();
    step(std::move(facts));
    return millis_since(start);
  }

  bench::ClusterSize size_;
  engine::Engine engine_;
  std::vector<model::ShapeHash> shapes_;
  std::int64_t now_ = 1'800'000'100'000;
};

}  // namespace

int main(int argc, char** argv) {
  bench::ClusterSize size;
  if (argc == 4) size = {std::atoll(argv[1]), std::atoll(argv[2]), std::atoll(argv[3])};
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "karst-bench-round";
  std::filesystem::remove_all(folder);
  auto log = events::RocksLog::open({folder.string(), base::WallTime(0), 0});
  if (!log) return std::fprintf(stderr, "%s\n", log.error().message.c_str()), 2;
  Bench bench(**log, size);
  bench.first_lists();
  bench.small_rounds();
  const bool placed = bench.burst();
  const double peak = bench::peak_rss_mib();
  std::printf("%-44s %.0f MiB (budget 512, goal 300)\n", "peak resident memory", peak);
  std::filesystem::remove_all(folder);
  return peak <= 512 && placed ? 0 : 1;
}
