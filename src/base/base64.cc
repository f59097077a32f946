#include "base/base64.h"

#include <array>
#include <cstdint>
#include <cstring>

namespace karst::base {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Both characters of each 12 bits: half the look-ups of one character at a time.
constexpr std::size_t kPairs = 1 << 12;
constexpr std::array<char, 2 * kPairs> make_pairs() {
  std::array<char, 2 * kPairs> pairs{};
  for (std::size_t i = 0; i < kPairs; ++i) {
    pairs[2 * i] = kAlphabet[i >> 6];
    pairs[2 * i + 1] = kAlphabet[i & 63];
  }
  return pairs;
}
constexpr std::array<char, 2 * kPairs> kPairOf = make_pairs();

constexpr std::uint8_t kNone = 64;

constexpr std::array<std::uint8_t, 256> make_values() {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNone);
  for (std::size_t i = 0; i < kAlphabet.size(); ++i)
    values[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
  return values;
}
constexpr std::array<std::uint8_t, 256> kValues = make_values();

}  // namespace

void encode_base64(std::string_view bytes, std::string& out) {
  const std::size_t begin = out.size();
  out.resize(begin + (bytes.size() + 2) / 3 * 4);
  char* to = out.data() + begin;
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i]));
  };
  const auto put_pair = [&](std::uint32_t bits) {
    std::memcpy(to, &kPairOf[2 * (bits & (kPairs - 1))], 2);
    to += 2;
  };
  std::size_t i = 0;
  for (; i + 3 <= bytes.size(); i += 3) {
    const std::uint32_t bits = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    put_pair(bits >> 12);
    put_pair(bits);
  }
  if (i == bytes.size()) return;
  const bool two = bytes.size() - i == 2;
  const std::uint32_t bits = byte(i) << 16 | (two ? byte(i + 1) << 8 : 0U);
  put_pair(bits >> 12);
  to[0] = two ? kAlphabet[bits >> 6 & 63] : '=';
  to[1] = '=';
}

std::string encode_base64(std::string_view bytes) {
  std::string out;
  encode_base64(bytes, out);
  return out;
}

std::optional<std::string> decode_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  std::string out;
  out.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool pad = i >= text.size() - padding;
    const std::uint8_t value = pad ? 0 : kValues[static_cast<unsigned char>(text[i])];
    if (value == kNone) return std::nullopt;
    bits = bits << 6 | value;
    if (i % 4 != 3) continue;
    for (const unsigned shift : {16U, 8U, 0U}) out += static_cast<char>(bits >> shift & 0xff);
    bits = 0;
  }
  for (; padding > 0; --padding) {
    if (out.back() != '\0') return std::nullopt;  // bits that mean nothing
    out.pop_back();
  }
  return out;
}

std::optional<std::string> decode_base64_text(std::string_view text) {
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
    const std::uint8_t value = kValues[static_cast<unsigned char>(c)];
    if (value == kNone || padding) return std::nullopt;
    bits = bits << 6 | value;
    count += 6;
    if (count >= 8) {
      count -= 8;
      out += static_cast<char>(bits >> count & 0xff);
    }
  }
  return out;
}

}  // namespace karst::base
