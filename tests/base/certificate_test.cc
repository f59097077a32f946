#include "base/certificate.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/base/ended_certificate.h"

namespace karst::base {
namespace {

TEST(Certificate, SaysWhenItEnds) {
  const auto end = certificate_end(testing::kEndedCertificate);
  ASSERT_TRUE(end);
  EXPECT_EQ(format_rfc3339_seconds(end->value()), "2026-11-24T19:00:18Z");
  EXPECT_EQ(certificate_end("subject=karst\n" + std::string(testing::kEndedCertificate) +
                            testing::kEndedCertificate),
            end)
      << "words before it, and others after it";
}

TEST(Certificate, WhatIsNoneHasNoEnd) {
  EXPECT_FALSE(certificate_end(""));
  EXPECT_FALSE(certificate_end("text"));
  EXPECT_FALSE(certificate_end(std::string(testing::kEndedCertificate).substr(0, 200)));
}

}  // namespace
}  // namespace karst::base
