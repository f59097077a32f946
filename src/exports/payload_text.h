// The payload of an event as JSON, for tables: as `log dump` has it, but that the bytes of a launch
// order are the text that they are, not a list of numbers.
#pragma once

#include <string>

#include "base/result.h"
#include "events/event.h"

namespace karst::exports {

// Errors: those of events::payload_json, with the position.
base::Result<std::string> payload_text(const events::Event& event);

}  // namespace karst::exports
