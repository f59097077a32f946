// `karst run` on a cluster: the daemon between an API server and a cloud. Watches, writes and cloud
// have a transport each, so that a stalled stream holds up nothing else.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "daemon/serve.h"
#include "daemon/settings.h"
#include "daemon/store.h"
#include "kube/credentials.h"

namespace karst::daemon {

struct ClusterSettings {
  kube::ServerAccess access;                       // how to reach the API server
  std::shared_ptr<kube::Credentials> credentials;  // opened from it
  std::string cloud;                               // kwok, aws
  Listening listening;                             // of health and metrics
  std::string cluster_uid;                         // empty: uid of the namespace kube-system
  Settings settings;                               // those of a Karpenter controller
  bool shadow = false;                             // decide, and send nothing
};

// Until a stop signal. Call block_stop_signals() first. Errors: kInvalid of what `settings` name,
// those of serve() for the address, of kube::preflight, of the cloud's own start, of the log.
base::Status run_cluster(Store& store, const ClusterSettings& settings);

}  // namespace karst::daemon
