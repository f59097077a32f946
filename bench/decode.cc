// How fast do pods come in? The bytes of a PodList, as the API server sends them page by page, go
// through the edge's own path (list protocol, reducer, shape hash, fact) into a sink that counts,
// beside simdjson's parse alone (the floor) on the same pages, in turns; the medians count. Budget:
// 300 MB/s on one core, exit 1 below. bench/decode.sh puts client-go beside it on the same bytes.
// Usage: bench_decode [--write FOLDER]   writes the lists as FOLDER/{bare,full}.json and ends
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "bench/pod_list.h"
#include "kube/fact_observer.h"

namespace {

using namespace karst;
using Clock = std::chrono::steady_clock;

constexpr int kTurns = 7;
constexpr int kPods = 20'000;
constexpr double kFloorMegabytesPerSecond = 300;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}
double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Counting final : ports::FactSink {
  bool offer(ports::Fact fact) override {
    pods += std::holds_alternative<events::PodObserved>(fact.body) ? 1 : 0;
    refused += std::holds_alternative<events::InputRefused>(fact.body) ? 1 : 0;
    return true;
  }
  int pods = 0;
  int refused = 0;
};
struct Still final : base::Clock {
  std::int64_t monotonic_millis() const override { return 0; }
  base::WallTime wall() const override { return base::WallTime(0); }
};

double edge_seconds(const std::vector<std::string>& pages) {
  Counting sink;
  ports::WithheldTexts withheld;
  const Still clock;
  kube::FactObserver observer({kube::WatchedKind::kPod, "/api/v1/pods", {}, {}}, sink, withheld,
                              clock);
  kube::ListWatch protocol("/api/v1/pods", observer);
  const auto start = Clock::now();
  (void)protocol.start();
  for (const std::string& page : pages) (void)protocol.list_answered({200, page, {}});
  const double seconds = seconds_since(start);
  if (sink.pods != kPods || sink.refused != 0) {
    std::fprintf(stderr, "bench_decode: %d pods and %d refusals of %d pods\n", sink.pods,
                 sink.refused, kPods);
    std::abort();
  }
  return seconds;
}

double parse_seconds(const std::vector<std::string>& pages) {
  objects::Parser parser;
  const auto start = Clock::now();
  for (const std::string& page : pages)
    if (!parser.parse(page, objects::kListBytesMax)) std::abort();
  return seconds_since(start);
}

double measure(const char* what, bool full) {
  const std::string shape = bench::read_template(full);
  std::vector<std::string> pages;
  double bytes = 0;
  for (int first = 0; first < kPods; first += kube::kListPageItems) {
    pages.push_back(
        bench::list_page(shape, first, std::min(kPods, first + kube::kListPageItems), kPods));
    bytes += static_cast<double>(pages.back().size());
  }
  std::vector<double> edge, parse, share;
  for (int turn = 0; turn < kTurns; ++turn) {
    parse.push_back(parse_seconds(pages));
    edge.push_back(edge_seconds(pages));
    share.push_back(parse.back() / edge.back());
  }
  const double rate = bytes / median(edge) / 1e6;
  std::printf(
      "%-5s %5.0f bytes a pod: %6.0f MB/s, %8.0f pods/s; simdjson's parse alone %6.0f MB/s; share "
      "%.2f\n",
      what, bytes / kPods, rate, kPods / median(edge), bytes / median(parse) / 1e6, median(share));
  return rate;
}

int write(const std::string& folder) {
  for (const bool full : {false, true}) {
    std::ofstream file(folder + (full ? "/full.json" : "/bare.json"), std::ios::binary);
    file << bench::list_page(bench::read_template(full), 0, kPods, kPods);
    if (!file.flush()) {
      std::fprintf(stderr, "bench_decode: cannot write to %s\n", folder.c_str());
      return 2;
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--write") return write(argv[2]);
  const double bare = measure("bare", false);
  const double full = measure("full", true);
  return std::min(bare, full) < kFloorMegabytesPerSecond ? 1 : 0;
}
