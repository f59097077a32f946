// Base64 as RFC 4648 section 4 has it. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace karst::base {

std::string encode_base64(std::string_view bytes);
void encode_base64(std::string_view bytes, std::string& out);  // appends

// Exactly what encode_base64 gives for some bytes: padded, no other characters, no stray bits at
// the end. So each text has one reading and each bytes have one text. Nothing when it is not that.
std::optional<std::string> decode_base64(std::string_view text);

// As people and configuration files write it: blanks and line ends between the characters are
// passed over, padding may be missing. Nothing when it is not base64.
std::optional<std::string> decode_base64_text(std::string_view text);

}  // namespace karst::base
