// How fast does the log take events, beside a plain RocksDB WriteBatch of the same bytes in the
// same batches, with the same settings? Floor 0.7 of the plain rate, goal 0.9 (buffered). The
// synced rate adds the high-water file, a second sync. In turns, a fresh folder each; the medians
// count. Usage: bench_append [FOLDER]
#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/cluster.h"
#include "events/codec.h"
#include "events/rocks_log.h"
#include "events/rocks_options.h"

namespace {

using namespace karst;
using Clock = std::chrono::steady_clock;

constexpr int kTurns = 9;
constexpr std::size_t kBatch = 50;   // events of a busy round
constexpr std::uint64_t kFirst = 2;  // position 1 is LogCreated

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}
double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Input {
  std::vector<events::Record> records;
  std::vector<std::string> stored;  // the same, as stored
  std::uint64_t bytes = 0;
};

Input make_input(std::size_t count) {
  const bench::ClusterSize size;
  const std::vector<model::ShapeHash> shapes(static_cast<std::size_t>(size.shapes),
                                             model::ShapeHash{1, 2});
  Input input;
  for (std::size_t i = 0; i < count; ++i) {
    const auto pod = bench::pod_number(static_cast<std::int64_t>(i), size, shapes);
    input.records.push_back(events::make_record(events::PodObserved{pod}));
    input.stored.push_back(events::encode_event(model::Position(kFirst + i), input.records.back()));
    input.bytes += input.stored.back().size();
  }
  return input;
}

double karst_seconds(const std::string& folder, const Input& input, events::Durability durability) {
  std::filesystem::remove_all(folder);
  events::RocksLogOptions options;
  options.path = folder;
  options.ballast_bytes = 0;
  auto log = events::RocksLog::open(options);
  if (!log) std::abort();
  const std::span<const events::Record> all(input.records);
  const auto start = Clock::now();
  for (std::size_t i = 0; i < all.size(); i += kBatch)
    if (!(*log)->append(all.subspan(i, std::min(kBatch, all.size() - i)), durability)) std::abort();
  return seconds_since(start);
}

double plain_seconds(const std::string& folder, const Input& input, bool sync) {
  std::filesystem::remove_all(folder);
  rocksdb::DBOptions options =
      events::database_options(events::Recovery::kTornTail, events::Contents::kLog);
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  if (!rocksdb::DB::Open(options, folder, events::families(events::Compactions::kOn), &handles, &db)
           .ok())
    std::abort();
  rocksdb::WriteOptions write;
  write.sync = sync;
  rocksdb::WriteBatch batch;
  const auto start = Clock::now();
  for (std::size_t i = 0; i < input.stored.size(); i += kBatch) {
    batch.Clear();
    for (std::size_t j = i; j < std::min(i + kBatch, input.stored.size()); ++j) {
      const events::PositionKey key{model::Position(kFirst + j)};
      if (!batch.Put(handles[1], rocksdb::Slice(key.bytes, 8), input.stored[j]).ok()) std::abort();
    }
    if (!db->Write(write, &batch).ok()) std::abort();
  }
  const double seconds = seconds_since(start);
  for (auto* handle : handles) db->DestroyColumnFamilyHandle(handle);
  delete db;
  return seconds;
}

double compare(const char* name, const std::string& folder, std::size_t count,
               events::Durability durability) {
  const Input input = make_input(count);
  const bool sync = durability == events::Durability::kSynced;
  std::vector<double> ours;
  std::vector<double> plain;
  std::vector<double> ratios;
  for (int turn = 0; turn < kTurns; ++turn) {
    // Who goes first changes, so that neither always inherits the other's writeback.
    if (turn % 2 == 0) ours.push_back(karst_seconds(folder + "/karst", input, durability));
    plain.push_back(plain_seconds(folder + "/plain", input, sync));
    if (turn % 2 == 1) ours.push_back(karst_seconds(folder + "/karst", input, durability));
    ratios.push_back(plain.back() / ours.back());
  }
  const auto events_per_second = [&](double seconds) {
    return static_cast<double>(count) / seconds;
  };
  std::printf(
      "%s: %zu events of %.0f bytes in batches of %zu: karst %.0f events/s, plain RocksDB %.0f "
      "events/s, ratio %.2f\n",
      name, count, static_cast<double>(input.bytes) / static_cast<double>(count), kBatch,
      events_per_second(median(ours)), events_per_second(median(plain)), median(ratios));
  return median(ratios);
}

}  // namespace

int main(int count, char** arguments) {
  const std::string folder = count > 1 ? arguments[1] : "/tmp/karst-bench-append";
  const double buffered = compare("buffered", folder, 100'000, events::Durability::kBuffered);
  compare("synced", folder, 20'000, events::Durability::kSynced);
  std::filesystem::remove_all(folder);
  return buffered >= 0.7 ? 0 : 1;
}
