// Ed25519 signatures (RFC 8032) over OpenSSL's EVP. Keys are their raw 32 bytes. Pure, but for
// new_ed25519_seed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace karst::base {

inline constexpr std::size_t kEd25519KeyBytes = 32;
inline constexpr std::size_t kEd25519SignatureBytes = 64;

// REQUIRES for a seed (the private key): kEd25519KeyBytes bytes.
std::string ed25519_public_key(std::string_view seed);
std::string ed25519_sign(std::string_view seed, std::string_view message);
// False too for keys and signatures of other lengths.
bool ed25519_holds(std::string_view public_key, std::string_view message,
                   std::string_view signature);

std::string new_ed25519_seed();  // from the system's entropy

// PKCS#8 in PEM, as `openssl genpkey -algorithm ed25519` writes it, without a passphrase. Nothing
// when it is not that.
std::optional<std::string> ed25519_seed_of_pem(std::string_view pem);

}  // namespace karst::base
