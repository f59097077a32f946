#include "base/sha256.h"

#include <openssl/evp.h>

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

namespace {

// One of this thread's own: making one costs more than hashing a short text.
struct ThreadContext {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ThreadContext() = default;
  ThreadContext(const ThreadContext&) = delete;
  ThreadContext& operator=(const ThreadContext&) = delete;
  ~ThreadContext() { EVP_MD_CTX_free(context); }
};

}  // namespace

Sha256Digest sha256_of(std::initializer_list<std::string_view> parts) {
  thread_local const ThreadContext own;
  bool good = EVP_DigestInit_ex(own.context, algorithm(), nullptr) == 1;
  for (const std::string_view part : parts)
    good = good && EVP_DigestUpdate(own.context, part.data(), part.size()) == 1;
  Sha256Digest digest;
  KARST_CHECK(good && EVP_DigestFinal_ex(own.context, digest.data(), nullptr) == 1,
              "hash cannot fail");
  return digest;
}

Sha256Digest sha256(std::string_view bytes) {
  return sha256_of({bytes});
}

Sha256Digest hmac_sha256(std::string_view key, std::string_view bytes) {
  constexpr std::size_t kBlock = 64;  // of SHA-256
  const Sha256Digest short_key = key.size() > kBlock ? sha256(key) : Sha256Digest{};
  if (key.size() > kBlock) key = as_text(short_key);
  char inner[kBlock] = {}, outer[kBlock];
  key.copy(inner, kBlock);
  for (std::size_t i = 0; i < kBlock; ++i) {
    outer[i] = static_cast<char>(inner[i] ^ 0x5c);
    inner[i] = static_cast<char>(inner[i] ^ 0x36);
  }
  const Sha256Digest digest = sha256_of({{inner, kBlock}, bytes});
  return sha256_of({{outer, kBlock}, as_text(digest)});
}

std::string base32_lower(std::span<const std::uint8_t> bytes) {
  constexpr char kBase32[] = "abcdefghijklmnopqrstuvwxyz234567";
  std::string text;
  text.reserve((bytes.size() * 8 + 4) / 5);
  std::uint32_t buffer = 0;
  int bits = 0;
  for (const std::uint8_t byte : bytes) {
    buffer = (buffer << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text.push_back(kBase32[(buffer >> bits) & 31]);
    }
  }
  if (bits > 0) text.push_back(kBase32[(buffer << (5 - bits)) & 31]);
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
