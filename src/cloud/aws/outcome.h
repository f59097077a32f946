// What came of a call, as the outcome of a command; and the calls of the pure half as calls of the
// client. Pure.
#pragma once

#include <string>

#include "base/result.h"
#include "cloud/aws/client.h"
#include "model/outcome.h"
#include "ports/outcome.h"
#include "providers/aws/request.h"

namespace karst::cloud::aws {

// What a command is refused with; kRetry also stands for what says nothing about what was asked.
model::RefusalCode code_of(Trouble trouble);

enum class Asked { kRead, kWrite };
// A read that failed had no effect and may be asked again; a write may have had its effect.
model::Outcome failed(const ports::IssuedCommand& command, const CallError& error,
                      const std::string& action, Asked asked);

// REQUIRES: a service of the pure half (providers/aws/request.h).
Call call_of(providers::aws::Request request, Purpose purpose);

}  // namespace karst::cloud::aws
