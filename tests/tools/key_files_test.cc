// Files that are given as keys, and are none: told for what they are, never shown.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/tools/auditor.h"
#include "tests/tools/program.h"
#include "tests/tools/story.h"

namespace karst::tests {
namespace {

class KeyFiles : public Auditor {};

TEST_F(KeyFiles, OneThatAllCanReadIsRefused) {
  new_key("key");
  ASSERT_EQ(chmod((folder_ / "key").c_str(), 0644), 0);
  const Ended ended =
      karst({"audit", "checkpoint", "--data", story(), "--signing-key", folder_ / "key"});
  EXPECT_NE(ended.code, 0);
  EXPECT_TRUE(says(ended, "everybody on this machine can read it")) << ended.err;
  EXPECT_FALSE(says(ended, "PRIVATE+KEY+example"));
  EXPECT_NE(karst({"audit", "keygen", "--out", folder_ / "key", "--name", "n"}).code, 0)
      << "a key is never written over";
  EXPECT_EQ(karst({"audit", "keygen", "--out", folder_ / "k2", "--name", "a b"}).code, 2);
}

TEST_F(KeyFiles, OneThatIsNotThereIsToldInEachFormat) {
  const std::string key = folder_ / "none";
  for (const std::string format : {"jsonl", "parquet", "sqlite", "tiles"}) {
    std::vector<std::string> words = {"audit",    "export", "--data",        story(),
                                      "--format", format,   "--signing-key", key};
    if (format != "jsonl") words.insert(words.end(), {"--out", folder_ / ("out." + format)});
    const Ended ended = karst(words);
    EXPECT_EQ(ended.code, 2) << format;
    EXPECT_TRUE(says(ended, "the signing key " + key + ": ")) << format << ended.err;
    EXPECT_TRUE(says(ended, "audit keygen")) << format << ended.err;
  }
}

// Each wrong file is told for what it is, and none is shown.
TEST_F(KeyFiles, OneThatIsNoneIsToldWhy) {
  const std::string key = new_key("key");
  const std::string secret = read_file(folder_ / "key");
  const std::string pem = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2Vw\n";
  const struct {
    const char* name;
    std::string bytes;
    const char* signing;    // of --signing-key
    const char* verifying;  // of --key
  } cases[] = {
      {"nothing", "", "it is empty. Expected an Ed25519 key", "it is empty"},
      {"line ends", "\n\r\n", "it is empty. Expected an Ed25519 key", "it is empty"},
      {"too many bytes", std::string(20'000, 'a'), "it has 20000 bytes, a key has at most 16384",
       "it has 20000 characters, at most 1024"},
      {"too long a name", "PRIVATE+KEY+" + std::string(2000, 'a'), "it has 2000 characters",
       "it is a secret one, that signs"},
      {"text", "hello\n", "it is neither of the two forms", "it has not three parts"},
      {"PEM that is cut", pem, "its PEM is damaged", "it is PEM"},
      {"PEM with a passphrase", "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAA==\n",
       "its key has a passphrase", "it is PEM"},
      {"a public key in PEM", "-----BEGIN PUBLIC KEY-----\nAA==\n", "it holds a public key",
       "it is PEM"},
      {"a public key", key, "it holds a public key", nullptr},
      {"no base64", "PRIVATE+KEY+a+00000000+!!\n", "its last part is not base64",
       "it is a secret one"},
      {"short", "PRIVATE+KEY+a+00000000+AQID\n", "its last part has 3 bytes, expected 33",
       "it is a secret one"},
      {"public and short", "a+00000000+AQID\n", "it is neither of the two forms",
       "its last part has 3 bytes, expected 33"},
      {"a secret key", secret, nullptr, "it is a secret one"},
  };
  const std::string trail = made("trail", {"audit", "export", "--data", story()});
  const std::string file = folder_ / "wrong";
  for (const auto& c : cases) {
    write_file(file, c.bytes);
    ASSERT_EQ(chmod(file.c_str(), 0600), 0);
    if (c.signing != nullptr) {
      const Ended ended = karst({"audit", "checkpoint", "--data", story(), "--signing-key", file});
      EXPECT_EQ(ended.code, 2) << c.name;
      EXPECT_TRUE(says(ended, "the signing key " + file + ": ")) << c.name << ended.err;
      EXPECT_TRUE(says(ended, c.signing)) << c.name << ended.err;
    }
    if (c.verifying != nullptr) {
      const Ended ended = verify({"--key", file, trail});
      EXPECT_EQ(ended.code, 2) << c.name;
      EXPECT_TRUE(says(ended, "--key " + file + ": ")) << c.name << ended.err;
      EXPECT_TRUE(says(ended, c.verifying)) << c.name << ended.err;
      EXPECT_FALSE(says(ended, secret.substr(secret.size() - 20, 19))) << c.name;
    }
  }
  const auto checkpoint = [&](const std::string& key_file) {
    return karst({"audit", "checkpoint", "--data", story(), "--signing-key", key_file});
  };
  EXPECT_TRUE(says(checkpoint(folder_ / ""), "is a folder; expected the file in it"));
  EXPECT_TRUE(says(checkpoint(folder_ / "none"), "'karst audit keygen' makes a key"));
  EXPECT_TRUE(says(verify({"--key", folder_ / "", trail}), "is no regular file"));
  EXPECT_TRUE(says(verify({"--key", folder_ / "none", trail}), "there is no such file"));
}

}  // namespace
}  // namespace karst::tests
