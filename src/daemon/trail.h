// What the daemon does for readers of its trail: the index behind the log (indexer.h) and the
// record of who took it home (access.h). Each failure is told and gone without: the daemon's own
// work needs neither. Made and destroyed on one thread, before and after the engine's; lag() is for
// any.
#pragma once

#include <memory>
#include <vector>

#include "base/clock.h"
#include "daemon/access.h"
#include "daemon/indexer.h"
#include "daemon/store.h"
#include "ports/fact.h"

namespace karst::daemon {

struct DaemonParts;

class Trail {
 public:
  // Starts the indexer, which signs the tree's head when there is a key. `store`, `clock` and what
  // `tell` uses outlive it.
  Trail(const Store& store, const base::Clock& clock, Indexer::Tell tell);

  // What the daemon needs of it: the lag, and what was read while none ran.
  void fill(DaemonParts& parts) const;
  // Readers are heard from now on, until stop(). `sink` must live until then.
  void listen(ports::FactSink& sink);
  void stop();

 private:
  const Store& store_;
  const base::Clock& clock_;
  const Indexer::Tell tell_;
  std::unique_ptr<AccessServer> access_;
  std::unique_ptr<Indexer> indexer_;
};

}  // namespace karst::daemon
