// Bytes that may be UTF-8 (RFC 3629), and what comes from elsewhere made text that can be shown.
// Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace karst::base {

bool is_utf8(std::string_view bytes);
bool has_unicode_space(std::string_view utf8);  // a character that Unicode calls white space

// At most `bytes_max` bytes from the beginning, no character cut in two.
std::string_view cut_utf8(std::string_view text, std::size_t bytes_max);
// The same text with U+FFFD for every byte that belongs to no character.
std::string as_utf8(std::string_view bytes);

}  // namespace karst::base
