// Reads a whole small file: shared settings and projected tokens. Blocks for as long as the file
// system does, which for these files is a read from memory.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace karst::cloud::aws {

// Errors: kGone: there is none; kInvalid: it cannot be read, or is larger. They name the path and
// never quote the file.
base::Result<std::string> read_small_file(const std::string& path, std::size_t bytes_max);

}  // namespace karst::cloud::aws
