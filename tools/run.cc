#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "daemon/cluster.h"
#include "daemon/embedded.h"
#include "daemon/stop_signal.h"
#include "daemon/store.h"
#include "daemon/system_clock.h"
#include "http/local_server.h"
#include "kube/access.h"
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

base::Status run_cluster(daemon::Store& store, const RunOptions& options,
                         kube::ServerAccess access) {
  daemon::ClusterSettings settings;
  settings.access = std::move(access);
  settings.cloud = options.cloud;
  settings.listen = options.listen;
  settings.cluster_uid = options.cluster_uid;
  return daemon::run_cluster(store, settings);
}

}  // namespace

int run(const RunOptions& options) {
  daemon::block_stop_signals();
  umask(077);  // the log holds a secret, and all that the cluster tells
  // What can be wrong with the arguments is said before a folder is made.
  base::Result<kube::ServerAccess> access{kube::ServerAccess{}};
  if (!options.embedded) {
    access = options.kubeconfig.empty() ? kube::in_cluster_access()
                                        : kube::read_kubeconfig(options.kubeconfig);
  }
  if (!access) return report(access.error());
  if (auto status = http::LocalServer::check(options.listen); !status)
    return report(status.error());
  const daemon::SystemClock clock;
  auto store = daemon::open_store(options.data, clock);
  if (!store) return report(store.error());
  const base::Status status = options.embedded ? run_embedded(*store, options)
                                               : run_cluster(*store, options, std::move(*access));
  return status ? kExitDone : report(status.error());
}

}  // namespace karst::tools
