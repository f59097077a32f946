#include "base/certificate.h"

#include <gtest/gtest.h>

#include <string>

namespace karst::base {
namespace {

// openssl x509 -req -days -1
constexpr const char* kEnded = R"(-----BEGIN CERTIFICATE-----
MIIBGzCBwQIUBmmSwwHWCBGrb9WDeQgMVaZBoMIwCgYIKoZIzj0EAwIwEDEOMAwG
A1UEAwwFa2Fyc3QwHhcNMjYxMTI1MTkwMDE4WhcNMjYxMTI0MTkwMDE4WjAQMQ4w
DAYDVQQDDAVrYXJzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABCsRohCW7ngl
WpoAO6L5aE8Q/qSzzNkI+/lQTktON1D83glnUs8/3P3wRsyy2BM8BcjZcv/DmekK
8oxcgu7va4gwCgYIKoZIzj0EAwIDSQAwRgIhAIbq7KSUp3hFSKNC9g93rYJCA4U4
2lHv9XmHGfMXnQ1zAiEAvA8LGfYcOY27b0P53JgJL4eO5PH98gKAdHeT9n7J5Xk=
-----END CERTIFICATE-----
)";

TEST(Certificate, SaysWhenItEnds) {
  const auto end = certificate_end(kEnded);
  ASSERT_TRUE(end);
  EXPECT_EQ(format_rfc3339_seconds(end->value()), "2026-11-24T19:00:18Z");
  EXPECT_EQ(certificate_end("subject=karst\n" + std::string(kEnded) + kEnded), end)
      << "words before it, and others after it";
}

TEST(Certificate, WhatIsNoneHasNoEnd) {
  EXPECT_FALSE(certificate_end(""));
  EXPECT_FALSE(certificate_end("text"));
  EXPECT_FALSE(certificate_end(std::string(kEnded).substr(0, 200)));
}

}  // namespace
}  // namespace karst::base
