// One short line per event, for --trace.
#pragma once

#include <string>

#include "events/event.h"

namespace karst::simulation {

// Empty for events that only repeat what others show (shapes, beats).
std::string trace_line(const events::Event& event, std::int64_t start_millis);
std::string trace_time(std::int64_t millis, std::int64_t start_millis);

}  // namespace karst::simulation
