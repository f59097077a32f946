// `karst run --embedded`: the daemon over a simulated world in real time, told as a story. No
// cluster, no cloud.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "daemon/store.h"

namespace karst::daemon {

inline constexpr std::int64_t kSpeedMax = 1000;

struct EmbeddedSettings {
  std::int64_t speed = 1;       // 1 to kSpeedMax
  std::int64_t for_millis = 0;  // of real time; 0: until a stop signal
  std::uint64_t seed = 0;
  std::string listen;         // HOST:PORT of health and metrics
  bool listen_asked = false;  // otherwise a taken port is told and gone without
  bool color = false;
  // Receipts are appended here, a line each, before their message is deleted: for tests. Empty:
  // nowhere.
  std::string acknowledged_file;
  std::uint64_t snapshot_distance = 0;  // positions between two snapshots; 0: the engine's own
};

// Until a stop signal or the end of the time. Call block_stop_signals() first.
base::Status run_embedded(Store& store, const EmbeddedSettings& settings);

}  // namespace karst::daemon
