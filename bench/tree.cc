// What does the tree cost an event, beside one SHA-256 of the same stored bytes? Measured: salt,
// commitment, leaf hash and tiles (what the writer of tiles does), and a line of a trail (the
// same, base64 and the readable form), with checking it. In turns; the medians count. Usage:
// bench_tree [EVENTS, 20000]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/cluster.h"
#include "events/codec.h"
#include "events/memory_log.h"
#include "proof/tiles.h"
#include "proof/trail.h"
#include "proof/trail_check.h"

namespace {

using namespace karst;
using Clock = std::chrono::steady_clock;

constexpr int kTurns = 5;
constexpr std::string_view kSecret = "0123456789abcdef0123456789abcdef";

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

template <class Work>
double nanos(std::size_t events, const Work& work) {
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count() /
         static_cast<double>(events);
}

void fill(events::MemoryLog& log, std::size_t count) {
  const bench::ClusterSize size;
  const std::vector<model::ShapeHash> shapes(static_cast<std::size_t>(size.shapes),
                                             model::ShapeHash{1, 2});
  for (std::size_t i = 0; i < count; ++i) {
    const auto pod = bench::pod_number(static_cast<std::int64_t>(i), size, shapes);
    const events::Record record = events::make_record(events::PodObserved{pod});
    (void)log.append(std::span(&record, 1), events::Durability::kBuffered);
  }
}

std::string make_trail(const events::MemoryLog& log) {
  proof::TrailHeader header;
  header.log = log.id().str();
  header.size = log.end().value() - 1;
  proof::TrailWriter writer(header, std::string(kSecret));
  std::string out(writer.begin());
  auto cursor = log.read(model::Position(1));
  for (auto event = (*cursor)->next(); *event; event = (*cursor)->next())
    out += writer.event(**event, false, nullptr);
  out += writer.end(
      proof::checkpoint_bytes({proof::origin_of(log.id()), header.size, writer.root()}, nullptr));
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20'000;
  events::MemoryLog log{model::LogId("bench")};
  fill(log, count);
  std::uint64_t bytes = 0;
  for (std::uint64_t p = 1; p < log.end().value(); ++p)
    bytes += log.stored(model::Position(p)).size();
  const std::size_t events = log.end().value() - 1;
  std::vector<double> floors, trees, writes, checks;
  std::string trail;
  unsigned sink = 0;
  for (int turn = 0; turn < kTurns; ++turn) {
    floors.push_back(nanos(events, [&] {
      for (std::uint64_t p = 1; p <= events; ++p)
        sink += base::sha256(log.stored(model::Position(p)))[0];
    }));
    trees.push_back(nanos(events, [&] {
      proof::TileBuilder builder;
      for (std::uint64_t p = 1; p <= events; ++p)
        builder.append(proof::event_leaf_hash(log.stored(model::Position(p)), kSecret));
      sink += static_cast<unsigned>(builder.take().size());
    }));
    writes.push_back(nanos(events, [&] { trail = make_trail(log); }));
    checks.push_back(nanos(events, [&] {
      proof::TrailCheck check;
      if (!check.feed(trail) || !check.finish()) std::abort();
    }));
  }
  const double floor = median(floors), tree = median(trees);
  const double megabytes = static_cast<double>(trail.size()) / 1e6;
  const auto rate = [&](double ns) { return megabytes / (ns * static_cast<double>(events) / 1e9); };
  std::printf("%zu events, %.0f bytes each (%u)\n", events,
              static_cast<double>(bytes) / static_cast<double>(events), sink % 2);
  std::printf("SHA-256 of the stored bytes  %.0f ns an event\n", floor);
  std::printf("the tree                     %.0f ns an event, %.1f times that\n", tree,
              tree / floor);
  std::printf("a trail, written             %.0f ns an event, %.0f MB/s\n", median(writes),
              rate(median(writes)));
  std::printf("a trail, checked             %.0f ns an event, %.0f MB/s\n", median(checks),
              rate(median(checks)));
  return 0;
}
