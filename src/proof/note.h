// Signed notes, as https://c2sp.org/signed-note has them and Go's golang.org/x/mod/sumdb/note reads
// and writes them: text that ends in a line end, an empty line, and signature lines
//   — KEY-NAME base64(key ID, 4 bytes big-endian | Ed25519 signature of the text)
// Keys are text too: NAME+ID+base64(0x01 | public key) for who verifies, and
// PRIVATE+KEY+NAME+ID+base64(0x01 | seed) for who signs, with ID = the first 4 bytes of
// SHA-256(NAME | 0x0a | 0x01 | public key) in hex. Pure. Errors: kInvalid, and never with a private
// key's bytes in the message.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace karst::proof {

inline constexpr std::size_t kNoteBytesMax = 64 << 10;
inline constexpr std::size_t kSignaturesMax = 64;  // the specification asks for 16 at least
inline constexpr std::size_t kKeyTextMax = 1024;

struct VerifierKey {
  std::string name;
  std::uint32_t id = 0;
  std::string public_key;  // 32 bytes

  std::string text() const;
  friend bool operator==(const VerifierKey&, const VerifierKey&) = default;
};

struct SignerKey {
  std::string name;
  std::string seed;  // 32 bytes: the secret

  VerifierKey verifier() const;
  std::string text() const;
};

// A name is not empty, has no blanks, no '+', and no control characters. REQUIRES that of `name`.
VerifierKey verifier_key(std::string name, std::string public_key);
bool good_key_name(std::string_view name);

base::Result<VerifierKey> parse_verifier_key(std::string_view text);
base::Result<SignerKey> parse_signer_key(std::string_view text);
// What a key file holds: Go's signer format, or PKCS#8 in PEM, which has no name: `name` then.
base::Result<SignerKey> parse_key_file(std::string_view bytes, const std::string& name);

struct NoteSignature {
  std::string name;
  std::uint32_t id = 0;
  std::string bytes;
};

struct Note {
  std::string text;  // with its last line end
  std::vector<NoteSignature> signatures;
};

// Of one form only: what comes back from it is what went in, byte for byte.
base::Result<Note> parse_note(std::string_view bytes);
// REQUIRES: `text` is good note text (it ends in a line end, is UTF-8, has no control characters).
std::string sign_note(std::string_view text, const SignerKey& key);

enum class Signed {
  kNotByIt,  // no signature names this key
  kHolds,
  kBroken,  // one names it, and is not its signature of this text
};
Signed signed_by(const Note& note, const VerifierKey& key);

}  // namespace karst::proof
