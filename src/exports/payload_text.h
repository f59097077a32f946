// The payload of an event as JSON, with what may hold a node's user data replaced by its SHA-256
// and length: the bytes of a launch order, and `userData` in a node class. Everything else is as
// events/json_text.h renders it.
#pragma once

#include <string>

#include "base/result.h"
#include "events/event.h"

namespace karst::exports {

// Errors: kCorrupt, with the position, for text that is not UTF-8.
base::Result<std::string> payload_text(const events::Event& event);

}  // namespace karst::exports
