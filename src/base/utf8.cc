#include "base/utf8.h"

#include <cstdint>
#include <optional>

namespace karst::base {
namespace {

// The character at the beginning, which is removed; nothing when there is none.
std::optional<std::uint32_t> take(std::string_view& bytes) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned first = byte(0);
  const std::size_t length = first < 0x80                     ? 1
                             : first >= 0xc2 && first < 0xe0  ? 2
                             : first >= 0xe0 && first < 0xf0  ? 3
                             : first >= 0xf0 && first <= 0xf4 ? 4
                                                              : 0;
  if (length == 0 || bytes.size() < length) return std::nullopt;
  std::uint32_t character = length == 1 ? first : first & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return std::nullopt;
    character = character << 6 | (byte(i) & 0x3fU);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (character < kLeast[length] || character > 0x10ffff ||
      (character >= 0xd800 && character < 0xe000))
    return std::nullopt;
  bytes.remove_prefix(length);
  return character;
}

bool is_space(std::uint32_t c) {
  return c == ' ' || (c >= 9 && c <= 13) || c == 0x85 || c == 0xa0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f ||
         c == 0x3000;
}

}  // namespace

bool is_utf8(std::string_view bytes) {
  while (!bytes.empty())
    if (!take(bytes)) return false;
  return true;
}

bool has_unicode_space(std::string_view utf8) {
  while (!utf8.empty()) {
    const auto character = take(utf8);
    if (!character || is_space(*character)) return true;
  }
  return false;
}

std::string_view cut_utf8(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  while (bytes_max > 0 && (static_cast<unsigned char>(text[bytes_max]) & 0xc0U) == 0x80)
    --bytes_max;
  return text.substr(0, bytes_max);
}

std::string as_utf8(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const std::string_view before = bytes;
    if (take(bytes)) {
      text += before.substr(0, before.size() - bytes.size());
    } else {
      text += "\xef\xbf\xbd";
      bytes.remove_prefix(1);
    }
  }
  return text;
}

}  // namespace karst::base
