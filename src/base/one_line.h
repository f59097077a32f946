// What comes from elsewhere, as a part of one line on a terminal. Pure.
#pragma once

#include <string>
#include <string_view>

namespace karst::base {

// The same text with "\\x1b" for each control character, line ends too: a name from outside must
// neither steer a terminal nor begin a line of its own.
std::string one_line(std::string_view text);

}  // namespace karst::base
