// Hashes and encodings against the vectors of FIPS 180-4, RFC 4231 and RFC 4648.
#include "base/sha256.h"

#include <gtest/gtest.h>

#include <vector>

namespace karst::base {
namespace {

std::string hex(std::string_view text) {
  return hex_lower(sha256(text));
}

TEST(Sha256, Vectors) {
  EXPECT_EQ("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", hex(""));
  EXPECT_EQ("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", hex("abc"));
  EXPECT_EQ("248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
            hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"));
  EXPECT_EQ("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
            hex(std::string(1'000'000, 'a')));
}

TEST(Sha256, PiecesMakeTheWhole) {
  const std::string text = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    Sha256 hash;
    hash.update(std::string_view(text).substr(0, cut)).update(std::string_view(text).substr(cut));
    EXPECT_EQ(sha256(text), hash.finish());
    EXPECT_EQ(sha256(text), sha256_of({std::string_view(text).substr(0, cut), "",
                                       std::string_view(text).substr(cut)}));
  }
}

TEST(Sha256, HmacVectors) {
  EXPECT_EQ("b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
            hex_lower(hmac_sha256(std::string(20, '\x0b'), "Hi There")));
  EXPECT_EQ("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            hex_lower(hmac_sha256("Jefe", "what do ya want for nothing?")));
  EXPECT_EQ("60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
            hex_lower(hmac_sha256(std::string(131, '\xaa'),
                                  "Test Using Larger Than Block-Size Key - Hash Key First")));
}

// RFC 4648, section 10, in lower case and without padding.
TEST(Base32, Vectors) {
  struct Case {
    const char* text;
    const char* want;
  };
  const Case cases[] = {{"", ""},
                        {"f", "my"},
                        {"fo", "mzxq"},
                        {"foo", "mzxw6"},
                        {"foob", "mzxw6yq"},
                        {"fooba", "mzxw6ytb"},
                        {"foobar", "mzxw6ytboi"}};
  for (const Case& test : cases) {
    const std::string_view text = test.text;
    const std::vector<std::uint8_t> bytes(text.begin(), text.end());
    EXPECT_EQ(test.want, base32_lower(bytes));
  }
  EXPECT_EQ(52u, base32_lower(sha256("")).size());
  EXPECT_EQ("77777777", base32_lower(std::vector<std::uint8_t>(5, 0xff)));
}

TEST(Hex, Lower) {
  EXPECT_EQ("00ff10a5", hex_lower(std::vector<std::uint8_t>{0x00, 0xff, 0x10, 0xa5}));
  EXPECT_EQ("", hex_lower(std::vector<std::uint8_t>{}));
}

}  // namespace
}  // namespace karst::base
