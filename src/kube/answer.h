// What an answer of the API server means for the command that asked: done, refused, or unclear.
#pragma once

#include <string>

#include "http/transport.h"
#include "model/command.h"
#include "ports/outcome.h"

namespace karst::kube {

// Whether the request could change something. A read that failed has had no effect, whatever went
// wrong.
enum class Asked { kRead, kWrite };

// The outcome for an answer that is no success. Cut connections, time-outs and 5xx after a write
// are unclear.
model::Outcome failed(const ports::IssuedCommand& command, const http::Response& response,
                      Asked asked);

// "<command id>-<attempt>".
std::string audit_id(const ports::IssuedCommand& command);

}  // namespace karst::kube
