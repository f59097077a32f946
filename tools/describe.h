// One line of text for any event, for explain, replay --step and log tail. Pure.
#pragma once

#include <string>

#include "events/body.h"
#include "events/event.h"

namespace karst::tools {

// What it says, without position and time: "launch default-abcde, attempt 1: c-4x spot in zone-a at
// $0.0421/h (provisioned)".
std::string describe(const events::Body& body);

// "  1234  2026-11-21T10:17:51.042Z  NodeClaimObserved  nodeclaim/default-abcde  …"
std::string event_line(const events::Event& event);

}  // namespace karst::tools
