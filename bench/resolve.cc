// How long does it take to ask where the pods of one node would go, if it were gone? The question
// consolidation asks of thousands of nodes. From a problem in memory to the answer in memory.
//   bench_resolve    2,000 nodes, 50,000 pods of 1,000 shapes, 1,400 types; each 10th node is asked
// One thread; median, 99th percentile and worst of the questions.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <utility>
#include <vector>

#include "bench/large_problem.h"
#include "scheduling/aftermath.h"
#include "scheduling/without_nodes.h"

namespace {

using namespace karst;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t kPodsPerNode = 25;
constexpr std::size_t kAskedStep = 10;  // every so-many-th node

// Which groups the pods of a node are of: where its labels let them be.
std::vector<scheduling::Share> residents(const scheduling::Problem& problem, std::size_t node) {
  std::vector<scheduling::Share> found;
  const auto& labels = problem.nodes[node].labels;
  for (std::int64_t i = 0; found.size() < kPodsPerNode; ++i) {
    const auto number = static_cast<std::int64_t>(node) * 1000 + i;
    const auto group = static_cast<std::size_t>(
        bench::mixed(number, static_cast<std::int64_t>(problem.pods.size())));
    const auto& selector = problem.pods[group].shape.node_selector;
    if (std::all_of(selector.begin(), selector.end(), [&](const auto& label) {
          return model::label_value(labels, label.first) == label.second;
        }))
      found.push_back({group, 1});
  }
  return found;
}

scheduling::WithoutNodesQuestion question_of(std::size_t node,
                                             const std::vector<scheduling::GonePods>& gone) {
  scheduling::WithoutNodesQuestion question;
  question.nodes.push_back({node, SIZE_MAX, {}});
  std::map<std::size_t, std::int64_t> counts;
  question.gone = gone;
  for (const scheduling::GonePods& pods : gone) ++counts[pods.group];
  for (const auto& [group, count] : counts) question.asked.push_back({group, count, 0, false});
  return question;
}

}  // namespace

int main() {
  scheduling::Problem problem = bench::large_problem({.pods = 50'000, .nodes = 2'000});
  const std::size_t nodes = problem.nodes.size();
  std::vector<std::vector<scheduling::Share>> on_node;
  for (std::size_t node = 0; node < nodes; ++node) on_node.push_back(residents(problem, node));
  for (scheduling::PodGroup& group : problem.pods) group.count = 0;
  std::vector<std::vector<scheduling::GonePods>> gone(nodes);  // by node
  for (std::size_t node = 0; node < nodes; ++node)
    for (const scheduling::Share& share : on_node[node]) {
      scheduling::PodGroup& group = problem.pods[share.group];
      gone[node].push_back({problem.bound.size(), share.group});
      problem.bound.push_back(scheduling::bound_of(group, node, share.count));
      group.count += share.count;
    }
  const auto began = Clock::now();
  scheduling::WithoutNodes asked(std::move(problem));
  const double prepared = std::chrono::duration<double, std::milli>(Clock::now() - began).count();
  std::vector<double> millis;
  std::size_t claims = 0, left = 0;
  for (std::size_t node = 0; node < nodes; node += kAskedStep) {
    const auto start = Clock::now();
    const scheduling::Answer answer = asked.place(question_of(node, gone[node]));
    millis.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    claims += answer.claims.size();
    left += answer.unplaced.size();
  }
  std::sort(millis.begin(), millis.end());
  std::printf(
      "prepared in %.1f ms; %zu questions: median %.3f ms, p99 %.3f ms, worst %.3f ms; %zu new "
      "nodes, %zu rows left\n",
      prepared, millis.size(), millis[millis.size() / 2], millis[millis.size() * 99 / 100],
      millis.back(), claims, left);
  return 0;
}
