// What requests say in each protocol, what error answers mean, and where services are.
#include <gtest/gtest.h>

#include "cloud/aws/endpoints.h"
#include "cloud/aws/pages.h"
#include "cloud/aws/protocols.h"
#include "cloud/aws/request.h"

namespace karst::cloud::aws {
namespace {

std::string flat(const char* json, Protocol protocol) {
  const auto pairs = flatten(Tree::parse(json), protocol);
  return pairs ? form_encode(*pairs) : "error: " + pairs.error().message;
}

TEST(AwsProtocols, ListsAreNumberedAndMembersDotted) {
  const struct {
    const char* json;
    const char* ec2;
    const char* query;
  } kCases[] = {
      {R"({"InstanceId": ["i-2", "i-1"]})", "InstanceId.1=i-2&InstanceId.2=i-1",
       "InstanceId.member.1=i-2&InstanceId.member.2=i-1"},
      {R"({"Filter": [{"Name": "tag:a b", "Value": ["x", "y"]}], "DryRun": true})",
       "Filter.1.Name=tag%3Aa%20b&Filter.1.Value.1=x&Filter.1.Value.2=y&DryRun=true",
       "Filter.member.1.Name=tag%3Aa%20b&Filter.member.1.Value.member.1=x&"
       "Filter.member.1.Value.member.2=y&DryRun=true"},
      {R"({"Spec": {"TotalTargetCapacity": 3, "Left": null, "Empty": [], "Text": ""}})",
       "Spec.TotalTargetCapacity=3&Spec.Text=", "Spec.TotalTargetCapacity=3&Spec.Text="},
      {R"({})", "", ""},
      {R"([1])", "error: parameters are no object", "error: parameters are no object"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(flat(c.json, Protocol::kEc2Query), c.ec2);
    EXPECT_EQ(flat(c.json, Protocol::kQuery), c.query);
  }
  Tree deep = 1;
  for (int i = 0; i <= kParameterDepthMax; ++i) deep = Tree{{"a", deep}};
  EXPECT_FALSE(flatten(deep, Protocol::kEc2Query));
  Tree wide;
  wide["A"] = std::vector<int>(kParametersMax + 1, 1);
  EXPECT_FALSE(flatten(wide, Protocol::kEc2Query));
}

struct ErrorCase {
  const char* name;
  int status;
  const char* body;
  Trouble trouble;
  const char* code;
  std::int64_t skew_millis = 0;
};

constexpr const char* kEc2Throttle =
    "<?xml version=\"1.0\"?><Response><Errors><Error><Code>RequestLimitExceeded</Code><Message>"
    "slower</Message></Error></Errors><RequestID>r-1</RequestID></Response>";

std::string ec2_refusal(const std::string& code, const std::string& message = "m") {
  return "<Response><Errors><Error><Code>" + code + "</Code><Message>" + message +
         "</Message></Error></Errors><RequestID>r-1</RequestID></Response>";
}

CallError read(int status, const std::string& body, std::int64_t skew = 0) {
  http::Response response;
  response.status = status;
  response.body = body;
  return read_error(response, skew);
}

TEST(AwsProtocols, ErrorAnswersAreReadAndClassed) {
  const std::int64_t off = kSkewMillisMax + 1000;
  const ErrorCase kCases[] = {
      {"ec2", 503, kEc2Throttle, Trouble::kThrottled, "RequestLimitExceeded"},
      {"sts", 403,
       "<ErrorResponse xmlns=\"u\"><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>no"
       "</Message></Error><RequestId>r</RequestId></ErrorResponse>",
       Trouble::kDenied, "AccessDenied"},
      {"sqs", 400, R"({"__type":"com.amazonaws.sqs#QueueDoesNotExist","message":"none"})",
       Trouble::kNotFound, "QueueDoesNotExist"},
      {"ssm", 400, R"({"__type":"ParameterNotFound"})", Trouble::kNotFound, "ParameterNotFound"},
      {"url in the type", 400, R"({"__type":"ThrottlingException:http://x/","Message":"slow"})",
       Trouble::kThrottled, "ThrottlingException"},
      {"json and a wrong signature", 400,
       R"({"__type":"InvalidSignatureException","message":"canary"})", Trouble::kCredentials,
       "InvalidSignatureException"},
      {"the same with the clock off", 400,
       R"({"__type":"InvalidSignatureException","message":"canary"})", Trouble::kSkew,
       "InvalidSignatureException", off},
      {"an HTML page", 500, "<!doctype html><html>oops", Trouble::kServer, ""},
      {"an HTML page without fault", 404, "<html></html>", Trouble::kMalformed, ""},
      {"XML for a JSON service", 403,
       "<ErrorResponse><Errors><Error><Code>SignatureDoesNotMatch</Code>"
       "</Error></Errors></ErrorResponse>",
       Trouble::kCredentials, "SignatureDoesNotMatch"},
      {"no JSON", 400, "[1", Trouble::kMalformed, ""},
      {"nothing", 502, "", Trouble::kServer, ""},
      {"a bare 429", 429, "", Trouble::kThrottled, ""},
      {"request timeout", 400,
       "<ErrorResponse><Error><Code>RequestTimeout</Code></Error></ErrorResponse>",
       Trouble::kServer, "RequestTimeout"},
  };
  for (const ErrorCase& c : kCases) {
    SCOPED_TRACE(c.name);
    const CallError error = read(c.status, c.body, c.skew_millis);
    EXPECT_EQ(trouble_name(error.trouble), trouble_name(c.trouble));
    EXPECT_EQ(error.code, c.code);
    EXPECT_EQ(error.message.find("canary"), std::string::npos) << error.message;
  }
}

TEST(AwsProtocols, Ec2CodesAreClassed) {
  const std::int64_t off = -kSkewMillisMax - 1000;
  const struct {
    const char* code;
    int status;
    Trouble trouble;
    std::int64_t skew = 0;
    const char* message = "m";
  } kCases[] = {
      {"UnauthorizedOperation", 403, Trouble::kDenied},
      {"AuthFailure", 401, Trouble::kCredentials},
      {"AuthFailure", 401, Trouble::kSkew, off},
      {"AuthFailure", 403, Trouble::kDenied, 0, "Not authorized for images: [ami-1]"},
      {"AuthFailure.ServiceLinkedRoleCreationNotPermitted", 403, Trouble::kDenied},
      {"RequestExpired", 400, Trouble::kCredentials},
      {"RequestExpired", 400, Trouble::kSkew, off},
      {"RequestTimeTooSkewed", 403, Trouble::kSkew},
      {"InvalidInstanceID.NotFound", 400, Trouble::kNotFound},
      {"InvalidLaunchTemplateName.NotFoundException", 400, Trouble::kNotFound},
      {"InsufficientInstanceCapacity", 500, Trouble::kRefused},
      {"IdempotentParameterMismatch", 400, Trouble::kRefused},
      {"DryRunOperation", 412, Trouble::kRefused},
      {"ExpiredToken", 400, Trouble::kCredentials},
      {"SignatureDoesNotMatch", 403, Trouble::kCredentials},
      {"InternalError", 500, Trouble::kServer},
      {"Unavailable", 503, Trouble::kServer},
  };
  for (const auto& c : kCases) {
    const CallError error = read(c.status, ec2_refusal(c.code, c.message), c.skew);
    EXPECT_EQ(trouble_name(error.trouble), trouble_name(c.trouble)) << c.code;
    EXPECT_EQ(error.request_id, "r-1");
  }
}

TEST(AwsProtocols, WhatPeopleReadSaysWhatAndWhy) {
  EXPECT_EQ(told(read(503, kEc2Throttle), "DescribeInstances"),
            "DescribeInstances: throttled (RequestLimitExceeded, HTTP 503, request r-1): slower");
  EXPECT_EQ(told(read(401, ec2_refusal("AuthFailure"), 600'000), "CreateFleet"),
            "CreateFleet: refused for this machine's clock (AuthFailure, HTTP 401, request r-1): "
            "this machine's clock is 600 s off the service's; let NTP set it. m");
  const CallError cut = read(400, ec2_refusal("X", std::string(5000, 'a') + "\n"));
  EXPECT_EQ(cut.message.size(), kErrorTextMax);
  EXPECT_EQ(read(400, ec2_refusal("X", "a\nb")).message, "a b");
  const CallError whole =
      read(400, ec2_refusal("X", std::string(kErrorTextMax - 1, 'a') + "\u00e9"));
  EXPECT_EQ(whole.message.size(), kErrorTextMax - 1) << "a character is not cut in two";
}

TEST(AwsProtocols, OnlySomeTroublesLeaveTheOutcomeOpen) {
  const Trouble kOpen[] = {Trouble::kServer, Trouble::kMalformed, Trouble::kUnclear};
  const Trouble kClosed[] = {Trouble::kThrottled, Trouble::kCredentials, Trouble::kDenied,
                             Trouble::kSkew,      Trouble::kNotFound,    Trouble::kRefused,
                             Trouble::kNotSent};
  for (const Trouble trouble : kOpen) EXPECT_TRUE(may_have_happened(trouble));
  for (const Trouble trouble : kClosed) EXPECT_FALSE(may_have_happened(trouble));
}

std::string header_of(const http::Request& request, const std::string& name) {
  for (const std::string& header : request.headers)
    if (header.starts_with(name + ": ")) return header.substr(name.size() + 2);
  return "";
}

Endpoint endpoint(Service service, const std::string& region = "eu-west-1") {
  const auto found = endpoint_of(service, region, Settings{});
  EXPECT_TRUE(found);
  return found ? *found : Endpoint{};
}

TEST(AwsRequest, EachProtocolHasItsForm) {
  Credentials keys;
  keys.access_key_id = "AK";
  keys.secret_access_key = Secret("canary");
  keys.session_token = Secret("token");
  Call ec2{Service::kEc2, "DescribeInstances", {{"InstanceId", {"i-1"}}}};
  const auto form = make_request(ec2, endpoint(Service::kEc2), &keys, 0, "karst/1");
  ASSERT_TRUE(form);
  EXPECT_EQ(form->url, "https://ec2.eu-west-1.amazonaws.com/");
  EXPECT_EQ(form->body, "Action=DescribeInstances&Version=2016-11-15&InstanceId.1=i-1");
  EXPECT_EQ(header_of(*form, "X-Amz-Security-Token"), "token");
  EXPECT_TRUE(header_of(*form, "Authorization")
                  .starts_with("AWS4-HMAC-SHA256 Credential=AK/19700101/eu-west-1/ec2/aws4_request,"
                               " SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, "
                               "Signature="));

  Call sqs{Service::kSqs, "GetQueueUrl", {{"QueueName", "q"}}};
  const auto json = make_request(sqs, endpoint(Service::kSqs), &keys, 0, "karst/1");
  ASSERT_TRUE(json);
  EXPECT_EQ(json->body, R"({"QueueName":"q"})");
  EXPECT_EQ(header_of(*json, "X-Amz-Target"), "AmazonSQS.GetQueueUrl");
  EXPECT_EQ(header_of(*json, "Content-Type"), "application/x-amz-json-1.0");

  Call eks{Service::kEks, "DescribeCluster"};
  eks.path = "/clusters/" + uri_encode("a b");
  eks.query = {{"z", "1"}, {"a", "x y"}};
  const auto rest = make_request(eks, endpoint(Service::kEks), &keys, 0, "karst/1");
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->method, http::Method::kGet);
  EXPECT_EQ(rest->url, "https://eks.eu-west-1.amazonaws.com/clusters/a%20b?a=x%20y&z=1");
  EXPECT_EQ(rest->body, "");

  Call sts{Service::kSts, "AssumeRoleWithWebIdentity", {{"RoleArn", "r"}}};
  const auto bare = make_request(sts, endpoint(Service::kSts), nullptr, 0, "karst/1");
  ASSERT_TRUE(bare);
  EXPECT_EQ(header_of(*bare, "Authorization"), "");
}

// Every row but those of a configured URL is what the vendor's Python client answers.
TEST(AwsEndpoints, EveryPartitionHasItsHosts) {
  const struct {
    Service service;
    const char* region;
    bool fips;
    bool dual;
    const char* want;  // host and signing region; empty: an error
  } kCases[] = {
      {Service::kEc2, "us-east-1", false, false, "ec2.us-east-1.amazonaws.com us-east-1"},
      {Service::kEc2, "us-east-1", true, false, "ec2-fips.us-east-1.amazonaws.com us-east-1"},
      {Service::kEc2, "us-east-1", false, true, "ec2.us-east-1.api.aws us-east-1"},
      {Service::kEc2, "us-east-1", true, true, "ec2-fips.us-east-1.api.aws us-east-1"},
      {Service::kEks, "us-east-1", true, false, "fips.eks.us-east-1.amazonaws.com us-east-1"},
      {Service::kEks, "us-east-1", true, true, "eks-fips.us-east-1.api.aws us-east-1"},
      {Service::kSts, "us-gov-west-1", true, false,
       "sts.us-gov-west-1.amazonaws.com us-gov-west-1"},
      {Service::kSts, "us-gov-west-1", true, true, "sts-fips.us-gov-west-1.api.aws us-gov-west-1"},
      {Service::kSqs, "cn-north-1", false, false, "sqs.cn-north-1.amazonaws.com.cn cn-north-1"},
      {Service::kSqs, "cn-north-1", false, true,
       "sqs.cn-north-1.api.amazonwebservices.com.cn cn-north-1"},
      {Service::kSsm, "us-iso-east-1", false, false, "ssm.us-iso-east-1.c2s.ic.gov us-iso-east-1"},
      {Service::kSsm, "us-isob-east-1", false, true,
       "ssm.us-isob-east-1.api.aws.scloud us-isob-east-1"},
      {Service::kEc2, "eu-isoe-west-1", true, false,
       "ec2-fips.eu-isoe-west-1.cloud.adc-e.uk eu-isoe-west-1"},
      {Service::kEc2, "eu-isoe-west-1", false, true, ""},
      {Service::kEc2, "eusc-de-east-1", false, false,
       "ec2.eusc-de-east-1.amazonaws.eu eusc-de-east-1"},
      {Service::kIam, "eu-west-1", false, false, "iam.amazonaws.com us-east-1"},
      {Service::kIam, "eu-west-1", true, true, "iam-fips.global.api.aws us-east-1"},
      {Service::kIam, "us-gov-east-1", true, false, "iam.us-gov.amazonaws.com us-gov-west-1"},
      {Service::kIam, "cn-northwest-1", false, false, "iam.cn-north-1.amazonaws.com.cn cn-north-1"},
      {Service::kPricing, "eu-west-3", false, false,
       "api.pricing.eu-central-1.amazonaws.com eu-central-1"},
      {Service::kPricing, "ap-east-1", false, false,
       "api.pricing.ap-south-1.amazonaws.com ap-south-1"},
      {Service::kPricing, "sa-east-1", false, false,
       "api.pricing.us-east-1.amazonaws.com us-east-1"},
      {Service::kZonalShift, "us-east-1", true, false,
       "arc-zonal-shift-fips.us-east-1.amazonaws.com us-east-1"},
      {Service::kEc2, "us-east-1.evil.example/", false, false, ""},
      {Service::kEc2, "", false, false, ""},
  };
  for (const auto& c : kCases) {
    Settings settings;
    if (c.fips) settings.environment["AWS_USE_FIPS_ENDPOINT"] = "true";
    if (c.dual) settings.profiles["default"]["use_dualstack_endpoint"] = "true";
    const auto found = endpoint_of(c.service, c.region, settings);
    EXPECT_EQ(found ? found->host + " " + found->signing_region : "", c.want)
        << (found ? "" : found.error().message);
    EXPECT_EQ(found ? found->url : "https://" + std::string(),
              "https://" + (found ? found->host : ""));
  }
  EXPECT_EQ(partition_of("us-isob-east-1"), "aws-iso-b");
  EXPECT_EQ(partition_of("us-iso-east-1"), "aws-iso");
  EXPECT_EQ(partition_of("eu-west-1"), "aws");
}

TEST(AwsEndpoints, AConfiguredUrlGoesFirst) {
  Settings settings;
  settings.profiles["default"]["endpoint_url"] = "http://127.0.0.1:3";
  const auto url = [&](Service service) {
    const auto found = endpoint_of(service, "us-east-1", settings);
    return found ? found->url : "error: " + found.error().message;
  };
  EXPECT_EQ(url(Service::kEc2), "http://127.0.0.1:3");
  settings.environment["AWS_ENDPOINT_URL"] = "http://127.0.0.1:2/";
  EXPECT_EQ(url(Service::kEc2), "http://127.0.0.1:2");
  settings.environment["AWS_ENDPOINT_URL_EC2"] = "https://vpce-1.example:444";
  EXPECT_EQ(url(Service::kEc2), "https://vpce-1.example:444");
  EXPECT_EQ(url(Service::kSqs), "http://127.0.0.1:2");
  settings.environment["AWS_ENDPOINT_URL_SQS"] = "http://a/path";
  EXPECT_TRUE(url(Service::kSqs).starts_with("error: AWS_ENDPOINT_URL_SQS: expected http://HOST"));
  settings.environment["AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"] = "true";
  EXPECT_EQ(url(Service::kEc2), "https://ec2.us-east-1.amazonaws.com");
}

TEST(AwsPages, TheNextTokenIsFoundInEachProtocol) {
  const struct {
    Protocol protocol;
    const char* body;
    const char* want;  // "error": unreadable
  } kCases[] = {
      {Protocol::kEc2Query, "<R><set/><nextToken>t</nextToken></R>", "t"},
      {Protocol::kEc2Query, "<R><nextToken/></R>", ""},
      {Protocol::kEc2Query, "<R><a><nextToken>t</nextToken></a></R>", ""},
      {Protocol::kEc2Query, "nonsense", "error"},
      {Protocol::kQuery, "<R><X><IsTruncated>true</IsTruncated><Marker>m</Marker></X></R>", "m"},
      {Protocol::kQuery, "<R><X><IsTruncated>false</IsTruncated><Marker>m</Marker></X></R>", ""},
      {Protocol::kJson11, R"({"NextToken":"n"})", "n"},
      {Protocol::kJson11, R"({"nextToken":"n"})", "n"},
      {Protocol::kJson11, R"({"NextToken":null})", ""},
      {Protocol::kJson11, "[]", "error"},
  };
  for (const auto& c : kCases) {
    const auto token = next_token(c.body, c.protocol);
    EXPECT_EQ(token ? *token : "error", c.want) << c.body;
  }
}

}  // namespace
}  // namespace karst::cloud::aws
