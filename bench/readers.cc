// How long do readers of a large log take? `state --at` at any place (goal: p99 under 200 ms) and
// `explain` (goal: p99 under 100 ms) in a reader that is open, opening timed apart; what an event
// costs to index beside a plain scan of the log, in turns; and how much a day of a cluster of 1,000
// nodes with 50,000 pod changes adds on disk. The log is written by the engine, 1,000 nodes and
// 50,000 pods of 500 shapes, then pod changes, among which 200 pods need a machine of EC2's whole
// catalogue each. Usage: bench_readers [CHANGES [FOLDER]]
// A FOLDER is kept; when it has such a log already, only its readers are measured.
#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>

#include "bench/cluster.h"
#include "engine/engine.h"
#include "engine/replay.h"
#include "events/codec.h"
#include "events/rocks_log.h"
#include "index/about.h"
#include "index/index.h"
#include "providers/aws/class_types.h"
#include "providers/provider.h"
#include "reconcilers/ruled_out.h"

namespace {

using namespace karst;
using Clock = std::chrono::steady_clock;

constexpr int kPlaces = 200;
constexpr int kSubjects = 500;
constexpr int kStandingEach = 5;       // pods of which also where they stand now is asked
constexpr std::int64_t kClaims = 200;  // that are decided on the way
constexpr std::int64_t kFirstMillis = 1'800'000'100'000;
constexpr std::int64_t kDayMillis = 86'400'000;
constexpr bench::ClusterSize kSize{1'000, 50'000, 500};

double millis_of(const std::function<void()>& work) {
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}
double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}
template <class Result>
auto must(Result result) {
  if (!result) std::fprintf(stderr, "%s\n", result.error().message.c_str()), std::abort();
  return std::move(*result);
}
void print_spread(const char* what, std::vector<double> millis) {
  std::sort(millis.begin(), millis.end());
  std::printf("%s: median %.1f ms, p99 %.1f ms, worst %.1f ms (%zu)\n", what,
              millis[millis.size() / 2], millis[millis.size() * 99 / 100], millis.back(),
              millis.size());
}

std::uint64_t bytes_on_disk(const std::string& folder) {
  std::uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.is_regular_file()) bytes += entry.file_size();
  return bytes;
}

// The engine on a log on this disk, at made-up times.
class Writer {
 public:
  explicit Writer(const std::string& folder)
      : log_(must(events::RocksLog::open({folder, base::WallTime(kFirstMillis), 0}))),
        engine_(*log_, &log_->snapshots(), *providers::find_provider("kwok"), {}) {
    must(engine_.recover(base::LogTime(now_), base::WallTime(now_)));
    for (std::int64_t number = 0; number < kSize.shapes; ++number)
      shapes_.push_back(model::hash_of(bench::shape_number(number)));
  }
  void offer(events::Body body) {
    facts_.push_back({std::move(body), base::WallTime(now_), ""});
    if (facts_.size() >= engine::kFactsPerRoundMax) round(now_ + 50);
  }
  void round(std::int64_t at) {
    now_ = at;
    must(engine_.step(base::LogTime(now_), base::WallTime(now_), std::exchange(facts_, {})));
  }
  void change_pod(std::int64_t number) {
    model::Pod pod = bench::pod_number(number * 7919 % kSize.pods, kSize, shapes_);
    pod.start_millis += number;
    offer(events::PodObserved{pod});
  }
  // What EC2 sells, under the name of the provider here.
  void offer_catalogue() {
    model::Catalogue catalogue = providers::aws::embedded_base_catalogue();
    catalogue.provider = "kwok";
    offer(events::CatalogueObserved{std::move(catalogue)});
  }
  // A pod that no machine of the cluster has room for, nor one that it shares with another.
  void need_machine(std::int64_t number) {
    model::PodShape shape = bench::shape_number(0);
    shape.requests.cpu_millis = 100'000;
    shape.host_ports = {{"", 8443, "TCP"}};
    const model::ShapeHash hash = model::hash_of(shape);
    if (number == 0) offer(events::ShapeRecorded{hash, shape});
    model::Pod pod;
    pod.uid = model::PodUid(bench::uid_of("large-", number));
    pod.namespace_name = "shop";
    pod.name = bench::numbered("large-", number, 6);
    pod.shape = hash;
    pod.unschedulable = true;
    offer(events::PodObserved{pod});
    round(now_ + 50);
    round(now_ + 1'100);  // the batch window has closed
  }
  events::RocksLog& log() { return *log_; }
  std::int64_t now() const { return now_; }

 private:
  std::int64_t now_ = kFirstMillis;
  std::unique_ptr<events::RocksLog> log_;
  engine::Engine engine_;
  std::vector<ports::Fact> facts_;
  std::vector<model::ShapeHash> shapes_;
};

void index_all(events::RocksLog& log, const std::string& folder) {
  const auto index = must(index::Index::open(folder, log, log.secret(), log.synced()));
  while (index->through() < log.synced())
    if (!index->advance(log, log.synced())) std::abort();
}

// Every event, parsed and verified.
void scan(const events::EventLog& log) {
  const auto cursor = must(log.read(model::Position(1)));
  std::uint64_t sum = 0;
  while (const auto event = must(cursor->next())) sum += event->raw.size();
  if (sum == 0) std::abort();
}

void measure_indexing(const std::string& folder) {
  const auto log = must(events::RocksLog::open({folder, base::WallTime(0), 0}));
  const auto events = static_cast<double>(log->end().value() - 1);
  double scanned = 0, indexed = 0;
  for (int turn = 0; turn < 2; ++turn) {
    std::filesystem::remove_all(folder + "/index");
    double start = cpu_seconds();
    scan(*log);
    scanned = cpu_seconds() - start;
    start = cpu_seconds();
    index_all(*log, folder + "/index");
    indexed = cpu_seconds() - start;
  }
  std::printf(
      "indexing: %.2f us an event with the tree, beside %.2f us of a scan (one thread's "
      "CPU)\n",
      indexed / events * 1e6, scanned / events * 1e6);
  const auto log_bytes = bytes_on_disk(folder), index_bytes = bytes_on_disk(folder + "/index");
  std::printf("on disk: %.0f events, log %.1f bytes an event (snapshots included), index %.1f\n",
              events, static_cast<double>(log_bytes) / events,
              static_cast<double>(index_bytes) / events);
}

void measure_state(const events::RocksLog& log, events::RocksLog& opened) {
  std::vector<double> millis, cpu_millis;
  std::uint64_t random = 12345;
  for (int i = 0; i < kPlaces; ++i) {
    random = random * 6364136223846793005ULL + 1442695040888963407ULL;
    const model::Position place(1 + (random >> 20) % (log.end().value() - 1));
    const double cpu = cpu_seconds();
    projections::ClusterState state;
    millis.push_back(millis_of([&] {
      must(engine::rebuild(log, &opened.snapshots(), place, state));
      if (state.last_position() != place) std::abort();
    }));
    cpu_millis.push_back((cpu_seconds() - cpu) * 1e3);
  }
  print_spread("state at any place", millis);
  print_spread("the same, this thread's CPU", cpu_millis);
  const auto snapshot =
      must(opened.snapshots().latest(projections::kProjectionVersion, log.end())).value();
  const double cpu = cpu_seconds();
  projections::ClusterState state;
  if (!state.load(snapshot.bytes)) std::abort();
  const double loaded = cpu_seconds();
  if (state.save() != snapshot.bytes) std::abort();
  std::printf("of that, loading a snapshot of %.1f MB: %.1f ms of CPU (making it: %.1f)\n",
              static_cast<double>(snapshot.bytes.size()) / 1e6, (loaded - cpu) * 1e3,
              (cpu_seconds() - loaded) * 1e3);
}

void measure_explain(events::RocksLog& log, const index::Reader& index) {
  std::vector<double> pods, standing, nodes;
  std::uint64_t read = 0;
  const auto about = [&](index::SubjectKind kind, const std::string& name) {
    return millis_of([&] {
      const auto found = must(index::events_about(log, &index, {kind, name, {}}, {}));
      if (found.story.empty()) std::abort();
      read += found.events_read;
      for (const model::Position position : found.story) {
        const auto event = must(must(log.read(position))->next());
        if (!event) std::abort();
      }
    });
  };
  for (std::int64_t i = 0; i < kSubjects; ++i) {
    const std::int64_t pod = i * 7919 % kSize.pods;
    const std::string name = bench::numbered("namespace-", pod % 50, 3) + "/" +
                             bench::numbered("a-deployment-with-a-long-name-5d8f7c9b6d-", pod, 9);
    pods.push_back(about(index::SubjectKind::kPod, name));
    if (i % kStandingEach == 0) {
      projections::ClusterState state;
      standing.push_back(about(index::SubjectKind::kPod, name) + millis_of([&] {
                           must(engine::rebuild(log, &log.snapshots(), model::Position(), state));
                         }));
    }
    nodes.push_back(about(index::SubjectKind::kNode, bench::numbered("node-", i, 6)));
  }
  print_spread("explain pod, its events", pods);
  print_spread("explain pod, with where it stands now: the state at the end", standing);
  print_spread("explain node", nodes);
  std::printf("events read for each: %.0f\n", static_cast<double>(read) / (2 * kSubjects));
}

// Every request for a claim with its name.
std::vector<std::pair<model::Position, std::string>> claims_of(const events::EventLog& log) {
  std::vector<std::pair<model::Position, std::string>> claims;
  const auto cursor = must(log.read(model::Position(1)));
  while (const auto event = must(cursor->next())) {
    if (event->envelope.type != events::EventType::kNodeClaimCreateRequested) continue;
    const events::Body body = events::decode_body(*event);
    const auto& create = std::get<model::CreateNodeClaim>(std::get<model::Command>(body).spec);
    claims.emplace_back(event->envelope.position, create.claim.name.str());
  }
  return claims;
}

// Its events, and what `--ruled-out` adds: the state where it was decided, and the asking.
void measure_explain_claim(events::RocksLog& log, const index::Reader& index) {
  std::vector<double> stories, ruled_out;
  std::size_t reasons = 0;
  for (const auto& [position, name] : claims_of(log)) {
    stories.push_back(millis_of([&] {
      const index::Subject claim{index::SubjectKind::kNodeClaim, name, {}};
      for (const model::Position at : must(index::events_about(log, &index, claim, {})).story)
        if (!must(must(log.read(at))->next())) std::abort();
    }));
    const auto cursor = must(log.read(position));
    const auto event = must(cursor->next());
    const events::Body body = events::decode_body(*event);
    projections::ClusterState state;
    reconcilers::ClassTypes class_types;
    ruled_out.push_back(millis_of([&] {
      must(engine::rebuild(log, &log.snapshots(), model::Position(position.value() - 1), state));
      reasons +=
          reconcilers::ruled_out(
              state, {event->envelope.log_time, *providers::find_provider("kwok"), class_types},
              std::get<model::Command>(body).spec)
              .size();
    }));
  }
  if (stories.empty() || reasons < stories.size()) std::abort();
  print_spread("explain nodeclaim, its events", stories);
  print_spread("what --ruled-out adds: the state there, and why it is no other type", ruled_out);
}

void measure_readers(const std::string& folder) {
  std::filesystem::create_directories(folder + "-scratch/index");
  std::unique_ptr<events::RocksLog> log;
  std::unique_ptr<index::Reader> index;
  std::printf("opening the log for reading: %.0f ms\n", millis_of([&] {
                log = must(events::RocksLog::open_reader(folder, folder + "-scratch"));
              }));
  std::printf("opening the index: %.0f ms\n", millis_of([&] {
                index = must(index::Reader::open(folder + "/index", *log, log->secret(),
                                                 folder + "-scratch/index"));
              }));
  std::printf("the state at the end (a pod's standing): %.0f ms\n", millis_of([&] {
                projections::ClusterState state;
                must(engine::rebuild(*log, &log->snapshots(), model::Position(), state));
              }));
  measure_state(*log, *log);
  measure_explain(*log, *index);
  measure_explain_claim(*log, *index);
}

constexpr std::int64_t kBeatMillis = 15'000;
constexpr std::int64_t kDayChanges = 50'000;

void beat(Writer& writer, std::int64_t now) {
  for (const char* kind :
       {"Pod", "Node", "NodeClaim", "NodePool", "NodeClass", "DaemonSet", "Instance",
        "PersistentVolume", "StorageClass", "PersistentVolumeClaim", "CSINode", "Namespace"})
    writer.offer(events::SourceBeat{kind, std::to_string(now)});
  writer.round(now);
}

// One day: 50,000 pod changes evenly, and every kind's beat each 15 s, each in a round of its own.
void measure_day(const std::string& folder) {
  std::filesystem::remove_all(folder);
  std::uint64_t before = 0, events_before = 0;
  {
    Writer writer(folder);
    bench::all_facts(kSize, [&](events::Body body) { writer.offer(std::move(body)); });
    writer.round(writer.now() + 1'000);
    index_all(writer.log(), folder + "/index");
    events_before = writer.log().end().value();
  }
  before = bytes_on_disk(folder) + bytes_on_disk(folder + "/index");
  {
    Writer writer(folder);
    const std::int64_t start = writer.now() + 3'600'000, gap = kDayMillis / kDayChanges;
    std::int64_t next_beat = start;
    for (std::int64_t change = 0; change < kDayChanges; ++change) {
      const std::int64_t now = start + change * gap;
      for (; next_beat <= now; next_beat += kBeatMillis) beat(writer, next_beat);
      writer.change_pod(change);
      writer.round(now);
    }
    index_all(writer.log(), folder + "/index");
    std::printf("a day of 50,000 pod changes on 1,000 nodes: %llu events",
                static_cast<unsigned long long>(writer.log().end().value() - events_before));
  }
  const std::uint64_t index_bytes = bytes_on_disk(folder + "/index");
  std::printf(
      ", %llu bytes on disk: log with its snapshots, write-ahead log and index (%llu in all)\n",
      static_cast<unsigned long long>(bytes_on_disk(folder) + index_bytes - before),
      static_cast<unsigned long long>(index_bytes));
  std::filesystem::remove_all(folder);
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // it takes long: what is measured is told at once
  const std::int64_t changes = argc > 1 ? std::atoll(argv[1]) : 1'000'000;
  const bool kept = argc > 2;
  const std::string folder =
      kept ? argv[2] : (std::filesystem::temp_directory_path() / "karst-bench-readers").string();
  if (kept && std::filesystem::exists(folder)) {
    measure_readers(folder);
    std::filesystem::remove_all(folder + "-scratch");
    return 0;
  }
  std::filesystem::remove_all(folder);
  std::printf("writing: %.0f s\n",
              millis_of([&] {
                Writer writer(folder);
                bench::all_facts(kSize, [&](events::Body body) { writer.offer(std::move(body)); });
                writer.offer_catalogue();
                const std::int64_t each = std::max<std::int64_t>(changes / kClaims, 1);
                for (std::int64_t i = 0; i < changes; ++i) {
                  if (i % each == 0) writer.need_machine(i / each);
                  writer.change_pod(i);
                }
                writer.round(writer.now() + 1'000);
              }) / 1000);
  measure_indexing(folder);
  measure_readers(folder);
  std::filesystem::remove_all(folder + "-scratch");
  if (!kept) std::filesystem::remove_all(folder);
  // In memory: what is counted is bytes, and 50,000 rounds are synced.
  measure_day("/dev/shm/karst-bench-readers-day");
  return 0;
}
