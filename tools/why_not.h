// Why a claim did not become another instance type, for explain. It takes the state at that place.
#pragma once

#include "base/result.h"
#include "model/ids.h"
#include "tools/open_log.h"
#include "tools/talk.h"

namespace karst::tools {

struct WhyNot {
  Json reasons = Json::array();  // {"why", "instance_types"}, as reconcilers::ruled_out has it
  std::string unknown;           // why there are none; empty: they are known
};

// Of the claim that the command at `created` makes; 0: the log has no such command. Errors: those
// of engine::rebuild, but not kGone.
base::Result<WhyNot> why_not(const ReadLog& log, model::Position created);

// A line a reason, with the first few types, or that nothing is known.
void print_why_not(const WhyNot& known);

}  // namespace karst::tools
