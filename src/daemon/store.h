// A data directory as the daemon holds it. One process at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "daemon/retention.h"
#include "events/rocks_log.h"
#include "proof/note.h"

namespace karst::daemon {

struct Store {
  std::unique_ptr<events::RocksLog> log;
  std::string remark;   // for people, about what opening found; empty: nothing worth saying
  std::string data;     // the folder
  std::string archive;  // where what is complete is sealed (log_keeper.h); empty: nowhere
  std::optional<Retention> retain;         // what stays at hand; none: everything
  std::optional<proof::SignerKey> signer;  // of its checkpoints
};

// Opens or creates the log in `data`. Errors: those of RocksLog::open.
base::Result<Store> open_store(const std::string& data, const std::string& archive,
                               const base::Clock& clock);

// What every daemon has from its store, whatever the world is. `store` must outlive it.
struct DaemonParts;
DaemonParts parts_of(Store& store);

}  // namespace karst::daemon
