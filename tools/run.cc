#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>

#include "daemon/cluster.h"
#include "daemon/embedded.h"
#include "daemon/settings.h"
#include "daemon/signing_key.h"
#include "daemon/stop_signal.h"
#include "daemon/store.h"
#include "daemon/system_clock.h"
#include "kube/credentials.h"
#include "proof/checkpoint.h"
#include "tools/talk.h"

namespace karst::tools {
namespace {

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

base::Status run_embedded(daemon::Store& store, const RunOptions& options) {
  daemon::EmbeddedSettings settings;
  settings.speed = options.speed;
  settings.for_millis = options.for_millis;
  settings.seed = options.seed;
  settings.listen = options.listen;
  settings.listen_asked = options.listen_given;
  settings.color = color_wanted(STDERR_FILENO);
  // For tests: what a power cut may not take, and snapshots soon enough to be seen.
  settings.acknowledged_file = from_environment("KARST_ACK_FILE");
  settings.snapshot_distance =
      std::strtoull(from_environment("KARST_SNAPSHOT_DISTANCE").c_str(), nullptr, 10);
  return daemon::run_embedded(store, settings);
}

// The simulated world has none: it tells the same story everywhere.
base::Result<daemon::Settings> settings_of(const RunOptions& options) {
  if (!options.embedded)
    return daemon::read_settings(options.settings, [](std::string_view variable) {
      return std::optional(from_environment(std::string(variable).c_str()));
    });
  if (options.settings.empty()) return daemon::Settings();
  return base::fail(base::Kind::kInvalid, "a setting of a cluster's controller (" +
                                              options.settings.begin()->first +
                                              ") means nothing to --embedded; leave it away");
}

daemon::Listening listening_of(const RunOptions& options, const daemon::Settings& settings) {
  const std::string host =
      options.listen_given ? options.listen.substr(0, options.listen.rfind(':')) : "";
  return {options.listen, host, settings.metrics_port, settings.health_probe_port};
}

base::Status run_cluster(daemon::Store& store, const RunOptions& options,
                         daemon::ClusterSettings settings, daemon::Settings karpenters) {
  settings.listening = listening_of(options, karpenters);
  settings.settings = std::move(karpenters);
  settings.cloud = options.cloud;
  settings.cluster_uid = options.cluster_uid;
  settings.shadow = options.shadow;
  return daemon::run_cluster(store, settings);
}

// What --retain says; without an archive nothing may go.
base::Result<std::optional<daemon::Retention>> retention_of(const RunOptions& options) {
  if (options.retain.empty()) return std::optional<daemon::Retention>();
  if (options.archive.empty())
    return base::fail(base::Kind::kInvalid,
                      "--retain: expected --archive FOLDER with it: nothing goes from the log that "
                      "no archive has");
  auto retention = daemon::parse_retention(options.retain);
  if (!retention) return base::fail(retention.error().with_context("--retain"));
  return std::optional(*retention);
}

// Reads the key that signs the log's head (head_file.h), or makes one for the simulated world.
base::Status take_key(daemon::Store& store, const RunOptions& options) {
  const std::string own = daemon::own_key_file(options.data);
  const bool make = options.embedded && options.signing_key.empty();
  if (!make && options.signing_key.empty()) return {};
  const model::LogId& log = store.log->id();
  auto key = daemon::read_signing_key(make ? own : options.signing_key, log);
  if (!key && make && key.error().kind == base::Kind::kGone)
    key = daemon::make_signing_key(own, proof::origin_of(log));
  if (!key) return base::fail(key.error());
  store.signer = std::move(*key);
  return {};
}

}  // namespace

int run(const RunOptions& options) {
  daemon::block_stop_signals();
  umask(077);  // the log holds a secret, and all that the cluster tells
  // What can be wrong with the arguments is said before a folder is made.
  auto settings = settings_of(options);
  if (!settings) return report(settings.error());
  auto retain = retention_of(options);
  if (!retain) return report(retain.error());
  const daemon::SystemClock clock;
  daemon::ClusterSettings cluster;
  if (!options.embedded) {
    auto access = kube::find_access(options.kubeconfig);
    if (!access) return report(access.error());
    auto credentials = kube::open_credentials(*access, clock, daemon::stop_signal_came);
    if (!credentials && daemon::stop_signal_came()) return kExitDone;
    if (!credentials) return report(credentials.error());
    cluster.access = std::move(*access);
    cluster.credentials = std::move(*credentials);
  }
  if (auto status = daemon::check(listening_of(options, *settings)); !status)
    return report(status.error());
  auto store = daemon::open_store(options.data, options.archive, clock);
  if (!store) return report(store.error());
  store->retain = *retain;
  if (auto taken = take_key(*store, options); !taken) return report(taken.error());
  base::Status status =
      options.embedded ? run_embedded(*store, options)
                       : run_cluster(*store, options, std::move(cluster), std::move(*settings));
  if (status) status = store->log->sync();  // a log that was closed in peace is whole
  return status ? kExitDone : report(status.error());
}

}  // namespace karst::tools
