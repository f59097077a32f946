#include "proof/note.h"

#include <gtest/gtest.h>

#include "base/ed25519.h"
#include "base/utf8.h"
#include "proof/checkpoint.h"

namespace karst::proof {
namespace {

// The key of RFC 8032 section 7.1, test 1.
const std::string kSeed = [] {
  std::string seed;
  for (const char* hex = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"; *hex;
       hex += 2)
    seed += static_cast<char>(std::stoi(std::string(hex, 2), nullptr, 16));
  return seed;
}();

std::string hex(const std::string& bytes) {
  return base::hex_lower({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

TEST(Ed25519, IsThatOfRfc8032) {
  const std::string key = base::ed25519_public_key(kSeed);
  EXPECT_EQ(hex(key), "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
  const std::string signature = base::ed25519_sign(kSeed, "");
  EXPECT_EQ(
      hex(signature),
      "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701c"
      "f9b46bd25bf5f0595bbe24655141438e7a100b");
  EXPECT_TRUE(base::ed25519_holds(key, "", signature));
  EXPECT_FALSE(base::ed25519_holds(key, "x", signature));
  EXPECT_FALSE(base::ed25519_holds(key.substr(1), "", signature));
  EXPECT_FALSE(base::ed25519_holds(key, "", signature.substr(1)));
  EXPECT_NE(base::new_ed25519_seed(), base::new_ed25519_seed());
}

TEST(Ed25519, KeysComeAsPkcs8) {
  // What `openssl genpkey -algorithm ed25519` writes for the key above.
  const std::string pem =
      "-----BEGIN PRIVATE KEY-----\n"
      "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n"
      "-----END PRIVATE KEY-----\n";
  EXPECT_EQ(base::ed25519_seed_of_pem(pem), kSeed);
  EXPECT_EQ(base::ed25519_seed_of_pem(pem.substr(0, 60)), std::nullopt);
  EXPECT_EQ(base::ed25519_seed_of_pem(""), std::nullopt);
  auto key = parse_key_file(pem, "karst.dev/log");
  ASSERT_TRUE(key);
  EXPECT_EQ(key->name, "karst.dev/log");
  EXPECT_EQ(key->seed, kSeed);
}

// The example keys and notes of the documentation of Go's package
// golang.org/x/mod/sumdb/note (its verifier key, and the note that it signed).
TEST(Note, ReadsWhatGoWrites) {
  auto key =
      parse_verifier_key("PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW");
  ASSERT_TRUE(key) << key.error().message;
  const std::string bytes =
      "If you think cryptography is the answer to your problem,\n"
      "then you don't know what your problem is.\n"
      "\n"
      "\xe2\x80\x94 PeterNeumann "
      "x08go/ZJkuBS9UG/"
      "SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";
  auto note = parse_note(bytes);
  ASSERT_TRUE(note) << note.error().message;
  EXPECT_EQ(signed_by(*note, *key), Signed::kHolds);
  EXPECT_EQ(key->text(), "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW");
  note->text[0] = 'i';
  EXPECT_EQ(signed_by(*note, *key), Signed::kBroken);
}

TEST(Note, WhatIsSignedHolds) {
  const SignerKey signer{"karst.dev/log", kSeed};
  auto note = parse_note(sign_note("one\n\ntwo\n", signer));
  ASSERT_TRUE(note) << note.error().message;
  EXPECT_EQ(note->text, "one\n\ntwo\n");
  EXPECT_EQ(signed_by(*note, signer.verifier()), Signed::kHolds);
  const SignerKey other{"karst.dev/other", kSeed};
  EXPECT_EQ(signed_by(*note, other.verifier()), Signed::kNotByIt);
  auto again = parse_signer_key(signer.text());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->seed, kSeed);
  auto verifier = parse_verifier_key(signer.verifier().text());
  ASSERT_TRUE(verifier);
  EXPECT_EQ(*verifier, signer.verifier());
}

TEST(Note, WhatIsNoneIsRefused) {
  const std::string signature = "\xe2\x80\x94 a AAAAAAA=\n";
  const struct {
    const char* name;
    std::string bytes;
  } cases[] = {
      {"nothing", ""},
      {"no signature", "text\n"},
      {"no signature after the gap", "text\n\n"},
      {"control character", "te\x01xt\n\n" + signature},
      {"tab", "te\txt\n\n" + signature},
      {"not UTF-8", "te\xffxt\n\n" + signature},
      {"no dash", "text\n\n- a AAAAAAA=\n"},
      {"no end", "text\n\n\xe2\x80\x94 a AAAAAAA="},
      {"too short", "text\n\n\xe2\x80\x94 a AAAA\n"},
      {"not base64", "text\n\n\xe2\x80\x94 a AAAAAAB=\n"},
      {"plus in a name", "text\n\n\xe2\x80\x94 a+b AAAAAAA=\n"},
      {"too long", std::string(kNoteBytesMax, 'a') + "\n\n" + signature},
  };
  EXPECT_TRUE(parse_note("text\n\n" + signature));
  for (const auto& c : cases) EXPECT_FALSE(parse_note(c.bytes)) << c.name;
}

TEST(Note, KeysThatAreNoneAreRefusedWithoutShowingSecrets) {
  const SignerKey signer{"n", kSeed};
  const std::string verifier = signer.verifier().text(), secret = signer.text();
  for (const std::string& bad :
       {std::string(), std::string("n"), std::string("n+00000000"), verifier + "A",
        "m" + verifier.substr(1), "n+" + verifier.substr(3), " " + verifier, secret})
    EXPECT_FALSE(parse_verifier_key(bad)) << bad;
  for (std::size_t i = 0; i < secret.size(); ++i) {
    std::string bad = secret;
    bad[i] ^= 1;
    auto parsed = parse_signer_key(bad);
    ASSERT_FALSE(parsed) << bad;
    EXPECT_EQ(parsed.error().message.find(secret.substr(secret.size() - 20)), std::string::npos);
  }
  EXPECT_FALSE(parse_key_file("what", "n"));
}

TEST(Utf8, Table) {
  for (const char* good :
       {"", "a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf"})
    EXPECT_TRUE(base::is_utf8(good)) << good;
  for (const char* bad : {"\x80", "\xc0\xaf", "\xc3", "\xe0\x80\x80", "\xed\xa0\x80",
                          "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "\xe2\x82"})
    EXPECT_FALSE(base::is_utf8(bad));
  EXPECT_TRUE(base::has_unicode_space("a\xe2\x80\x83z"));
  EXPECT_TRUE(base::has_unicode_space("\xc2\xa0"));
  EXPECT_FALSE(base::has_unicode_space("\xc3\xa9"));
}

TEST(Checkpoint, IsTheSpecificationsText) {
  // The example of https://c2sp.org/tlog-checkpoint.
  const std::string text =
      "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n";
  auto checkpoint = parse_checkpoint(text);
  ASSERT_TRUE(checkpoint) << checkpoint.error().message;
  EXPECT_EQ(checkpoint->origin, "example.com/behind-the-sofa");
  EXPECT_EQ(checkpoint->size, 20852163U);
  EXPECT_EQ(checkpoint->text(), text);
  EXPECT_EQ(origin_of(model::LogId("x")), "karst.dev/x");
}

TEST(Checkpoint, WhatIsNoneIsRefused) {
  const std::string root = "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n";
  for (const std::string& bad :
       {std::string(), "o\n1\n" + root.substr(0, 40), "o\n1\n" + root.substr(4), "\n1\n" + root,
        "o\n01\n" + root, "o\n-1\n" + root, "o\n\n" + root, "o\n1x\n" + root,
        "o\n9999999999999999999\n" + root, "o\n1\n" + root + "more\n", "o\n1\n" + root + "\n"})
    EXPECT_FALSE(parse_checkpoint(bad)) << bad;
}

}  // namespace
}  // namespace karst::proof
