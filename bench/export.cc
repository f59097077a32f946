// How fast does a log leave as text? MB of output a second of one thread's CPU, beside a plain scan
// of the log and a plain write of as many bytes, in turns in one run; medians.
// bench_export [CHANGES]: pod changes in the log, 2,000,000 by default.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "bench/big_log.h"
#include "events/json_text.h"
#include "exports/csv.h"
#include "exports/parquet.h"
#include "exports/walk.h"
#include "proof/trail.h"

namespace {

using namespace karst;

constexpr int kTurns = 3;

struct Figure {
  double seconds = 0;
  std::uint64_t bytes = 0;
};

// Every event as a line of JSON: what the readable half of a trail costs.
Figure readable(const events::EventLog& log, exports::ByteSink& sink) {
  const double start = bench::cpu_seconds();
  auto cursor = log.read(model::Position(1));
  std::string line;
  for (;;) {
    auto event = (*cursor)->next();
    if (!event) std::abort();
    if (!*event) break;
    line.clear();
    events::append_event_json(**event, line);
    line += '\n';
    if (!sink.write(line)) std::abort();
  }
  if (!sink.flush()) std::abort();
  return {bench::seconds_since(start), sink.bytes()};
}

// The whole trail: stored bytes, salts, readable lines, leaves and their tree.
Figure trail(const events::RocksLog& log, exports::ByteSink& sink) {
  const double start = bench::cpu_seconds();
  proof::TrailHeader header;
  header.log = log.id().str();
  header.size = log.end().value() - 1;
  proof::TrailWriter writer(header, log.secret());
  if (!sink.write(writer.begin())) std::abort();
  auto cursor = log.read(model::Position(1));
  for (;;) {
    auto event = (*cursor)->next();
    if (!event) std::abort();
    if (!*event) break;
    if (!sink.write(writer.event(**event, false, nullptr))) std::abort();
  }
  if (!sink.write(writer.end("")) || !sink.flush()) std::abort();
  return {bench::seconds_since(start), sink.bytes()};
}

Figure table(const events::EventLog& log, exports::ByteSink& sink, bool parquet) {
  const double start = bench::cpu_seconds();
  std::vector<exports::Output> outputs(1);
  outputs[0].view = exports::make_view("events", {});
  if (parquet)
    outputs[0].writer = std::make_unique<exports::ParquetWriter>(outputs[0].view->table(),
                                                                 exports::MetaData{}, sink);
  else
    outputs[0].writer = std::make_unique<exports::CsvWriter>(outputs[0].view->table(), sink);
  exports::Filter all;
  if (!exports::walk(log, all, outputs, [](model::Position) {})) std::abort();
  return {bench::seconds_since(start), sink.bytes()};
}

// The floor of writing: the same bytes again and again.
Figure write_only(exports::ByteSink& sink, std::uint64_t bytes) {
  const std::string line(1000, 'x');
  const double start = bench::cpu_seconds();
  while (sink.bytes() < bytes)
    if (!sink.write(line)) std::abort();
  if (!sink.flush()) std::abort();
  return {bench::seconds_since(start), sink.bytes()};
}

template <class Work>
Figure into_file(const std::string& path, Work&& work) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) std::abort();
  exports::ByteSink sink(file, path);
  const Figure figure = work(sink);
  ::close(file);
  ::unlink(path.c_str());
  return figure;
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // it takes long: what is measured is told at once
  const std::int64_t changes = argc > 1 ? std::atoll(argv[1]) : 2'000'000;
  const auto folder = (std::filesystem::temp_directory_path() / "karst-bench-export").string();
  std::filesystem::remove_all(folder);
  bench::write_log(folder, changes);
  auto log = events::RocksLog::open_reader(folder, folder + "-scratch");
  if (!log) std::abort();
  std::map<std::string, std::vector<double>> rates;  // MB a second
  std::uint64_t count = 0, bytes = 0, text_bytes = 0;
  for (int turn = 0; turn < kTurns; ++turn) {
    const double scan = bench::scan_seconds(folder, count, bytes);
    rates["scan of the log"].push_back(static_cast<double>(bytes) / scan / 1e6);
    const auto note = [&](const char* name, const Figure& figure) {
      const double rate = static_cast<double>(figure.bytes) / figure.seconds / 1e6;
      rates[name].push_back(rate);
      std::printf("%-16s %6.0f MB/s  %5.2f million events/s  %.0f MB\n", name, rate,
                  static_cast<double>(count) / figure.seconds / 1e6,
                  static_cast<double>(figure.bytes) / 1e6);
    };
    const std::string file = folder + "-out";
    const Figure text = into_file(file, [&](auto& sink) { return readable(**log, sink); });
    text_bytes = text.bytes;
    note("jsonl trail", into_file(file, [&](auto& sink) { return trail(**log, sink); }));
    note("readable lines", text);
    note("CSV", into_file(file, [&](auto& sink) { return table(**log, sink, false); }));
    note("Parquet", into_file(file, [&](auto& sink) { return table(**log, sink, true); }));
    note("write only", into_file(file, [&](auto& sink) { return write_only(sink, text_bytes); }));
  }
  std::printf("%llu events, %.0f MB in the log; medians:\n", static_cast<unsigned long long>(count),
              static_cast<double>(bytes) / 1e6);
  for (auto& [name, all] : rates) {
    std::sort(all.begin(), all.end());
    std::printf("  %-16s %6.0f MB/s\n", name.c_str(), all[all.size() / 2]);
  }
  std::filesystem::remove_all(folder);
  std::filesystem::remove_all(folder + "-scratch");
}
