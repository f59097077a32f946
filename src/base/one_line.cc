#include "base/one_line.h"

#include <cstddef>

namespace karst::base {
namespace {

void append_escaped(std::string& text, unsigned char byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  text += "\\x";
  text += kDigits[byte >> 4];
  text += kDigits[byte & 0xf];
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F are control characters too: C2 80 to C2 9F. So are, to many, U+2028 and
    // U+2029, which end a line and a paragraph: E2 80 A8 and A9.
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    const std::string_view three = text.substr(i, 3);
    if (byte == 0xc2 && next >= 0x80 && next < 0xa0) {
      append_escaped(shown, static_cast<unsigned char>(text[++i]));
    } else if (three == "\xe2\x80\xa8" || three == "\xe2\x80\xa9") {
      shown += three.back() == '\xa8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else if (byte < 0x20 || byte == 0x7f) {
      append_escaped(shown, byte);
    } else {
      shown += text[i];
    }
  }
  return shown;
}

}  // namespace karst::base
