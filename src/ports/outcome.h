// How a port begins what it reports of a command: done, or refused with the reason. Pure.
#pragma once

#include <string>

#include "model/outcome.h"
#include "ports/command_port.h"

namespace karst::ports {

// An outcome of this attempt, as yet "done".
model::Outcome done(const IssuedCommand& command);
// `message` is cut to model::kOutcomeMessageMax.
model::Outcome refused(const IssuedCommand& command, model::RefusalCode code, std::string message);

}  // namespace karst::ports
