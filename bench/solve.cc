// How fast is the solver, how cheap are its answers, how much memory does it take? From a problem
// in memory to the answer in memory; reading files is not counted.
//   bench_solve FILE.json[.gz]...   problems in docs/oracle.md's format
//   bench_solve                     100,000 pods of 1,000 shapes, 1,400 types, 5,000 nodes
// One thread. The median of kRuns, and the least.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/large_problem.h"
#include "objects/json.h"
#include "tools/solve_case.h"

namespace {

using namespace karst;
using Clock = std::chrono::steady_clock;

constexpr int kRuns = 5;

double peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

std::string read_all(const std::string& path) {
  const bool zipped = path.ends_with(".gz");
  std::FILE* file =
      zipped ? popen(("gzip -dc '" + path + "'").c_str(), "r") : std::fopen(path.c_str(), "r");
  std::string text;
  if (file == nullptr) return text;
  char piece[1 << 16];
  for (std::size_t count; (count = std::fread(piece, 1, sizeof piece, file)) > 0;)
    text.append(piece, count);
  if (zipped)
    pclose(file);
  else
    std::fclose(file);
  return text;
}

void measure(const std::string& name, const scheduling::Problem& problem) {
  std::int64_t pods = 0;
  for (const scheduling::PodGroup& group : problem.pods) pods += group.count;
  const double before = peak_mib();
  std::vector<double> millis;
  scheduling::Answer answer;
  for (int run = 0; run < kRuns; ++run) {
    const auto start = Clock::now();
    answer = scheduling::solve(problem);
    millis.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  std::sort(millis.begin(), millis.end());
  std::int64_t price = 0;
  for (const scheduling::NewClaim& claim : answer.claims)
    price += claim.offers.front().price_nanos_per_hour;
  std::int64_t left = 0;
  for (const scheduling::Unplaced& unplaced : answer.unplaced) left += unplaced.count;
  std::int64_t on_nodes = 0;
  for (const scheduling::NodePlacement& placement : answer.placements)
    for (const scheduling::Share& share : placement.pods) on_nodes += share.count;
  const double median = millis[millis.size() / 2];
  std::printf(
      "%s: %lld pods in %zu rows, median %.1f ms, least %.1f ms, %.0f pods/s; %zu new nodes at "
      "%.6f an hour, %lld pods on nodes that were there, %lld left over; peak %.0f MiB (%.0f "
      "before)\n",
      name.c_str(), static_cast<long long>(pods), problem.pods.size(), median, millis.front(),
      static_cast<double>(pods) * 1000 / median, answer.claims.size(),
      static_cast<double>(price) / 1e9, static_cast<long long>(on_nodes),
      static_cast<long long>(left), peak_mib(), before);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) measure("large", bench::large_problem({}));
  for (int i = 1; i < count; ++i) {
    const std::string path = arguments[i];
    objects::Parser parser;
    const std::string text = read_all(path);
    const auto document = parser.parse(text, tools::kCaseBytesMax);
    if (!document) return std::fprintf(stderr, "%s: not JSON, or not there\n", path.c_str()), 2;
    const auto named = tools::read_case(*document);
    if (!named) return std::fprintf(stderr, "%s: no scheduling problem\n", path.c_str()), 2;
    measure(path.substr(path.rfind('/') + 1), named->problem);
  }
  return 0;
}
