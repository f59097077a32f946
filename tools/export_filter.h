// The filter of an export, held against the log that it is for.
#pragma once

#include "base/result.h"
#include "exports/filter.h"
#include "tools/open_log.h"

namespace karst::tools {

// Errors: kInvalid names the option and what was expected; those of the log. A command/ID must be a
// command, where the log still has that position.
base::Result<exports::Filter> filter_of(const exports::FilterOptions& options, const ReadLog& log);

// On stderr, that no event fits what was asked for (`asked`, as Filter::text() has it), and what
// the log has: an empty answer looks like one that failed.
void say_nothing_fits(const std::string& asked, const ReadLog& log);

}  // namespace karst::tools
