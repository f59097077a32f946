// A log on disk as a daemon of a 1,000-node cluster writes it (through the engine, pod changes in
// the end), and a plain scan of it. For benchmarks only.
#pragma once

#include <rocksdb/db.h>
#include <time.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "bench/cluster.h"
#include "engine/engine.h"
#include "events/rocks_log.h"
#include "providers/provider.h"

namespace karst::bench {

// Of this thread's CPU: what else runs on the machine does not count, and nothing here waits for a
// disk.
inline double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}
inline double seconds_since(double start) {
  return cpu_seconds() - start;
}

// Every key and value of the events column, touched.
inline double scan_seconds(const std::string& folder, std::uint64_t& count, std::uint64_t& bytes) {
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

inline void write_log(const std::string& folder, std::int64_t changes) {
  auto log = events::RocksLog::open({folder, base::WallTime(0), 0});
  if (!log) std::abort();
  engine::EngineOptions options;
  engine::Engine engine(**log, nullptr, *providers::find_provider("kwok"), options);
  std::int64_t now = 1'800'000'100'000;
  if (!engine.recover(base::LogTime(now), base::WallTime(0))) std::abort();
  const ClusterSize size{1'000, 50'000, 500};
  std::vector<ports::Fact> facts;
  const auto offer = [&](events::Body body) {
    facts.push_back({std::move(body), base::WallTime(0), ""});
    if (facts.size() < engine::kFactsPerRoundMax) return;
    if (!engine.step(base::LogTime(now += 50), base::WallTime(0), std::exchange(facts, {})))
      std::abort();
  };
  all_facts(size, offer);
  std::vector<model::ShapeHash> shapes;
  for (std::int64_t number = 0; number < size.shapes; ++number)
    shapes.push_back(model::hash_of(shape_number(number)));
  for (std::int64_t i = 0; i < changes; ++i) {
    model::Pod pod = pod_number(i * 7919 % size.pods, size, shapes);
    pod.start_millis += i;
    offer(events::PodObserved{pod});
  }
}

}  // namespace karst::bench
