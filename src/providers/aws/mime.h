// MIME archives as cloud-init reads them: parts in order, one boundary. Only what user data needs.
// Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace karst::providers::aws {

inline constexpr std::size_t kMimePartsMax = 64;

struct MimePart {
  std::string headers;  // without the empty line that ends them
  std::string body;
};

// Whether the text says that it is an archive.
bool is_mime(std::string_view text);

// The parts of an archive. Errors: kInvalid.
base::Result<std::vector<MimePart>> read_mime(std::string_view text);

// Errors: kInvalid when a body holds our boundary.
base::Result<std::string> write_mime(const std::vector<MimePart>& parts);

}  // namespace karst::providers::aws
