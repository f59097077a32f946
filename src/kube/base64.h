// Base64 as RFC 4648 section 4 has it. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace karst::kube {

std::string encode_base64(std::string_view bytes);

// Blanks and line ends between the characters are passed over. Nothing when it is not base64.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace karst::kube
