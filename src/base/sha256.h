// SHA-256 and HMAC-SHA-256 (FIPS 180-4, RFC 2104) over OpenSSL's EVP, and base32 without padding in
// lower case (RFC 4648, section 6).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace karst::base {

using Sha256Digest = std::array<std::uint8_t, 32>;

inline std::string_view as_text(const Sha256Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

// Incremental hash. One owner, one thread. finish() may be called once.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  Sha256& update(std::span<const std::uint8_t> bytes);
  Sha256& update(std::string_view text);
  Sha256Digest finish();

 private:
  void* context_;
};

Sha256Digest sha256(std::string_view bytes);
Sha256Digest sha256_of(std::initializer_list<std::string_view> parts);  // one behind the other
Sha256Digest hmac_sha256(std::string_view key, std::string_view bytes);

// 5 bits a character, alphabet a-z2-7, no padding: 32 bytes become 52 characters.
std::string base32_lower(std::span<const std::uint8_t> bytes);
std::string hex_lower(std::span<const std::uint8_t> bytes);

}  // namespace karst::base
