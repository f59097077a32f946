#include "base/ed25519.h"

#include <openssl/evp.h>
#include <openssl/pem.h>

#include <memory>

#include "base/check.h"

namespace karst::base {
namespace {

template <auto kFree>
struct Free {
  template <class T>
  void operator()(T* pointer) const {
    kFree(pointer);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Free<&EVP_PKEY_free>>;
using Context = std::unique_ptr<EVP_MD_CTX, Free<&EVP_MD_CTX_free>>;
using Bio = std::unique_ptr<BIO, Free<&BIO_free_all>>;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* bytes_of(std::string& text) {
  return reinterpret_cast<unsigned char*>(text.data());
}

Key private_key(std::string_view seed) {
  KARST_CHECK(seed.size() == kEd25519KeyBytes, "an Ed25519 seed has 32 bytes");
  Key key(
      EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, bytes_of(seed), kEd25519KeyBytes));
  KARST_CHECK(key != nullptr, "OpenSSL offers Ed25519");
  return key;
}

std::string seed_of(const EVP_PKEY* key) {
  std::string seed(kEd25519KeyBytes, '\0');
  std::size_t size = seed.size();
  KARST_CHECK(EVP_PKEY_get_raw_private_key(key, bytes_of(seed), &size) == 1 && size == seed.size(),
              "an Ed25519 key has a seed of 32 bytes");
  return seed;
}

int no_passphrase(char*, int, int, void*) {
  return -1;
}

}  // namespace

std::string ed25519_public_key(std::string_view seed) {
  const Key key = private_key(seed);
  std::string out(kEd25519KeyBytes, '\0');
  std::size_t size = out.size();
  KARST_CHECK(
      EVP_PKEY_get_raw_public_key(key.get(), bytes_of(out), &size) == 1 && size == out.size(),
      "an Ed25519 public key has 32 bytes");
  return out;
}

std::string ed25519_sign(std::string_view seed, std::string_view message) {
  const Key key = private_key(seed);
  const Context context(EVP_MD_CTX_new());
  std::string signature(kEd25519SignatureBytes, '\0');
  std::size_t size = signature.size();
  KARST_CHECK(EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
                  EVP_DigestSign(context.get(), bytes_of(signature), &size, bytes_of(message),
                                 message.size()) == 1,
              "signing cannot fail");
  return signature;
}

bool ed25519_holds(std::string_view public_key, std::string_view message,
                   std::string_view signature) {
  if (public_key.size() != kEd25519KeyBytes || signature.size() != kEd25519SignatureBytes)
    return false;
  const Key key(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, bytes_of(public_key),
                                            kEd25519KeyBytes));
  const Context context(EVP_MD_CTX_new());
  return key && context &&
         EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
         EVP_DigestVerify(context.get(), bytes_of(signature), signature.size(), bytes_of(message),
                          message.size()) == 1;
}

std::string new_ed25519_seed() {
  const Key key(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  KARST_CHECK(key != nullptr, "the system has entropy for a key");
  return seed_of(key.get());
}

std::optional<std::string> ed25519_seed_of_pem(std::string_view pem) {
  const Bio in(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  const Key key(PEM_read_bio_PrivateKey(in.get(), nullptr, no_passphrase, nullptr));
  if (!key || EVP_PKEY_get_base_id(key.get()) != EVP_PKEY_ED25519) return std::nullopt;
  return seed_of(key.get());
}

}  // namespace karst::base
