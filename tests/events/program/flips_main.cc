// Flips bits of a log's files, one at a time, and opens it: karst_flips FOLDER EVENTS BYTES
// [SAMPLES [WRITER_SAMPLES]] as readers open it, and a copy as the writer does. The log has EVENTS
// synced events of about BYTES each; without SAMPLES each bit is flipped, and each file cut to each
// length, else so many bits that are spread over the files. What that may lead to: it is refused or
// reported (what ends the reading names a position; of the high-water file the opening says so), or
// whoever reads the log gets every event as it was written. Anything else is silent damage: exit 1.
// Each core tries its share, on a copy of the log. Prints rows of a Markdown table.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <map>
#include <thread>

#include "tests/events/log_fixture.h"

namespace karst::events::testing {
namespace {

constexpr unsigned kTrySeconds = 60;
constexpr std::size_t kTriesOfAProcess = 500;

struct Counts {
  std::uint64_t tries = 0, refused = 0, reported = 0, harmless = 0, silent = 0, died = 0;
  std::map<std::string, std::uint64_t> harmless_in;  // by file
  void operator+=(const Counts& o) {
    tries += o.tries, refused += o.refused, reported += o.reported;
    harmless += o.harmless, silent += o.silent, died += o.died;
    for (const auto& [file, count] : o.harmless_in) harmless_in[file] += count;
  }
};

std::vector<std::string> data_files(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    // What is never read back: the diary and the options of RocksDB, and what holds nothing.
    if (name.starts_with("LOG") || name.starts_with("OPTIONS") || name == "lock" ||
        name == "LOCK" || name == "ballast")
      continue;
    if (entry.is_regular_file() && entry.file_size() > 0) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> events_of(const EventLog& log) {
  std::vector<std::string> events;
  auto cursor = log.read(model::Position(1));
  while (cursor) {
    auto event = (*cursor)->next();
    if (!event || !*event) break;
    events.emplace_back((*event)->raw);
  }
  return events;
}

enum class Outcome : char { kRefused, kReported, kHarmless, kSilent };

bool says_damage(const base::Error& error) {
  return (error.kind == base::Kind::kCorrupt || error.kind == base::Kind::kNewer) &&
         !error.message.empty();
}
bool names_position(const std::optional<base::Error>& error) {
  return error && says_damage(*error) && error->message.find("position ") != std::string::npos;
}

// One opening, and all events read. What the writer opens it may change: it gets a copy.
Outcome open_once(const std::string& folder, const std::string& scratch, bool by_writer,
                  const std::vector<std::string>& want) {
  const std::string copy = scratch + "/copy";
  if (by_writer) std::filesystem::copy(folder, copy, std::filesystem::copy_options::recursive);
  auto log = by_writer ? RocksLog::open(options_for(copy)) : RocksLog::open_reader(folder, scratch);
  if (!log) return says_damage(log.error()) ? Outcome::kRefused : Outcome::kSilent;
  auto cursor = (*log)->read(model::Position(1));
  std::size_t sound = 0;
  bool told = !(*log)->open_report().mark_oddity.empty() || (*log)->open_report().cut.has_value() ||
              names_position((*log)->damage()) || (!cursor && names_position(cursor.error()));
  while (cursor) {
    auto event = (*cursor)->next();
    if (!event) told |= names_position(event.error());
    if (!event || !*event) break;
    if (sound == want.size() || (*event)->raw != want[sound]) return Outcome::kSilent;
    ++sound;
  }
  return told ? Outcome::kReported : sound == want.size() ? Outcome::kHarmless : Outcome::kSilent;
}

void flip(const std::string& file, std::uint64_t bit) {
  std::fstream io(file, std::ios::binary | std::ios::in | std::ios::out);
  io.seekg(static_cast<std::streamoff>(bit / 8));
  const int byte = io.get();
  io.seekp(static_cast<std::streamoff>(bit / 8));
  io.put(static_cast<char>(byte ^ (1 << bit % 8)));
}

bool make_log(const std::string& folder, std::size_t events, std::size_t bytes, bool settled) {
  auto log = RocksLog::open(options_for(folder));
  for (std::size_t done = 0; log && done < events; done += 10)
    if (!append_numbered(**log, std::min<std::size_t>(10, events - done), Durability::kSynced,
                         bytes))
      return false;
  if (!log) return false;
  log->reset();
  return !settled || RocksLog::open(options_for(folder)).has_value();  // into a table
}

struct Sample {
  std::string path, scratch;
  const char* what = "";
  bool by_writer = false;
  std::vector<std::string> files;
  std::uint64_t bytes = 0;
  std::vector<std::string> want;

  // The same in files of its own.
  Sample copy(std::size_t number) const {
    Sample other = *this;
    for (std::string* folder : {&other.path, &other.scratch})
      *folder += "-" + std::to_string(number);
    std::filesystem::copy(path, other.path, std::filesystem::copy_options::recursive);
    std::filesystem::create_directories(other.scratch);
    other.files = data_files(other.path);
    return other;
  }
};

std::optional<Sample> make_sample(const std::string& folder, std::size_t events, std::size_t bytes,
                                  bool settled) {
  Sample sample;
  sample.path = folder + (settled ? "/settled" : "/fresh");
  sample.scratch = folder + "/scratch";
  sample.what = settled ? "tables" : "write-ahead log";
  if (!make_log(sample.path, events, bytes, settled)) return std::nullopt;
  std::filesystem::create_directories(sample.scratch);
  const auto log = RocksLog::open_reader(sample.path, sample.scratch);
  if (!log) return std::nullopt;
  sample.want = events_of(**log);
  if (sample.want.size() != events + 1) return std::nullopt;
  sample.files = data_files(sample.path);
  for (const std::string& file : sample.files) sample.bytes += std::filesystem::file_size(file);
  return sample;
}

// Ways to damage a sample, by number, and to mend it again.
struct Damages {
  std::size_t count = 0;
  std::function<void(std::size_t)> damage, mend;
  std::function<std::string(std::size_t)> file;
};

// Some in a process of its own, which says how each came out.
void try_some(const Sample& sample, const Damages& damages, std::size_t from, std::size_t to,
              int told) {
  for (std::size_t i = from; i < to; ++i) {
    damages.damage(i);
    alarm(kTrySeconds);
    const Outcome outcome = open_once(sample.path, sample.scratch, sample.by_writer, sample.want);
    damages.mend(i);
    std::filesystem::remove_all(sample.scratch);
    std::filesystem::create_directories(sample.scratch);
    if (write(told, &outcome, 1) != 1) _exit(1);
  }
  _exit(0);
}

// One that ends the process, or that it does not come back from, is counted.
Counts try_share(const Sample& sample, const Damages& damages, std::size_t next, std::size_t end) {
  Counts counts;
  counts.tries = end - next;
  while (next < end) {
    const std::size_t to = std::min(end, next + kTriesOfAProcess);
    int ends[2];
    if (pipe(ends) != 0) std::abort();
    const pid_t child = fork();
    if (child < 0) std::abort();
    if (child == 0) try_some(sample, damages, next, to, ends[1]);
    close(ends[1]);
    Outcome outcome;
    // Not up to the end of the pipe: what another core has forked meanwhile has it open too.
    for (; next < to && read(ends[0], &outcome, 1) == 1; ++next) {
      ++(outcome == Outcome::kRefused    ? counts.refused
         : outcome == Outcome::kReported ? counts.reported
         : outcome == Outcome::kHarmless ? counts.harmless
                                         : counts.silent);
      if (outcome == Outcome::kHarmless)
        ++counts.harmless_in[std::filesystem::path(damages.file(next)).filename()];
    }
    close(ends[0]);
    if (waitpid(child, nullptr, 0) != child) std::abort();
    if (next == to) continue;
    ++counts.died;
    damages.mend(next++);
  }
  return counts;
}

// `damages_of`: those of a sample or of its copy.
Counts try_all(const Sample& sample, const std::function<Damages(const Sample&)>& damages_of) {
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  std::vector<Counts> counts(cores);
  std::vector<std::thread> threads;
  for (std::size_t core = 0; core < cores; ++core)
    threads.emplace_back([&, core] {
      const Sample own = sample.copy(core);
      const Damages damages = damages_of(own);
      counts[core] =
          try_share(own, damages, damages.count * core / cores, damages.count * (core + 1) / cores);
      std::filesystem::remove_all(own.path);
      std::filesystem::remove_all(own.scratch);
    });
  for (std::thread& thread : threads) thread.join();
  Counts all;
  for (const Counts& of_core : counts) all += of_core;
  return all;
}

int print_row(const Sample& sample, const char* damage, const Counts& counts) {
  std::string harmless = std::to_string(counts.harmless);
  for (const auto& [file, count] : counts.harmless_in)
    harmless += (file == counts.harmless_in.begin()->first ? ": " : ", ") + file + " " +
                std::to_string(count);
  std::printf(
      "| %s%s | %zu | %llu | %llu %s | %llu | %llu | %s | %llu | %llu |\n", sample.what,
      sample.by_writer ? ", by the writer" : "", sample.want.size(),
      static_cast<unsigned long long>(sample.bytes), static_cast<unsigned long long>(counts.tries),
      damage, static_cast<unsigned long long>(counts.refused),
      static_cast<unsigned long long>(counts.reported), harmless.c_str(),
      static_cast<unsigned long long>(counts.silent), static_cast<unsigned long long>(counts.died));
  std::fflush(stdout);
  return counts.silent + counts.died == 0 && counts.tries > 0 ? 0 : 1;
}

Damages flips_of(const Sample& sample, std::uint64_t samples) {
  const std::uint64_t all = sample.bytes * 8;
  std::uint64_t step = samples == 0 ? 1 : std::max<std::uint64_t>(1, all / samples);
  step -= 1 - step % 2;  // odd, so that every bit of a byte has its turn
  std::vector<std::pair<std::string, std::uint64_t>> bits;
  std::uint64_t next = step / 2;  // in the file that is next
  for (const std::string& file : sample.files) {
    const std::uint64_t of_file = std::filesystem::file_size(file) * 8;
    for (; next < of_file; next += step) bits.emplace_back(file, next);
    next -= of_file;
  }
  const auto change = [bits](std::size_t i) { flip(bits[i].first, bits[i].second); };
  return {bits.size(), change, change, [bits](std::size_t i) { return bits[i].first; }};
}

int flip_all(const Sample& sample, std::uint64_t samples) {
  return print_row(sample, "flips",
                   try_all(sample, [&](const Sample& own) { return flips_of(own, samples); }));
}

Damages cuts_of(const std::string& file) {
  const std::string whole = read_file(file);
  return {whole.size(),
          [file, whole](std::size_t size) { write_file(file, whole.substr(0, size)); },
          [file, whole](std::size_t) { write_file(file, whole); },
          [file](std::size_t) { return file; }};
}

int cut_all(const Sample& sample) {
  Counts all;
  for (std::size_t i = 0; i < sample.files.size(); ++i)
    all += try_all(sample, [i](const Sample& own) { return cuts_of(own.files[i]); });
  return print_row(sample, "cuts", all);
}

}  // namespace
}  // namespace karst::events::testing

int main(int argc, char** argv) {
  using namespace karst::events::testing;
  if (argc < 4) {
    std::fprintf(stderr, "usage: karst_flips FOLDER EVENTS BYTES [SAMPLES [WRITER_SAMPLES]]\n");
    return 2;
  }
  const std::size_t events = std::stoull(argv[2]), bytes = std::stoull(argv[3]);
  const std::uint64_t samples = argc > 4 ? std::stoull(argv[4]) : 0;
  const std::uint64_t writer_samples = argc > 5 ? std::stoull(argv[5]) : 0;
  int worst = 0;
  for (const bool settled : {false, true}) {
    auto sample = make_sample(argv[1], events, bytes, settled);
    if (!sample) return 2;
    worst = std::max(worst, flip_all(*sample, samples));
    if (samples == 0) worst = std::max(worst, cut_all(*sample));
    sample->by_writer = true;
    if (samples == 0) worst = std::max(worst, cut_all(*sample));
    if (writer_samples > 0) worst = std::max(worst, flip_all(*sample, writer_samples));
  }
  return worst;
}
