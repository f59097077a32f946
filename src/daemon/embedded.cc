#include "daemon/embedded.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/check.h"
#include "daemon/daemon.h"
#include "daemon/embedded_world.h"
#include "daemon/late_sink.h"
#include "daemon/log_keeper.h"
#include "daemon/serve.h"
#include "daemon/stop_signal.h"
#include "daemon/system_clock.h"
#include "daemon/trail.h"
#include "sim/scenario.h"

namespace karst::daemon {
namespace {

// Appends a line for each receipt, written through before it returns.
class ReceiptFile {
 public:
  static base::Result<ReceiptFile> open(const std::string& path) {
    ReceiptFile file;
    if (path.empty()) return file;
    file.descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (file.descriptor_ < 0)
      return base::fail(base::Kind::kInvalid, path + " cannot be opened for appending");
    return file;
  }
  void write(const std::string& receipt) const {
    if (descriptor_ < 0) return;
    const std::string line = receipt + "\n";
    const ssize_t count = ::write(descriptor_, line.data(), line.size());
    KARST_CHECK(count == static_cast<ssize_t>(line.size()), "a receipt could not be kept");
  }

 private:
  int descriptor_ = -1;  // until the process ends
};

std::string run_name(std::uint64_t seed, base::WallTime start) {
  return std::to_string(seed) + "-" + std::to_string(start.value()) + "-";
}

void tell_start(const Store& store, LineWriter& lines) {
  if (!store.remark.empty()) lines.write("karst: " + store.remark);
  if (!store.log->open_report().created)
    lines.write(
        "karst: the log goes on, but a new simulated world begins: the pods and nodes of the last "
        "one are gone from it");
}

}  // namespace

base::Status run_embedded(Store& store, const EmbeddedSettings& settings) {
  auto kill_points = KillPoints::from_environment();
  if (!kill_points) return base::fail(kill_points.error());
  auto receipts = ReceiptFile::open(settings.acknowledged_file);
  if (!receipts) return base::fail(receipts.error());
  const providers::Provider* provider = providers::find_provider("kwok");
  KARST_CHECK(provider != nullptr, "the kwok provider is part of every build");

  // A made-up world has no time of its own: it goes on where the log ended.
  const SystemClock real;
  auto last = last_log_time(*store.log);
  if (!last) return base::fail(last.error());
  const std::int64_t start =
      std::max(real.wall().value(), *last ? (*last)->value() + 1 : std::int64_t{0});
  const ShiftedClock shifted(real, base::WallTime(start));
  sim::Scenario scenario = sim::demo_scenario(provider->embedded_catalogue());
  scenario.run = run_name(settings.seed, base::WallTime(start));

  LateSink sink;
  EmbeddedWorld world(std::move(scenario), settings.seed, sink, shifted, settings.speed,
                      [&](const std::string& receipt) { receipts->write(receipt); });
  LineWriter lines(STDERR_FILENO);
  StoryNotices notices(lines, settings.color);
  const AlwaysLeads lease;
  DaemonParts parts = parts_of(store);
  parts.provider = provider;
  parts.clock = &world.clock();
  parts.objects = parts.instances = &world;
  parts.queue = &world;
  parts.lease = &lease;
  parts.notices = &notices;
  parts.lines = &lines;
  parts.kill_points = &*kill_points;
  parts.speed = settings.speed;
  parts.engine.config.cluster_uid = "embedded-" + store.log->id().str();
  parts.engine.config.provider = std::string(provider->name());
  if (settings.snapshot_distance != 0) parts.engine.snapshot_distance = settings.snapshot_distance;
  Trail trail(store, world.clock(), [&](bool good, const std::string& line) {
    good ? notices.relief(world.clock().wall(), line) : notices.alarm(world.clock().wall(), line);
  });
  trail.fill(parts);
  ViewBoard board;
  parts.board = &board;
  Daemon daemon(std::move(parts));
  sink.set(daemon.inbox());

  auto server = serve_health(settings.listen, board);
  if (!server && (settings.listen_asked || server.error().kind != base::Kind::kTaken))
    return base::fail(server.error());
  if (!server) lines.write("karst: no health and metrics: " + server.error().message);
  tell_start(store, lines);
  LogKeeper keeper({store.log.get(), store.data, store.archive, &real, &daemon.inbox(), &board,
                    &notices, store.retain, kKeepEveryMillis, *kill_points});
  KARST_TRY(keeper.start());
  trail.listen(sink);
  world.start();
  const StopWatch watch(settings.for_millis, [&] { daemon.stop(); });
  base::Status status = daemon.run();
  daemon.inbox().close();  // the world's thread must not wait for us
  trail.stop();
  world.stop();
  return status ? store.log->sync() : status;  // the last head is of all of it
}

}  // namespace karst::daemon
