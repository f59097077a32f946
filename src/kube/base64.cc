#include "kube/base64.h"

#include <cstdint>

namespace karst::kube {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string encode_base64(std::string_view bytes) {
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t j = 0; j < 3; ++j)
      bits = bits << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0u);
    const std::size_t characters = bytes.size() - i >= 3 ? 4 : bytes.size() - i + 1;
    for (std::size_t j = 0; j < 4; ++j)
      out += j < characters ? kAlphabet[bits >> (18 - 6 * j) & 63] : '=';
  }
  return out;
}

std::optional<std::string> decode_base64(std::string_view text) {
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  bool padding = false;
  for (const char c : text) {
    if (c == '\n' || c == '\r' || c == ' ') continue;
    if (c == '=') {
      padding = true;
      continue;
    }
    const auto value = kAlphabet.find(c);
    if (value == std::string_view::npos || padding) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      out += static_cast<char>(bits >> count & 0xff);
    }
  }
  return out;
}

}  // namespace karst::kube
