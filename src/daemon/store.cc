#include "daemon/store.h"

#include <fmt/format.h>

namespace karst::daemon {

base::Result<Store> open_store(const std::string& data, const std::string& archive,
                               const base::Clock& clock) {
  auto log = events::RocksLog::open({data, clock.wall()});
  if (!log) return base::fail(log.error());
  Store store{std::move(*log), "", data, archive, {}, {}};
  const events::OpenReport& found = store.log->open_report();
  if (found.cut) {
    store.remark = fmt::format("the torn end of the log was cut from position {}: {}",
                               found.cut->from.value(), found.cut->reason);
  }
  if (!found.ballast) {
    store.remark += fmt::format(
        "{}there is no room for the ballast in {}: nothing new is started until there is some",
        store.remark.empty() ? "" : "; ", data);
  }
  return store;
}

}  // namespace karst::daemon
