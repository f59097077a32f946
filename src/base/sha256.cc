#include "base/sha256.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/check.h"

namespace karst::base {
namespace {
EVP_MD_CTX* as_context(void* context) {
  return static_cast<EVP_MD_CTX*>(context);
}

// Fetched once: EVP_sha256() would look it up again, under a lock, for every hash.
const EVP_MD* algorithm() {
  static const EVP_MD* const fetched = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  KARST_CHECK(fetched != nullptr, "OpenSSL offers SHA-256");
  return fetched;
}
}  // namespace

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  KARST_CHECK(context_ != nullptr, "out of memory for a hash context");
  KARST_CHECK(EVP_DigestInit_ex(as_context(context_), algorithm(), nullptr) == 1,
              "OpenSSL offers SHA-256");
}

Sha256::~Sha256() {
  EVP_MD_CTX_free(as_context(context_));
}

Sha256& Sha256::update(std::span<const std::uint8_t> bytes) {
  KARST_CHECK(EVP_DigestUpdate(as_context(context_), bytes.data(), bytes.size()) == 1,
              "hash update cannot fail");
  return *this;
}

Sha256& Sha256::update(std::string_view text) {
  return update({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

Sha256Digest Sha256::finish() {
  Sha256Digest digest;
  KARST_CHECK(EVP_DigestFinal_ex(as_context(context_), digest.data(), nullptr) == 1,
              "hash final cannot fail");
  return digest;
}

Sha256Digest sha256(std::string_view bytes) {
  Sha256Digest digest;
  KARST_CHECK(
      EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, algorithm(), nullptr) == 1,
      "hash cannot fail");
  return digest;
}

Sha256Digest hmac_sha256(std::string_view key, std::string_view bytes) {
  Sha256Digest digest;
  unsigned length = 0;
  KARST_CHECK(HMAC(algorithm(), key.data(), static_cast<int>(key.size()),
                   reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
                   digest.data(), &length) != nullptr,
              "HMAC cannot fail");
  return digest;
}

std::string base32_lower(std::span<const std::uint8_t> bytes) {
  constexpr char kAlphabet[] = "abcdefghijklmnopqrstuvwxyz234567";
  std::string text;
  text.reserve((bytes.size() * 8 + 4) / 5);
  std::uint32_t buffer = 0;
  int bits = 0;
  for (const std::uint8_t byte : bytes) {
    buffer = (buffer << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text.push_back(kAlphabet[(buffer >> bits) & 31]);
    }
  }
  if (bits > 0) text.push_back(kAlphabet[(buffer << (5 - bits)) & 31]);
  return text;
}

std::string hex_lower(std::span<const std::uint8_t> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::uint8_t byte : bytes) {
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

}  // namespace karst::base
