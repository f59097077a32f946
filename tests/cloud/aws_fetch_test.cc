// Fetching credentials from each source, and keeping them fresh, over a fake transport and clock.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/time.h"
#include "cloud/aws/credentials.h"
#include "tests/kube/fake_transport.h"

namespace karst::cloud::aws {
namespace {

using testing_kube::FakeClock;
using testing_kube::FakeTransport;

constexpr std::int64_t kStart = 1'000'000;  // FakeClock's wall at 0

std::string after(std::int64_t seconds) {
  return base::format_rfc3339(kStart + seconds * 1000);
}

std::string sts_answer(const std::string& action, const std::string& id, std::int64_t seconds) {
  return "<" + action + "Response xmlns=\"u\"><" + action + "Result><Credentials><AccessKeyId>" +
         id +
         "</AccessKeyId><SecretAccessKey>canary-key</SecretAccessKey><SessionToken>canary-token"
         "</SessionToken><Expiration>" +
         after(seconds) + "</Expiration></Credentials></" + action + "Result></" + action +
         "Response>";
}

std::string json_answer(const std::string& id, const std::string& expiration) {
  return R"({"Code":"Success","AccessKeyId":")" + id +
         R"(","SecretAccessKey":"canary-key","Token":"canary-token","Expiration":")" + expiration +
         "\"}";
}

struct TokenFile {
  explicit TokenFile(const std::string& text)
      : path((std::filesystem::temp_directory_path() /
              ("karst-aws-token-" + std::to_string(getpid())))
                 .string()) {
    write(text);
  }
  ~TokenFile() { std::filesystem::remove(path); }
  void write(const std::string& text) const { std::ofstream(path) << text; }
  const std::string path;
};

struct AwsFetchTest : ::testing::Test {
  AwsFetchTest() {
    needs.transport = &transport;
    needs.time = &time;
    needs.sts.service = Service::kSts;
    needs.sts.url = "https://sts.test";
    needs.sts.host = "sts.test";
    needs.sts.signing_region = "eu-west-1";
    needs.user_agent = "karst/test";
  }
  void fetch(CredentialSource source) {
    fetch_credentials(needs, source, [this](base::Result<Credentials> got) {
      ++answers;
      if (got) {
        keys = *got;
        told = "keys " + got->access_key_id;
      } else {
        told = std::string(base::kind_name(got.error().kind)) + " " + got.error().message;
      }
    });
  }
  // "METHOD URL BODY" of the request that was answered.
  std::string reply(int status, const std::string& body,
                    http::Failure failure = http::Failure::kNone) {
    if (transport.open.empty()) return "no request";
    headers = "";
    for (const std::string& header : transport.open.front().request.headers)
      headers += header + "\n";
    http::Response response;
    response.status = failure == http::Failure::kNone ? status : 0;
    response.failure = failure;
    response.error = failure == http::Failure::kNone ? "" : "the line is cut";
    response.body = body;
    const http::Request request = transport.answer(std::move(response));
    return std::string(http::method_name(request.method)) + " " + request.url + " " + request.body;
  }
  bool sent(const std::string& header) const {
    return headers.find(header + "\n") != std::string::npos;
  }
  FakeTransport transport;
  FakeClock clock;
  ServerTime time{clock};
  FetchNeeds needs;
  Credentials keys;
  std::string told;
  std::string headers;
  int answers = 0;
};

TEST_F(AwsFetchTest, WebIdentityReadsItsTokenEachTimeAndIsUnsigned) {
  const TokenFile token("first.token\n");
  const CredentialSource source{WebIdentity{"arn:r", token.path, "pod"}, {}, "web"};
  fetch(source);
  EXPECT_EQ(reply(200, sts_answer("AssumeRoleWithWebIdentity", "AK1", 3600)),
            "POST https://sts.test/ Action=AssumeRoleWithWebIdentity&Version=2011-06-15&"
            "RoleArn=arn%3Ar&RoleSessionName=pod&WebIdentityToken=first.token");
  EXPECT_EQ(headers.find("Authorization"), std::string::npos);
  EXPECT_EQ(told, "keys AK1");
  EXPECT_EQ(keys.secret_access_key.reveal(), "canary-key");
  EXPECT_EQ(keys.expires_wall_millis, kStart + 3'600'000);
  token.write("second.token");
  fetch(source);
  EXPECT_NE(reply(200, sts_answer("AssumeRoleWithWebIdentity", "AK2", 3600)).find("second.token"),
            std::string::npos);
  EXPECT_EQ(told, "keys AK2");
}

TEST_F(AwsFetchTest, WebIdentityFailuresSayWhatToMend) {
  const TokenFile token("t\n");
  const CredentialSource source{WebIdentity{"arn:r", token.path, "pod"}, {}, "web"};
  const struct {
    int status;
    std::string body;
    std::string want;  // its beginning
  } kCases[] = {
      {403,
       "<ErrorResponse><Error><Code>AccessDenied</Code><Message>Not authorized to perform "
       "sts:AssumeRoleWithWebIdentity</Message></Error><RequestId>r</RequestId></ErrorResponse>",
       "denied STS AssumeRoleWithWebIdentity for arn:r: denied (AccessDenied, HTTP 403, request "
       "r)"},
      {400, "<ErrorResponse><Error><Code>ExpiredTokenException</Code></Error></ErrorResponse>",
       "denied STS AssumeRoleWithWebIdentity for arn:r: refused credentials"},
      {400, "<ErrorResponse><Error><Code>Throttling</Code></Error></ErrorResponse>",
       "retry STS AssumeRoleWithWebIdentity for arn:r: throttled"},
      {500, "<html>", "retry STS AssumeRoleWithWebIdentity for arn:r: failed at the service"},
      {200, "<html>", "retry STS AssumeRoleWithWebIdentity: its answer holds no credentials"},
  };
  for (const auto& c : kCases) {
    fetch(source);
    reply(c.status, c.body);
    EXPECT_EQ(told.substr(0, c.want.size()), c.want) << told;
  }
  fetch(source);
  reply(0, "", http::Failure::kNotSent);
  EXPECT_EQ(told, "retry STS AssumeRoleWithWebIdentity for arn:r: the line is cut");
  token.write("two\nlines");
  fetch(source);
  EXPECT_EQ(told, "invalid AWS_WEB_IDENTITY_TOKEN_FILE: " + token.path +
                      ": expected one token, in one line");
  fetch({WebIdentity{"arn:r", "/nonexistent/token", "pod"}, {}, "web"});
  EXPECT_TRUE(told.starts_with("invalid AWS_WEB_IDENTITY_TOKEN_FILE: cannot read")) << told;
  EXPECT_EQ(answers, 8);
}

TEST_F(AwsFetchTest, AContainerAgentGetsItsToken) {
  const TokenFile token("pod-token");
  fetch(
      {Container{"http://169.254.170.23/v1/credentials", token.path, Secret("other")}, {}, "pod"});
  EXPECT_EQ(reply(200, json_answer("AK", after(600))), "GET http://169.254.170.23/v1/credentials ");
  EXPECT_TRUE(sent("Authorization: pod-token"));
  EXPECT_EQ(told, "keys AK");
  fetch({Container{"http://127.0.0.1/c", "", Secret("inline")}, {}, "pod"});
  reply(200, R"({"AccessKeyId":"AK3","SecretAccessKey":"s"})");
  EXPECT_TRUE(sent("Authorization: inline"));
  EXPECT_EQ(told, "keys AK3");
  EXPECT_EQ(keys.expires_wall_millis, std::nullopt);
  fetch({Container{"http://127.0.0.1/c", "", Secret("canary\nX: y")}, {}, "pod"});
  EXPECT_EQ(told, "invalid AWS_CONTAINER_AUTHORIZATION_TOKEN: expected one line");
  for (const char* body : {"", "[]", R"({"AccessKeyId":"AK"})", R"({"AccessKeyId":5})",
                           R"({"AccessKeyId":"A","SecretAccessKey":"canary","Expiration":"soon"})",
                           R"({"AccessKeyId":"A\nB","SecretAccessKey":"canary"})"}) {
    fetch({Container{"http://127.0.0.1/c", "", Secret()}, {}, "pod"});
    reply(200, body);
    EXPECT_TRUE(told.starts_with("retry pod: its answer holds no credentials")) << told;
    EXPECT_EQ(told.find("canary"), std::string::npos);
  }
  fetch({Container{"http://127.0.0.1/c", "", Secret()}, {}, "pod"});
  reply(401, "canary");
  EXPECT_EQ(told, "denied pod: HTTP 401");
}

const CredentialSource kInstance{InstanceMetadata{"http://169.254.169.254"}, {}, "instance"};

TEST_F(AwsFetchTest, TheInstanceIsAskedByTokenRoleAndKeys) {
  fetch(kInstance);
  EXPECT_EQ(reply(200, "imds-token"), "PUT http://169.254.169.254/latest/api/token ");
  EXPECT_TRUE(sent("X-aws-ec2-metadata-token-ttl-seconds: 21600"));
  EXPECT_EQ(reply(200, "node-role\n"),
            "GET http://169.254.169.254/latest/meta-data/iam/security-credentials/ ");
  EXPECT_TRUE(sent("X-aws-ec2-metadata-token: imds-token"));
  EXPECT_EQ(reply(200, json_answer("AK", after(600))),
            "GET http://169.254.169.254/latest/meta-data/iam/security-credentials/node-role ");
  EXPECT_EQ(told, "keys AK");
  // Over already: the service hands out old ones when its own source is down.
  fetch(kInstance);
  reply(200, "t"), reply(200, "node-role"), reply(200, json_answer("AK2", after(-5)));
  EXPECT_EQ(keys.expires_wall_millis, kStart + kMetadataExtensionMillis);
}

TEST_F(AwsFetchTest, AnInstanceWithoutRoleOrTokenSaysSo) {
  fetch(kInstance);
  reply(200, "t"), reply(404, "");
  EXPECT_TRUE(
      told.starts_with("denied http://169.254.169.254/latest/meta-data/iam/"
                       "security-credentials/: this instance has no IAM role"))
      << told;
  fetch(kInstance);
  reply(0, "", http::Failure::kUnclear);
  EXPECT_TRUE(told.starts_with("retry instance metadata gives no token (in a pod")) << told;
  fetch(kInstance);
  reply(200, "t"), reply(200, "r"), reply(200, R"({"Code":"AssumeRoleUnauthorizedAccess"})");
  EXPECT_EQ(told, "denied instance answers AssumeRoleUnauthorizedAccess");
}

TEST_F(AwsFetchTest, RolesAreAssumedOneAfterTheOther) {
  CredentialSource source{StaticKeys{}, {}, "profile x"};
  std::get<StaticKeys>(source.base).keys.access_key_id = "AK0";
  source.roles = {{"arn:one", "s1", "", 3600}, {"arn:two", "s2", "ext", 900}};
  fetch(source);
  EXPECT_EQ(reply(200, sts_answer("AssumeRole", "AK1", 3600)),
            "POST https://sts.test/ Action=AssumeRole&Version=2011-06-15&RoleArn=arn%3Aone&"
            "RoleSessionName=s1&DurationSeconds=3600");
  EXPECT_NE(headers.find("Credential=AK0/"), std::string::npos);
  EXPECT_NE(reply(200, sts_answer("AssumeRole", "AK2", 900)).find("ExternalId=ext"),
            std::string::npos);
  EXPECT_NE(headers.find("Credential=AK1/"), std::string::npos);
  EXPECT_TRUE(sent("X-Amz-Security-Token: canary-token"));
  EXPECT_EQ(told, "keys AK2");
  EXPECT_EQ(keys.source, "profile x");
}

TEST_F(AwsFetchTest, TheRegionIsAskedOfTheInstance) {
  std::string region;
  const auto take = [&](base::Result<std::string> got) {
    region = got ? *got : "error: " + got.error().message;
  };
  fetch_region(needs, "http://169.254.169.254", take);
  reply(200, "t");
  EXPECT_EQ(reply(200, "eu-west-3\n"),
            "GET http://169.254.169.254/latest/meta-data/placement/region ");
  EXPECT_EQ(region, "eu-west-3");
  fetch_region(needs, "http://169.254.169.254", take);
  reply(500, "");
  EXPECT_EQ(region,
            "error: AWS_REGION is not set, and http://169.254.169.254 gives no token: "
            "HTTP 500");
}

}  // namespace
}  // namespace karst::cloud::aws
