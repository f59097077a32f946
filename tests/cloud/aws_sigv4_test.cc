// Signature Version 4 against the vendor's published test suite (its names of the cases, all those
// of the header form): 2015-08-30T12:36:00Z, region us-east-1, service "service".
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cloud/aws/sigv4.h"

namespace karst::cloud::aws {
namespace {

struct Case {
  std::string name;
  std::string method;
  std::string path;
  Pairs query;
  Pairs headers;  // besides Host, X-Amz-Date and the token
  std::string body;
  std::string session_token;
  PathRule rule;
  std::string canonical_sha256;
  std::string signature;
};

std::vector<Case> read_cases() {
  std::ifstream file(KARST_SOURCE_DIR "/tests/cloud/aws_sigv4_cases.json");
  const auto json = nlohmann::json::parse(file, nullptr, false);
  std::vector<Case> cases;
  for (const auto& row : json) {
    Case c;
    c.name = row.at("name");
    c.method = row.at("method");
    c.path = row.at("path");
    c.query = row.value("query", Pairs{});
    c.headers = row.value("headers", Pairs{});
    c.body = row.value("body", "");
    c.session_token = row.value("token", "");
    c.rule = row.at("normalized") == true ? PathRule::kNormalized : PathRule::kAsIs;
    c.canonical_sha256 = row.at("canonical_sha256");
    c.signature = row.at("signature");
    cases.push_back(std::move(c));
  }
  return cases;
}

Credentials example_keys(const std::string& token) {
  Credentials keys;
  keys.access_key_id = "AKIDEXAMPLE";
  keys.secret_access_key = Secret("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY");
  keys.session_token = Secret(token);
  return keys;
}

Signature sign_case(const Case& c) {
  SigningRequest request;
  request.method = c.method;
  request.path = c.path;
  request.query = c.query;
  request.headers = c.headers;
  request.headers.emplace_back("Host", "example.amazonaws.com");
  request.headers.emplace_back("X-Amz-Date", "20150830T123600Z");
  if (!c.session_token.empty())
    request.headers.emplace_back("X-Amz-Security-Token", c.session_token);
  request.body = c.body;
  request.path_rule = c.rule;
  return sign(request, example_keys(c.session_token), "us-east-1", "service", "20150830T123600Z");
}

TEST(AwsSigV4, SignsThePublishedCases) {
  const std::vector<Case> cases = read_cases();
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Signature made = sign_case(c);
    EXPECT_EQ(made.string_to_sign,
              "AWS4-HMAC-SHA256\n20150830T123600Z\n20150830/us-east-1/service/aws4_request\n" +
                  c.canonical_sha256)
        << made.canonical_request;
    EXPECT_EQ(made.signature, c.signature);
  }
  EXPECT_EQ(cases.size(), 38u);
}

TEST(AwsSigV4, TheHeaderNamesKeyScopeAndSignedHeaders) {
  Case post;
  post.method = "POST";
  post.path = "/";
  post.headers = {{"My-Header1", "value1"}};
  post.rule = PathRule::kNormalized;
  EXPECT_EQ(sign_case(post).canonical_request,
            "POST\n/\n\nhost:example.amazonaws.com\nmy-header1:value1\n"
            "x-amz-date:20150830T123600Z\n\nhost;my-header1;x-amz-date\n"
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sign_case(post).authorization,
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
            "SignedHeaders=host;my-header1;x-amz-date, "
            "Signature=c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c");
}

// A path goes out encoded and is encoded once more for the signature: an ARN in a path has %253A.
TEST(AwsSigV4, WhatIsEncodedInThePathIsEncodedTwice) {
  Case zonal;
  zonal.method = "GET";
  zonal.path = "/managedresources/arn%3Aaws%3Aeks%3Aus-east-1%3A1%3Acluster%2Fa%20b";
  zonal.rule = PathRule::kNormalized;
  EXPECT_NE(sign_case(zonal).canonical_request.find(
                "\n/managedresources/"
                "arn%253Aaws%253Aeks%253Aus-east-1%253A1%253Acluster%252Fa%2520b\n"),
            std::string::npos);
}

TEST(AwsSigV4, TheDateIsOfTheSecond) {
  EXPECT_EQ(amz_date(1'440'938'160'999), "20150830T123600Z");
  EXPECT_EQ(amz_date(0), "19700101T000000Z");
}

TEST(AwsSigV4, ASecretIsNeverPrinted) {
  std::ostringstream out;
  out << Secret("canary") << " " << ::testing::PrintToString(Secret("canary"));
  EXPECT_EQ(out.str(), "[secret] [secret]");
  Secret one("canary"), other = std::move(one);
  EXPECT_TRUE(one.empty());  // NOLINT(bugprone-use-after-move): this is what is asked
  EXPECT_EQ(other.reveal(), "canary");
}

}  // namespace
}  // namespace karst::cloud::aws
