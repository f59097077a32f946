// What the process itself takes, in the names of Prometheus's own collectors: memory, processor
// time, open files. Read from /proc at each call; what cannot be read is left out. Any thread.
#pragma once

#include <string>

namespace karst::daemon {

std::string process_metrics_text();

}  // namespace karst::daemon
