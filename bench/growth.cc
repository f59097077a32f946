// How does the solver's time grow with pods, shapes, instance types and nodes? One of them is
// varied, the others stay. A line of CSV each: axis, value, median milliseconds of kRuns, the
// copy of the problem beside it (its rows and nodes; types are shared), new nodes. bench/growth.py
// draws it.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/large_problem.h"

namespace {

using namespace karst;
using Clock = std::chrono::steady_clock;

constexpr int kRuns = 3;
constexpr bench::LargeSize kBase = {30'000, 300, 1'000, 1'400};

template <class Run>
double median_millis(const Run& run) {
  std::vector<double> millis;
  for (int i = 0; i < kRuns; ++i) {
    const auto start = Clock::now();
    run();
    millis.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  std::sort(millis.begin(), millis.end());
  return millis[millis.size() / 2];
}

void measure(const char* axis, std::int64_t value, const bench::LargeSize& size) {
  const scheduling::Problem problem = bench::large_problem(size);
  std::size_t claims = 0;
  std::int64_t left_over = 0;
  const double solved = median_millis([&] {
    const scheduling::Answer answer = scheduling::solve(problem);
    claims = answer.claims.size();
    left_over = 0;
    for (const scheduling::Unplaced& row : answer.unplaced) left_over += row.count;
  });
  std::size_t touched = 0;
  const double copied = median_millis([&] {
    const scheduling::Problem copy = problem;
    touched += copy.pods.size() + copy.nodes.size();
  });
  std::printf("%s,%lld,%.3f,%.3f,%zu,%lld\n", axis, static_cast<long long>(value), solved,
              touched > 0 ? copied : 0, claims, static_cast<long long>(left_over));
  std::fflush(stdout);
}

void vary(const char* axis, std::int64_t bench::LargeSize::* field,
          const std::vector<std::int64_t>& values) {
  for (const std::int64_t value : values) {
    bench::LargeSize size = kBase;
    size.*field = value;
    measure(axis, value, size);
  }
}

}  // namespace

int main() {
  using Size = bench::LargeSize;
  std::printf("axis,value,solve_ms,copy_ms,new_nodes,left_over\n");
  vary("pods", &Size::pods, {1'200, 3'000, 9'000, 30'000, 90'000, 300'000});
  vary("shapes", &Size::shapes, {10, 30, 100, 300, 1'000, 3'000});
  vary("types", &Size::types, {25, 50, 100, 200, 400, 800, 1'400});
  vary("nodes", &Size::nodes, {0, 100, 300, 1'000, 3'000, 10'000});
  return 0;
}
