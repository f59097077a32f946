// Why a claim did not become another instance type, for explain. It takes the state at that place.
#pragma once

#include "base/result.h"
#include "model/ids.h"
#include "tools/open_log.h"
#include "tools/talk.h"

namespace karst::tools {

// Of a story as explain tells it: for the command in it that makes a claim, a list of
// {"why", "instance_types"}, as reconcilers::ruled_out has it. Empty: the story has no such
// command, or what came before it was trimmed. Errors: those of engine::rebuild, but not kGone.
base::Result<Json> why_not(const ReadLog& log, const Json& story);

// A line a reason, with the first few types.
void print_why_not(const Json& reasons);

}  // namespace karst::tools
