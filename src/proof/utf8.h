// Whether bytes are UTF-8 (RFC 3629), and have a character that Unicode calls white space. Pure.
#pragma once

#include <string_view>

namespace karst::proof {

bool is_utf8(std::string_view bytes);
bool has_unicode_space(std::string_view utf8);

}  // namespace karst::proof
