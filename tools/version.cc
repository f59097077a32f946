#include "daemon/version.h"

#include <fmt/format.h>

#include "daemon/kill_points.h"
#include "events/event.h"
#include "projections/cluster_state.h"
#include "tools/talk.h"

namespace karst::tools {

int version(const VersionOptions& options) {
  if (options.kill_points) {
    for (const std::string_view name : daemon::kKillPointNames) print_line(name);
    return kExitDone;
  }
  Json value;
  value["version"] = daemon::build_version();
  value["decision_version"] = daemon::decision_version();
  value["schema_version"] = events::kSchemaVersion;
  value["projection_version"] = projections::kProjectionVersion;
  print_value(value, options.format);
  return kExitDone;
}

}  // namespace karst::tools
