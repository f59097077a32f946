// How fast is a log folded again, beside a plain scan of the same log? Floor 0.3 of the scan's
// rate, goal 0.5. Both in one process, in turns; the median of the ratios counts.
#include <rocksdb/db.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "bench/cluster.h"
#include "engine/engine.h"
#include "engine/replay.h"
#include "events/rocks_log.h"
#include "providers/provider.h"

namespace {

using namespace karst;

// Of this thread's CPU: what else runs on the machine does not count, and nothing here waits for a
// disk.
double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}
double seconds_since(double start) {
  return cpu_seconds() - start;
}

// Every key and value of the events column, touched.
double scan_seconds(const std::string& folder, std::uint64_t& count, std::uint64_t& bytes) {
  std::vector<std::string> names;
  rocksdb::DBOptions options;
  if (!rocksdb::DB::ListColumnFamilies(options, folder, &names).ok()) std::abort();
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  for (const std::string& name : names) families.emplace_back(name, rocksdb::ColumnFamilyOptions());
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  if (!rocksdb::DB::OpenForReadOnly(options, folder, families, &handles, &db).ok()) std::abort();
  const auto start = cpu_seconds();
  rocksdb::ReadOptions read;
  read.verify_checksums = true;
  read.readahead_size = 2 << 20;
  count = bytes = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] != "events") continue;
    std::unique_ptr<rocksdb::Iterator> iterator(db->NewIterator(read, handles[i]));
    std::uint64_t sum = 0;
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
      sum += static_cast<unsigned char>(iterator->value()[0]) + iterator->value().size();
      ++count;
      bytes += iterator->value().size();
    }
    if (sum == 0) std::abort();
  }
  const double seconds = seconds_since(start);
  for (auto* handle : handles) db->DestroyColumnFamilyHandle(handle);
  delete db;
  return seconds;
}

double rebuild_seconds(const std::string& folder, std::uint64_t& count) {
  auto log = events::RocksLog::open_reader(folder, folder + "-scratch");
  if (!log) std::abort();
  projections::ClusterState state;
  const auto start = cpu_seconds();
  if (!engine::rebuild(**log, nullptr, model::Position(), state)) std::abort();
  count = state.last_position().value();
  return seconds_since(start);
}

void write_log(const std::string& folder, std::int64_t changes) {
  auto log = events::RocksLog::open({folder, base::WallTime(0), 0});
  if (!log) std::abort();
  engine::EngineOptions options;
  engine::Engine engine(**log, nullptr, *providers::find_provider("kwok"), options);
  std::int64_t now = 1'800'000'100'000;
  if (!engine.recover(base::LogTime(now), base::WallTime(0))) std::abort();
  const bench::ClusterSize size{1'000, 50'000, 500};
  std::vector<ports::Fact> facts;
  const auto offer = [&](events::Body body) {
    facts.push_back({std::move(body), base::WallTime(0), ""});
    if (facts.size() < engine::kFactsPerRoundMax) return;
    if (!engine.step(base::LogTime(now += 50), base::WallTime(0), std::exchange(facts, {})))
      std::abort();
  };
  bench::all_facts(size, offer);
  std::vector<model::ShapeHash> shapes;
  for (std::int64_t number = 0; number < size.shapes; ++number)
    shapes.push_back(model::hash_of(bench::shape_number(number)));
  for (std::int64_t i = 0; i < changes; ++i) {
    model::Pod pod = bench::pod_number(i * 7919 % size.pods, size, shapes);
    pod.start_millis += i;
    offer(events::PodObserved{pod});
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t changes = argc > 1 ? std::atoll(argv[1]) : 1'000'000;
  const std::string folder =
      (std::filesystem::temp_directory_path() / "karst-bench-rebuild").string();
  std::filesystem::remove_all(folder);
  write_log(folder, changes);
  std::vector<double> ratios;
  for (int turn = 0; turn < 5; ++turn) {
    std::uint64_t scanned = 0, bytes = 0, folded = 0;
    const double scan = scan_seconds(folder, scanned, bytes);
    const double fold = rebuild_seconds(folder, folded);
    if (scanned != folded) std::abort();
    ratios.push_back(scan / fold);
    std::printf("scan %.0f events/s (%.0f MB/s)   rebuild %.0f events/s   ratio %.2f\n",
                static_cast<double>(scanned) / scan, static_cast<double>(bytes) / scan / 1e6,
                static_cast<double>(folded) / fold, scan / fold);
  }
  std::sort(ratios.begin(), ratios.end());
  std::printf("rebuild beside a plain scan: ratio %.2f (floor 0.30, goal 0.50)\n",
              ratios[ratios.size() / 2]);
  std::filesystem::remove_all(folder);
  std::filesystem::remove_all(folder + "-scratch");
  return ratios[ratios.size() / 2] >= 0.3 ? 0 : 1;
}
