#include "daemon/process_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "daemon/metrics_text.h"

namespace karst::daemon {
namespace {

std::int64_t open_files() {
  std::error_code failed;
  std::int64_t count = 0;
  for (std::filesystem::directory_iterator at("/proc/self/fd", failed), end; !failed && at != end;
       at.increment(failed))
    ++count;
  return count;
}

}  // namespace

std::string process_metrics_text() {
  MetricsText text;
  std::int64_t pages = 0, resident = 0;
  if (std::ifstream("/proc/self/statm") >> pages >> resident) {
    text.family("process_resident_memory_bytes", MetricType::kGauge, "Memory in use.");
    text.sample(resident * sysconf(_SC_PAGESIZE));
    text.family("process_virtual_memory_bytes", MetricType::kGauge, "Address space in use.");
    text.sample(pages * sysconf(_SC_PAGESIZE));
  }
  rusage used{};
  if (getrusage(RUSAGE_SELF, &used) == 0) {
    text.family("process_cpu_seconds_total", MetricType::kCounter, "Processor time taken.");
    text.sample_scaled((used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000 +
                           (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1000,
                       3);
  }
  if (const std::int64_t files = open_files(); files > 0) {
    text.family("process_open_fds", MetricType::kGauge, "Open files and connections.");
    text.sample(files);
  }
  return text.take();
}

}  // namespace karst::daemon
