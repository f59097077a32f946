// The cloud's half of `karst run` on a cluster: the hands, the queue of interruptions if the cloud
// has one, and the transports that they work over. Opened once the cluster has been asked who it
// is; called on the engine's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "cloud/hands.h"
#include "daemon/cluster.h"
#include "kube/fact_observer.h"
#include "kube/preflight.h"
#include "ports/fact.h"
#include "ports/queue_port.h"
#include "ports/withheld_texts.h"

namespace karst::daemon {

struct CloudNeeds {  // all outlive the parts
  const ClusterSettings& settings;
  ports::FactSink& sink;
  const ports::WithheldTexts& withheld;  // of node classes
  const base::Clock& clock;
  std::function<void(bool good, const std::string& line)> tell;  // any thread
  std::function<bool()> leads;     // by the lease, at this moment; empty: there is no lease
  std::int64_t jitter_millis = 0;  // of what replicas should not all do at the same moment
  http::GiveUp give_up;            // of open_cloud()
};

class CloudParts {
 public:
  virtual ~CloudParts() = default;
  virtual cloud::Hands& hands() = 0;
  virtual ports::QueuePort* queue() { return nullptr; }
  // What the log has of prices, and which kinds of them somebody read. Before start().
  virtual void know_prices(const model::Catalogue& /*told*/, bool /*on_demand*/, bool /*spot*/) {}
  virtual void start() { hands().start(); }
  virtual void stop() = 0;  // nobody calls back when it returns
};

// The node class of that cloud.
kube::Watched node_class_of(const std::string& cloud);

// Errors: kInvalid, kDenied: a setting or a right that a person must mend; kRetry: what must be
// asked does not answer.
base::Result<std::unique_ptr<CloudParts>> open_cloud(const CloudNeeds& needs,
                                                     const kube::ClusterIdentity& identity);

}  // namespace karst::daemon
