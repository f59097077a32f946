#include "daemon/store.h"

#include <fmt/format.h>

#include "daemon/daemon.h"
#include "daemon/version.h"

namespace karst::daemon {

base::Result<Store> open_store(const std::string& data, const std::string& archive,
                               const base::Clock& clock) {
  auto log = events::RocksLog::open({data, clock.wall()});
  if (!log) return base::fail(log.error());
  Store store{std::move(*log), "", data, archive, {}, {}};
  const events::OpenReport& found = store.log->open_report();
  const auto remark = [&store](const std::string& text) {
    store.remark += (store.remark.empty() ? "" : "; ") + text;
  };
  if (found.cut)
    remark(fmt::format("the torn end of the log was cut from position {}: {}",
                       found.cut->from.value(), found.cut->reason));
  if (!found.mark_oddity.empty()) remark(data + "/high-water " + found.mark_oddity);
  if (!found.ballast)
    remark(fmt::format(
        "there is no room for the ballast in {}: nothing new is started until there is some",
        data));
  return store;
}

DaemonParts parts_of(Store& store) {
  DaemonParts parts;
  parts.log = store.log.get();
  parts.snapshots = &store.log->snapshots();
  parts.release_ballast = [&store] { store.log->release_ballast(); };
  parts.restore_ballast = [&store] { return store.log->restore_ballast(); };
  parts.log_space_low = !store.log->open_report().ballast;
  parts.cut = store.log->open_report().cut;
  parts.engine.version = build_version();
  parts.engine.decision_version = decision_version();
  if (store.signer) parts.engine.signing_key = store.signer->verifier().text();
  return parts;
}

}  // namespace karst::daemon
