// A simulated log in a file, so that another program can decide over it: log id, then each event as
// (size, stored bytes).
#pragma once

#include <memory>
#include <string>

#include "sim/disk_log.h"

namespace karst::simulation {

bool save_log(const sim::DiskLog& log, const std::string& path);
// nullptr when the file cannot be read.
std::unique_ptr<sim::DiskLog> load_log(const std::string& path);

// An event of a log as a record that can be appended to another.
events::Record record_of(const events::Event& event);

}  // namespace karst::simulation
