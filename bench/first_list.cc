// How long until karst knows a cluster of 100,000 pods, and what does it hold then? The bytes of
// the PodList go page by page through the edge's own path (list protocol, reducer, facts) into an
// engine on RocksDB, as at a start. Then: one pod is pending, the batch window closes; how long
// until the NodeClaim's create is durable? Budget: 20 ms at p99, exit 1 above.
// Usage: bench_first_list [PODS]
#include <time.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "bench/pod_list.h"
#include "engine/engine.h"
#include "events/rocks_log.h"
#include "kube/fact_observer.h"
#include "providers/provider.h"

namespace {

using namespace karst;
using Clock = std::chrono::steady_clock;

constexpr int kPendingPods = 300;
constexpr double kBudgetMillis = 20;

double millis_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

struct Still final : base::Clock {
  std::int64_t monotonic_millis() const override { return 0; }
  base::WallTime wall() const override { return base::WallTime(0); }
};

// Facts in, a round whenever as many have come as one takes.
class World final : public ports::FactSink {
 public:
  explicit World(events::EventLog& log)
      : engine_(log, nullptr, *providers::find_provider("kwok"), {}) {
    if (!engine_.recover(base::LogTime(now_), base::WallTime(0))) std::abort();
  }
  bool offer(ports::Fact fact) override {
    facts_.push_back(std::move(fact));
    if (facts_.size() == engine::kFactsPerRoundMax) step();
    return true;
  }
  void offer(events::Body body) { offer(ports::Fact{std::move(body), base::WallTime(0), ""}); }
  engine::Round step(std::int64_t millis = 50) {
    auto round =
        engine_.step(base::LogTime(now_ += millis), base::WallTime(0), std::exchange(facts_, {}));
    if (!round) std::abort();
    return std::move(*round);
  }
  const projections::ClusterState& state() const { return engine_.state(); }

 private:
  engine::Engine engine_;
  std::vector<ports::Fact> facts_;
  std::int64_t now_ = 1'800'000'100'000;
};

void everything_but_pods(World& world, int pods) {
  bench::ClusterSize size;
  size.nodes = pods / bench::kPodsPerNode + 1;
  size.pods = 0;
  bench::all_facts(size, [&](events::Body body) { world.offer(std::move(body)); });
  world.step();
}

struct Listed {
  double millis = 0;       // spent on anything but making the bytes
  double last_millis = 0;  // of it the last round, which syncs
};

Listed list_pods(World& world, int pods) {
  const std::string shape = bench::read_template(true);
  ports::WithheldTexts withheld;
  const Still clock;
  kube::FactObserver observer({kube::WatchedKind::kPod, "/api/v1/pods", {}, {}}, world, withheld,
                              clock);
  kube::ListWatch protocol("/api/v1/pods", observer);
  Listed listed;
  (void)protocol.start();
  for (int first = 0; first < pods; first += kube::kListPageItems) {
    const std::string page =
        bench::list_page(shape, first, std::min(pods, first + kube::kListPageItems), pods);
    const auto start = Clock::now();
    (void)protocol.list_answered({200, page, {}});
    listed.millis += millis_since(start);
  }
  const auto start = Clock::now();
  world.step(engine::kSyncEveryMillis);  // the round that syncs what nothing has waited for
  listed.last_millis = millis_since(start);
  listed.millis += listed.last_millis;
  return listed;
}

struct Pass {
  double millis = 0;
  double cpu_millis = 0;  // of this thread: what other work on the machine does not add to
};

double cpu_millis_now() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

double at_percentile(const std::vector<Pass>& passes, double Pass::* what, std::size_t percent) {
  std::vector<double> sorted;
  for (const Pass& pass : passes) sorted.push_back(pass.*what);
  std::sort(sorted.begin(), sorted.end());
  return sorted[std::min(sorted.size() * percent / 100, sorted.size() - 1)];
}

std::vector<Pass> pending_pods(World& world) {
  model::PodShape shape = bench::shape_number(0);
  shape.requests.cpu_millis = 3'000;  // more than any node has left
  world.offer(events::ShapeRecorded{model::hash_of(shape), shape});
  std::vector<Pass> passes;
  for (int number = 0; number < kPendingPods; ++number) {
    model::Pod pod;
    pod.uid = model::PodUid(bench::uid_of("pending-", number));
    pod.namespace_name = "shop";
    pod.name = bench::numbered("pending-", number, 6);
    pod.shape = model::hash_of(shape);
    pod.unschedulable = true;
    world.offer(events::PodObserved{pod});
    world.step();
    const auto start = Clock::now();
    const double cpu_start = cpu_millis_now();
    const engine::Round round = world.step(1'100);  // the batch window has closed
    passes.push_back({millis_since(start), cpu_millis_now() - cpu_start});
    const auto creates = std::count_if(
        round.to_dispatch.begin(), round.to_dispatch.end(),
        [](const ports::IssuedCommand& command) {
          return command.attempt == 1 &&  // nobody answers here: old ones are asked again
                 std::holds_alternative<model::CreateNodeClaim>(command.spec);
        });
    if (creates != 1) {
      std::fprintf(stderr, "bench_first_list: %td claims for one pod\n", creates);
      std::abort();
    }
    for (const ports::IssuedCommand& command : round.to_dispatch)
      if (const auto* create = std::get_if<model::CreateNodeClaim>(&command.spec)) {
        model::NodeClaim claim = create->claim;  // launched: nothing waits for it
        claim.uid = model::ClaimUid("uid-" + claim.name.str());
        claim.provider_id = model::ProviderId("kwok://" + claim.name.str());
        world.offer(events::NodeClaimObserved{claim});
      }
    world.step();
  }
  return passes;
}

}  // namespace

int main(int argc, char** argv) {
  const int pods = argc == 2 ? std::atoi(argv[1]) : 100'000;
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / "karst-bench-first-list";
  std::filesystem::remove_all(folder);
  auto log = events::RocksLog::open({folder.string(), base::WallTime(0), 0});
  if (!log) return std::fprintf(stderr, "%s\n", log.error().message.c_str()), 2;
  World world(**log);
  everything_but_pods(world, pods);
  const Listed list = list_pods(world, pods);
  if ((*log)->synced() != world.state().last_position())
    return std::fprintf(stderr, "bench_first_list: the list is not durable\n"), 2;
  std::printf(
      "the first list of %zu pods: %.0f ms, %.0f pods/s, durable (%.0f ms of it the last round, "
      "which syncs); peak resident memory %.0f MiB\n",
      world.state().pods().size(), list.millis, pods / list.millis * 1000, list.last_millis,
      bench::peak_rss_mib());
  const std::vector<Pass> passes = pending_pods(world);
  const double p99 = at_percentile(passes, &Pass::millis, 99);
  std::printf(
      "a pending pod to its durable NodeClaim create, beyond the batch window: median %.1f ms, p99 "
      "%.1f ms (budget 20 at p99); of it this thread's CPU: median %.1f ms, p99 %.1f ms\n",
      at_percentile(passes, &Pass::millis, 50), p99, at_percentile(passes, &Pass::cpu_millis, 50),
      at_percentile(passes, &Pass::cpu_millis, 99));
  std::filesystem::remove_all(folder);
  return p99 <= kBudgetMillis ? 0 : 1;
}
