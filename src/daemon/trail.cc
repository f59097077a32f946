#include "daemon/trail.h"

#include <utility>

#include "daemon/daemon.h"

namespace karst::daemon {

Trail::Trail(const Store& store, const base::Clock& clock, Indexer::Tell tell)
    : store_(store),
      clock_(clock),
      tell_(std::move(tell)),
      indexer_(std::make_unique<Indexer>(*store.log, store.data, tell_, store.signer)) {}

void Trail::fill(DaemonParts& parts) const {
  parts.index_lag = [this] { return indexer_->lag(); };
  OfflineAccesses offline = offline_accesses(store_.data);
  parts.accesses = std::move(offline.accesses);
  if (offline.unread) {
    tell_(false, offline.unread->message);
    return;
  }
  // The file is the only other copy: it goes once the log's is durable.
  parts.accesses_recorded = [this] {
    if (const base::Status synced = store_.log->sync(); synced) forget_accesses(store_.data);
  };
}

void Trail::listen(ports::FactSink& sink) {
  auto server = AccessServer::listen(store_.data, [this, &sink](events::AccessRecorded access) {
    return sink.offer({std::move(access), clock_.wall(), ""});
  });
  if (server)
    access_ = std::move(*server);
  else
    tell_(false,
          "who reads the trail is recorded at the next start only: " + server.error().message);
}

void Trail::stop() {
  access_.reset();
}

}  // namespace karst::daemon
