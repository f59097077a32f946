#include "proof/note.h"

#include <algorithm>
#include <charconv>

#include "base/base64.h"
#include "base/check.h"
#include "base/ed25519.h"
#include "base/sha256.h"
#include "base/utf8.h"

namespace karst::proof {
namespace {

constexpr char kEd25519 = 1;
constexpr std::string_view kDash = "\xe2\x80\x94 ";
constexpr std::string_view kPrivate = "PRIVATE+KEY+";
constexpr std::string_view kPem = "-----BEGIN ";
constexpr std::size_t kIdBytes = 4;

std::string id_bytes(std::uint32_t id) {
  std::string bytes;
  for (const unsigned shift : {24U, 16U, 8U, 0U}) bytes += static_cast<char>(id >> shift & 0xff);
  return bytes;
}

std::uint32_t id_of(std::string_view bytes) {
  std::uint32_t id = 0;
  for (std::size_t i = 0; i < kIdBytes; ++i) id = id << 8 | static_cast<unsigned char>(bytes[i]);
  return id;
}

std::string id_hex(std::uint32_t id) {
  const std::string bytes = id_bytes(id);
  return base::hex_lower({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

tl::unexpected<base::Error> no_key(const std::string& why) {
  return base::fail(base::Kind::kInvalid,
                    "this is no key as signed notes have them (NAME+ID+BASE64): " + why);
}

tl::unexpected<base::Error> no_key_file(const std::string& why) {
  return base::fail(base::Kind::kInvalid,
                    why +
                        ". Expected an Ed25519 key without a passphrase: PEM (made by 'openssl "
                        "genpkey -algorithm ed25519') or PRIVATE+KEY+NAME+ID+BASE64 (made by "
                        "'karst audit keygen')");
}

struct KeyParts {
  std::string name;
  std::uint32_t id = 0;
  std::string bytes;  // without the algorithm
};

base::Result<KeyParts> parse_key(std::string_view text) {
  if (text.empty()) return no_key("it is empty");
  if (text.size() > kKeyTextMax)
    return no_key("it has " + std::to_string(text.size()) + " characters, at most " +
                  std::to_string(kKeyTextMax) + " are expected");
  const std::size_t first = text.find('+');
  const std::size_t second = first == text.npos ? text.npos : text.find('+', first + 1);
  if (second == text.npos) return no_key("it has not three parts");
  KeyParts parts;
  parts.name = text.substr(0, first);
  if (!good_key_name(parts.name)) return no_key("its name is empty or has characters of no name");
  const std::string_view hex = text.substr(first + 1, second - first - 1);
  const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), parts.id, 16);
  if (hex.size() != 8 || error != std::errc() || end != hex.data() + hex.size() ||
      id_hex(parts.id) != hex)
    return no_key("its ID is not 8 hexadecimal digits");
  const auto bytes = base::decode_base64(text.substr(second + 1));
  if (!bytes) return no_key("its last part is not base64");
  if (bytes->size() != 1 + base::kEd25519KeyBytes)
    return no_key("its last part has " + std::to_string(bytes->size()) +
                  " bytes, expected 33: a 1 for Ed25519, and 32 of a key");
  if (bytes->front() != kEd25519)
    return no_key("its last part does not begin with a 1, which stands for Ed25519");
  parts.bytes = bytes->substr(1);
  return parts;
}

bool good_text(std::string_view text) {
  return base::is_utf8(text) && std::all_of(text.begin(), text.end(), [](char c) {
           return static_cast<unsigned char>(c) >= 0x20 || c == '\n';
         });
}

tl::unexpected<base::Error> no_note(const std::string& why) {
  return base::fail(base::Kind::kInvalid, "this is no signed note: " + why);
}

base::Result<NoteSignature> parse_signature(std::string_view line) {
  if (!line.starts_with(kDash)) return no_note("a signature line does not begin with a dash");
  line.remove_prefix(kDash.size());
  const std::size_t blank = line.find(' ');
  if (blank == line.npos) return no_note("a signature line has no signature");
  NoteSignature signature;
  signature.name = line.substr(0, blank);
  const auto bytes = base::decode_base64(line.substr(blank + 1));
  if (!good_key_name(signature.name)) return no_note("a signature line has no key's name");
  if (!bytes || bytes->size() <= kIdBytes) return no_note("a signature is not base64");
  signature.id = id_of(*bytes);
  signature.bytes = bytes->substr(kIdBytes);
  return signature;
}

}  // namespace

bool good_key_name(std::string_view name) {
  return !name.empty() && good_text(name) && !base::has_unicode_space(name) &&
         name.find_first_of("+\n") == name.npos;
}

VerifierKey verifier_key(std::string name, std::string public_key) {
  KARST_CHECK(good_key_name(name), "callers check names of keys");
  VerifierKey key{std::move(name), 0, std::move(public_key)};
  const base::Sha256Digest digest = base::sha256(key.name + "\n" + kEd25519 + key.public_key);
  key.id = id_of({reinterpret_cast<const char*>(digest.data()), kIdBytes});
  return key;
}

VerifierKey SignerKey::verifier() const {
  return verifier_key(name, base::ed25519_public_key(seed));
}

std::string VerifierKey::text() const {
  return name + "+" + id_hex(id) + "+" + base::encode_base64(kEd25519 + public_key);
}

std::string SignerKey::text() const {
  return std::string(kPrivate) + name + "+" + id_hex(verifier().id) + "+" +
         base::encode_base64(kEd25519 + seed);
}

base::Result<VerifierKey> parse_verifier_key(std::string_view text) {
  if (text.starts_with(kPrivate))
    return no_key(
        "it is a secret one, that signs; expected the public one, which 'karst audit "
        "keygen' printed");
  if (text.starts_with(kPem))
    return no_key("it is PEM; trails and proofs that its signer made name the public key");
  auto parts = parse_key(text);
  if (!parts) return base::fail(parts.error());
  VerifierKey key = verifier_key(std::move(parts->name), std::move(parts->bytes));
  if (key.id != parts->id) return no_key("its ID is not that of its name and key");
  return key;
}

base::Result<SignerKey> parse_signer_key(std::string_view text) {
  if (!text.starts_with(kPrivate)) return no_key("a signer's key begins with PRIVATE+KEY+");
  auto parts = parse_key(text.substr(kPrivate.size()));
  if (!parts) return base::fail(parts.error());
  SignerKey key{std::move(parts->name), std::move(parts->bytes)};
  if (key.verifier().id != parts->id) return no_key("its ID is not that of its name and key");
  return key;
}

base::Result<SignerKey> parse_key_file(std::string_view bytes, const std::string& name) {
  while (!bytes.empty() && (bytes.back() == '\n' || bytes.back() == '\r')) bytes.remove_suffix(1);
  if (bytes.empty()) return no_key_file("it is empty");
  if (bytes.starts_with(kPrivate)) return parse_signer_key(bytes);
  if (auto seed = base::ed25519_seed_of_pem(bytes)) return SignerKey{name, std::move(*seed)};
  if (bytes.starts_with("-----BEGIN PUBLIC KEY") || parse_verifier_key(bytes))
    return no_key_file("it holds a public key, which signs nothing");
  if (bytes.starts_with("-----BEGIN ENCRYPTED"))
    return no_key_file("its key has a passphrase, which nobody could type");
  if (bytes.starts_with(kPem))
    return no_key_file("its PEM is damaged, or holds something else than an Ed25519 key");
  return no_key_file("it is neither of the two forms of a key");
}

base::Result<Note> parse_note(std::string_view bytes) {
  if (bytes.size() > kNoteBytesMax) return no_note("it is too long");
  if (!good_text(bytes)) return no_note("it is not UTF-8 without control characters");
  const std::size_t gap = bytes.rfind("\n\n");
  if (gap == bytes.npos) return no_note("it has no empty line before signatures");
  Note note;
  note.text = bytes.substr(0, gap + 1);
  std::string_view rest = bytes.substr(gap + 2);
  if (rest.empty() || rest.back() != '\n')
    return no_note("its signatures do not end in a line end");
  while (!rest.empty()) {
    if (note.signatures.size() == kSignaturesMax) return no_note("it has too many signatures");
    const std::size_t end = rest.find('\n');
    auto signature = parse_signature(rest.substr(0, end));
    if (!signature) return base::fail(signature.error());
    note.signatures.push_back(std::move(*signature));
    rest.remove_prefix(end + 1);
  }
  return note;
}

std::string sign_note(std::string_view text, const SignerKey& key) {
  KARST_CHECK(good_text(text) && text.ends_with('\n'), "notes are good text");
  const std::string signature = id_bytes(key.verifier().id) + base::ed25519_sign(key.seed, text);
  return std::string(text) + "\n" + std::string(kDash) + key.name + " " +
         base::encode_base64(signature) + "\n";
}

Signed signed_by(const Note& note, const VerifierKey& key) {
  Signed found = Signed::kNotByIt;
  for (const NoteSignature& signature : note.signatures) {
    if (signature.name != key.name || signature.id != key.id) continue;
    if (!base::ed25519_holds(key.public_key, note.text, signature.bytes)) return Signed::kBroken;
    found = Signed::kHolds;
  }
  return found;
}

}  // namespace karst::proof
