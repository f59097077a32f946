// What does one round of disruption cost, when every node is a candidate and none can go? From a
// cluster in memory to a reason for each node.
//   bench_consolidate [NODES...]    500 and 2,000 nodes: 25 pods each of 1,000 shapes, 1,400 types
// All nodes are spot and spot-to-spot is off: each needs one machine for its largest pod, and may
// not be replaced. The floor is a problem made for the question: as many as the round had questions
// would cost what it is measured to cost for some of them, in turns with the rounds.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "bench/large_problem.h"
#include "disruption/consolidation.h"
#include "disruption/decide.h"
#include "disruption/simulator.h"

namespace {

using namespace karst;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t kShapes = 1'000;
constexpr std::int64_t kPodsPerNode = 25;
constexpr std::int64_t kNow = 1'000'000'000'000;
constexpr int kTurns = 3;
constexpr std::size_t kAnewPerTurn = 8;

double millis_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

void add_pod(disruption::World& world, std::size_t shape, std::size_t node, std::int64_t number,
             model::Labels labels) {
  disruption::Pod pod;
  pod.namespace_name = "default";
  pod.name = "pod-" + std::to_string(world.pods.size());
  pod.labels = std::move(labels);
  pod.shape = shape;
  pod.node = node;
  pod.creation_millis = kNow - 1'000 * bench::mixed(number, 1'000'000);  // hardly two of an age
  world.nodes[node].pods.push_back(world.pods.size());
  world.pods.push_back(std::move(pod));
}

// A node with its pods: one that nothing else has room for, and others where its labels let them
// be.
void add_pods(disruption::World& world, const std::vector<scheduling::PodGroup>& groups,
              std::size_t node) {
  const model::Labels& labels = world.nodes[node].labels;
  add_pod(world, groups.size(), node, static_cast<std::int64_t>(node), {{"app", "large"}});
  for (std::int64_t i = 0; std::cmp_less(world.nodes[node].pods.size(), kPodsPerNode); ++i) {
    const std::int64_t number = static_cast<std::int64_t>(node) * 1'000 + i;
    const auto shape = static_cast<std::size_t>(bench::mixed(number, kShapes));
    const model::Labels& selector = groups[shape].shape.node_selector;
    if (std::all_of(selector.begin(), selector.end(), [&](const auto& label) {
          return model::label_value(labels, label.first) == label.second;
        }))
      add_pod(world, shape, node, number, groups[shape].labels);
  }
}

disruption::World large_world(std::int64_t nodes) {
  scheduling::Problem problem =
      bench::large_problem({.pods = kShapes, .shapes = kShapes, .nodes = nodes});
  disruption::World world;
  world.now = base::LogTime(kNow);
  disruption::Pool pool;
  pool.pool = std::move(problem.pools.front());
  pool.pool.pool.consolidate_after_millis = 0;
  pool.pool.pool.budgets = {{"100%", {}, "", 0}};
  const std::string type = pool.pool.types[0].name;
  world.pools.push_back(std::move(pool));
  for (const scheduling::PodGroup& group : problem.pods) world.shapes.push_back(group.shape);
  world.shapes.push_back({});
  world.shapes.back().requests.cpu_millis = 8'000;
  world.shapes.back().requests.pods = 1;
  world.base.nodes = std::move(problem.nodes);
  for (scheduling::Node& seen : world.base.nodes) {
    model::set_label(seen.labels, model::kCapacityTypeLabel, "spot");
    model::set_label(seen.labels, model::kInstanceTypeLabel, type);
    disruption::Node node;
    node.name = seen.name;
    node.managed = node.initialized = node.ready = node.consolidatable = true;
    node.labels = seen.labels;
    node.capacity.cpu_millis = 32'000;
    world.nodes.push_back(std::move(node));
    add_pods(world, problem.pods, world.nodes.size() - 1);
  }
  return world;
}

struct Round {
  double millis = 0;
  std::size_t questions = 0;  // of single nodes
  std::size_t commands = 0;
};

Round run(const disruption::World& world) {
  const auto start = Clock::now();
  const std::vector<disruption::Step> steps =
      disruption::decide(world, {disruption::Method::kMultiNode, disruption::Method::kSingleNode});
  Round round{millis_since(start), 0, 0};
  for (const disruption::Step& step : steps) {
    round.commands += step.outcome.commands.size();
    if (step.method == disruption::Method::kSingleNode)
      round.questions = std::min(step.candidates.size(), disruption::kSingleTriesMax);
  }
  return round;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void measure(std::int64_t nodes) {
  const disruption::World world = large_world(nodes);
  std::vector<double> rounds, anew, first;
  Round round;
  for (int turn = 0; turn < kTurns; ++turn) {
    round = run(world);
    rounds.push_back(round.millis);
    for (std::size_t i = 0; i < kAnewPerTurn; ++i) {
      const std::size_t node = (static_cast<std::size_t>(turn) * kAnewPerTurn + i) *
                               world.nodes.size() / (kTurns * kAnewPerTurn);
      const std::vector<disruption::Candidate> one = {disruption::make_candidate(world, node)};
      auto start = Clock::now();
      disruption::simulate(world, one, disruption::Purpose::kConsolidation);
      anew.push_back(millis_since(start));
      start = Clock::now();
      disruption::Simulator(world).simulate(one, disruption::Purpose::kConsolidation);
      first.push_back(millis_since(start));
    }
  }
  const double each = median(anew);
  const double whole = median(rounds);
  std::printf(
      "%lld nodes, %zu pods: a round %.0f ms (median of %d), %zu single nodes asked, %zu commands; "
      "a "
      "problem made for one question %.1f ms, one prepared and asked once %.1f ms; as many made as "
      "asked: %.1f times the round\n",
      static_cast<long long>(nodes), world.pods.size(), whole, kTurns, round.questions,
      round.commands, each, median(first), each * static_cast<double>(round.questions) / whole);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    measure(500);
    measure(2'000);
  }
  for (int i = 1; i < argc; ++i) measure(std::strtoll(argv[i], nullptr, 10));
  return 0;
}
