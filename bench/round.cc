// How long does a round take with a large cluster in the state, and how much memory does it hold, RocksDB included?
// 10,000 nodes, 200,000 pods, 2,000 shapes, unique labels, 50-character names. No floor: absolute times and peak memory.
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

double millis_since(Clock::time_point start) { return std::chrono::duration<double, std::milli>(Clock::now() - start).count(); }

void print(const char* what, std::vector<double>& millis) {
  std::sort(millis.begin(), millis.end());
  std::printf("%-44s median %8.3f ms   p99 %8.3f ms   max %8.3f ms   (%zu rounds)\n", what, millis[millis.size() / 2],
              millis[millis.size() * 99 / 100], millis.back(), millis.size());
}

ports::Fact fact(events::Body body) { return {std::move(body), base::WallTime(0), ""}; }

}  // namespace

int main(int argc, char** argv) {
  bench::ClusterSize size;
  if (argc == 4) size = {std::atoll(argv[1]), std::atoll(argv[2]), std::atoll(argv[3])};
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "karst-bench-round";
  std::filesystem::remove_all(folder);
  auto log = events::RocksLog::open({folder.string(), base::WallTime(0), 0});
  if (!log) return std::fprintf(stderr, "%s\n", log.error().message.c_str()), 2;
  engine::EngineOptions options;
  engine::Engine engine(**log, nullptr, *providers::find_provider("kwok"), options);
  std::int64_t now = 1'800'000'100'000;
  if (!engine.recover(base::LogTime(now), base::WallTime(0))) return 2;
  const auto step = [&](std::vector<ports::Fact> facts) {
    auto round = engine.step(base::LogTime(now += 50), base::WallTime(0), std::move(facts));
    if (!round) std::abort();
    return std::move(*round);
  };
  {
    std::vector<ports::Fact> facts;
    std::size_t count = 0;
    const auto start = Clock::now();
    bench::all_facts(size, [&](events::Body body) {
      facts.push_back(fact(std::move(body)));
      ++count;
      if (facts.size() == engine::kFactsPerRoundMax) step(std::exchange(facts, {}));
    });
    step(std::move(facts));
    std::printf("%-44s %.0f ms, %zu facts\n", "the first lists", millis_since(start), count);
  }
  for (int settle = 0; settle < 20; ++settle) step({});
  std::printf("%-44s %zu nodes, %zu pods, %zu open commands\n", "in the state", engine.state().nodes().size(),
              engine.state().pods().size(), engine.state().commands().size());
  std::vector<model::ShapeHash> shapes;
  for (std::int64_t number = 0; number < size.shapes; ++number) shapes.push_back(model::hash_of(bench::shape_number(number)));
  std::vector<double> one, many, idle;
  for (std::int64_t i = 0; i < 200; ++i) {
    model::Pod pod = bench::pod_number(i * 7 % size.pods, size, shapes);
    pod.ready = false;
    const auto start = Clock::now();
    std::vector<ports::Fact> facts;
    facts.push_back(fact(events::PodObserved{pod}));
    step(std::move(facts));
    one.push_back(millis_since(start));
    const auto idle_start = Clock::now();
    step({});
    idle.push_back(millis_since(idle_start));
  }
  for (std::int64_t i = 0; i < 50; ++i) {
    std::vector<ports::Fact> facts;
    for (std::int64_t k = 0; k < 100; ++k) {
      model::Pod pod = bench::pod_number((i * 1000 + k * 3) % size.pods, size, shapes);
      pod.start_millis += i + 1;
      facts.push_back(fact(events::PodObserved{pod}));
    }
    const auto start = Clock::now();
    step(std::move(facts));
    many.push_back(millis_since(start));
  }
  print("a round with one changed pod", one);
  print("a round with 100 changed pods", many);
  print("a wake-up that changes nothing", idle);
  std::vector<ports::Fact> burst;
  for (std::int64_t k = 0; k < 500; ++k) {
    model::Pod pod = bench::pod_number(size.pods + k, size, shapes);
    pod.node = {};
    pod.phase = model::PodPhase::kPending;
    pod.unschedulable = true;
    burst.push_back(fact(events::PodObserved{pod}));
  }
  step(std::move(burst));
  now += 1'500;
  const auto start = Clock::now();
  const engine::Round round = step({});
  std::printf("%-44s %.1f ms, %zu commands, %llu decisions\n", "the round that places 500 pending pods", millis_since(start),
              round.to_dispatch.size(), static_cast<unsigned long long>(round.decisions));
  std::printf("%-44s %.0f MiB (budget 512, goal 300)\n", "peak resident memory", bench::peak_rss_mib());
  std::filesystem::remove_all(folder);
  return 0;
}
