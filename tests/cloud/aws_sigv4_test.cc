// Signature Version 4 against the vendor's published test suite (its names of the cases, all those
// of the header form): 2015-08-30T12:36:00Z, region us-east-1, service "service".
#include <gtest/gtest.h>

#include <sstream>

#include "cloud/aws/sigv4.h"

namespace karst::cloud::aws {
namespace {

constexpr const char* kSessionToken =
    "6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267";
constexpr const char* kLongToken =
    "AQoDYXdzEPT//////////"
    "wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx"
    "7mSEI/qkPpKPi/"
    "kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNV"
    "XAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+"
    "scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==";

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

const Case kCases[] = {
    {"get-header-key-duplicate",
     "GET",
     "/",
     {},
     {{"My-Header1", "value2"}, {"My-Header1", "value2"}, {"My-Header1", "value1"}},
     "",
     "",
     PathRule::kNormalized,
     "dc7f04a3abfde8d472b0ab1a418b741b7c67174dad1551b4117b15527fbe966c",
     "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea"},
    {"get-header-value-multiline",
     "GET",
     "/",
     {},
     {{"My-Header1", "value1\n  value2\n     value3"}},
     "",
     "",
     PathRule::kNormalized,
     "e99419459a677bc11de234014be3c4e72c1ea5b454ceb58b613061f5d7a162e8",
     "cfd34249e4b1c8d6b91ef74165d41a32e5fab3306300901bb65a51a73575eefd"},
    {"get-header-value-order",
     "GET",
     "/",
     {},
     {{"My-Header1", "value4"},
      {"My-Header1", "value1"},
      {"My-Header1", "value3"},
      {"My-Header1", "value2"}},
     "",
     "",
     PathRule::kNormalized,
     "31ce73cd3f3d9f66977ad3dd957dc47af14df92fcd8509f59b349e9137c58b86",
     "08c7e5a9acfcfeb3ab6b2185e75ce8b1deb5e634ec47601a50643f830c755c01"},
    {"get-header-value-trim",
     "GET",
     "/",
     {},
     {{"My-Header1", " value1"}, {"My-Header2", " \"a   b   c\""}},
     "",
     "",
     PathRule::kNormalized,
     "a726db9b0df21c14f559d0a978e563112acb1b9e05476f0a6a1c7d68f28605c7",
     "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"},
    {"get-relative-normalized",
     "GET",
     "/example/..",
     {},
     {},
     "",
     "",
     PathRule::kNormalized,
     "bb579772317eb040ac9ed261061d46c1f17a8133879d6129b6e1c25292927e63",
     "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
    {"get-relative-relative-normalized",
     "GET",
     "/example1/example2/../..",
     {},
     {},
     "",
     "",
     PathRule::kNormalized,
     "bb579772317eb040ac9ed261061d46c1f17a8133879d6129b6e1c25292927e63",
     "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
    {"get-relative-relative-unnormalized",
     "GET",
     "/example1/example2/../..",
     {},
     {},
     "",
     "",
     PathRule::kAsIs,
     "76115030c0f3ff06c20fdff5ceb6d5e0b835a1743e00b94fea7c7f381269437b",
     "dc33e0856fd4baca4d7aa2146c38958283844764f38c74252a333df5e613003b"},
    {"get-relative-unnormalized",
     "GET",
     "/example/..",
     {},
     {},
     "",
     "",
     PathRule::kAsIs,
     "0511f456aa502b456d135fcb9d749374a55228f9dbeedda1eacf659e05b0615b",
     "eca7ead57bb5aa5c8e28007acd4ff04e1ff9a0ff3b237ec1554a184887ff9282"},
    {"get-slash-dot-slash-normalized",
     "GET",
     "/./",
     {},
     {},
     "",
     "",
     PathRule::kNormalized,
     "bb579772317eb040ac9ed261061d46c1f17a8133879d6129b6e1c25292927e63",
     "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
    {"get-slash-dot-slash-unnormalized",
     "GET",
     "/./",
     {},
     {},
     "",
     "",
     PathRule::kAsIs,
     "d67825e2268bd77a97c7688b8d72c31a3c1855b309808505ba0a9747d2465aa7",
     "68714168e6557f8f2de0ef956fc24dc2593a4bd2961f8df51898d8a134695145"},
    {"get-slash-normalized",
     "GET",
     "//",
     {},
     {},
     "",
     "",
     PathRule::kNormalized,
     "bb579772317eb040ac9ed261061d46c1f17a8133879d6129b6e1c25292927e63",
     "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
    {"get-slash-pointless-dot-normalized",
     "GET",
     "/./example",
     {},
     {},
     "",
     "",
     PathRule::kNormalized,
     "214d50c111a8edc4819da6a636336472c916b5240f51e9a51b5c3305180cf702",
     "ef75d96142cf21edca26f06005da7988e4f8dc83a165a80865db7089db637ec5"},
    {"get-slash-pointless-dot-unnormalized",
     "GET",
     "/./example",
     {},
     {},
     "",
     "",
     PathRule::kAsIs,
     "73895e0e829507e28e39fd24669aedc2434a8e179e547e3c075b42921f952cdb",
     "beb03f223f7deae4146464f06e29eebbee9c8afbe15c290cf07aa8b119e14cff"},
    {"get-slash-unnormalized",
     "GET",
     "//",
     {},
     {},
     "",
     "",
     PathRule::kAsIs,
     "80cb39203d058af815de2b79250ff56e1b73eb9b4718c86556cdc6f150c5d209",
     "c88bcd3d312d75078c0cd961d6deae3f4c754924b01669efcfcb439fd5e5b76e"},
    {"get-slashes-normalized",
     "GET",
     "//example//",
     {},
     {},
     "",
     "",
     PathRule::kNormalized,
     "cb96b4ac96d501f7c5c15bc6d67b3035061cfced4af6585ad927f7e6c985c015",
     "9a624bd73a37c9a373b5312afbebe7a714a789de108f0bdfe846570885f57e84"},
    {"get-slashes-unnormalized",
     "GET",
     "//example//",
     {},
     {},
     "",
     "",
     PathRule::kAsIs,
     "528ec3105ee1f34ab014bb0a1a45da0ed2742a4fea3555149e5b4d5d201eb240",
     "87cca117541a147f6df867677d98a7d80dff226d2bfca9e4ffa899665623c7e5"},
    {"get-space-normalized",
     "GET",
     "/example space/",
     {},
     {},
     "",
     "",
     PathRule::kNormalized,
     "63ee75631ed7234ae61b5f736dfc7754cdccfedbff4b5128a915706ee9390d86",
     "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741"},
    {"get-space-unnormalized",
     "GET",
     "/example space/",
     {},
     {},
     "",
     "",
     PathRule::kAsIs,
     "63ee75631ed7234ae61b5f736dfc7754cdccfedbff4b5128a915706ee9390d86",
     "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741"},
    {"get-unreserved",
     "GET",
     "/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
     {},
     {},
     "",
     "",
     PathRule::kNormalized,
     "6a968768eefaa713e2a6b16b589a8ea192661f098f37349f4e2c0082757446f9",
     "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"},
    {"get-utf8",
     "GET",
     "/ሴ",
     {},
     {},
     "",
     "",
     PathRule::kNormalized,
     "2a0a97d02205e45ce2e994789806b19270cfbbb0921b278ccf58f5249ac42102",
     "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"},
    {"get-vanilla-empty-query-key",
     "GET",
     "/",
     {{"Param1", "value1"}},
     {},
     "",
     "",
     PathRule::kNormalized,
     "1e24db194ed7d0eec2de28d7369675a243488e08526e8c1c73571282f7c517ab",
     "a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb"},
    {"get-vanilla-query-order-encoded",
     "GET",
     "/",
     {{"Param-3", "Value3"}, {"Param", "Value2"}, {"ሴ", "Value1"}},
     {},
     "",
     "",
     PathRule::kNormalized,
     "868294f5c38bd141c4972a373a76654f1418a8e4fc18b2e7903ae45e8ae0ec71",
     "371d3713e185cc334048618a97f809c9ffe339c62934c032af5a0e595648fcac"},
    {"get-vanilla-query-order-key-case",
     "GET",
     "/",
     {{"Param2", "value2"}, {"Param1", "value1"}},
     {},
     "",
     "",
     PathRule::kNormalized,
     "816cd5b414d056048ba4f7c5386d6e0533120fb1fcfa93762cf0fc39e2cf19e0",
     "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
    {"get-vanilla-query-unreserved",
     "GET",
     "/",
     {{"-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
       "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"}},
     {},
     "",
     "",
     PathRule::kNormalized,
     "c30d4703d9f799439be92736156d47ccfb2d879ddf56f5befa6d1d6aab979177",
     "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197"},
    {"get-vanilla-query",
     "GET",
     "/",
     {},
     {},
     "",
     "",
     PathRule::kNormalized,
     "bb579772317eb040ac9ed261061d46c1f17a8133879d6129b6e1c25292927e63",
     "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
    {"get-vanilla-utf8-query",
     "GET",
     "/",
     {{"ሴ", "bar"}},
     {},
     "",
     "",
     PathRule::kNormalized,
     "eb30c5bed55734080471a834cc727ae56beb50e5f39d1bff6d0d38cb192a7073",
     "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"},
    {"get-vanilla-with-session-token",
     "GET",
     "/",
     {},
     {},
     "",
     kSessionToken,
     PathRule::kNormalized,
     "067b36aa60031588cea4a4cde1f21215227a047690c72247f1d70b32fbbfad2b",
     "07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8"},
    {"get-vanilla",
     "GET",
     "/",
     {},
     {},
     "",
     "",
     PathRule::kNormalized,
     "bb579772317eb040ac9ed261061d46c1f17a8133879d6129b6e1c25292927e63",
     "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
    {"post-header-key-case",
     "POST",
     "/",
     {},
     {},
     "",
     "",
     PathRule::kNormalized,
     "553f88c9e4d10fc9e109e2aeb65f030801b70c2f6468faca261d401ae622fc87",
     "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
    {"post-header-key-sort",
     "POST",
     "/",
     {},
     {{"My-Header1", "value1"}},
     "",
     "",
     PathRule::kNormalized,
     "9368318c2967cf6de74404b30c65a91e8f6253e0a8659d6d5319f1a812f87d65",
     "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c"},
    {"post-header-value-case",
     "POST",
     "/",
     {},
     {{"My-Header1", "VALUE1"}},
     "",
     "",
     PathRule::kNormalized,
     "d51ced243e649e3de6ef63afbbdcbca03131a21a7103a1583706a64618606a93",
     "cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d"},
    {"post-sts-header-after",
     "POST",
     "/",
     {},
     {},
     "",
     "",
     PathRule::kNormalized,
     "553f88c9e4d10fc9e109e2aeb65f030801b70c2f6468faca261d401ae622fc87",
     "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
    {"post-sts-header-before",
     "POST",
     "/",
     {},
     {},
     "",
     kLongToken,
     PathRule::kNormalized,
     "c237e1b440d4c63c32ca95b5b99481081cb7b13c7e40434868e71567c1a882f6",
     "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead"},
    {"post-vanilla-empty-query-value",
     "POST",
     "/",
     {{"Param1", "value1"}},
     {},
     "",
     "",
     PathRule::kNormalized,
     "9d659678c1756bb3113e2ce898845a0a79dbbc57b740555917687f1b3340fbbd",
     "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11"},
    {"post-vanilla-query",
     "POST",
     "/",
     {{"Param1", "value1"}},
     {},
     "",
     "",
     PathRule::kNormalized,
     "9d659678c1756bb3113e2ce898845a0a79dbbc57b740555917687f1b3340fbbd",
     "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11"},
    {"post-vanilla",
     "POST",
     "/",
     {},
     {},
     "",
     "",
     PathRule::kNormalized,
     "553f88c9e4d10fc9e109e2aeb65f030801b70c2f6468faca261d401ae622fc87",
     "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
    {"post-x-www-form-urlencoded-parameters",
     "POST",
     "/",
     {},
     {{"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"},
      {"Content-Length", "13"},
      {"x-amz-content-sha256", "9095672bbd1f56dfc5b65f3e153adc8731a4a654192329106275f4c7b24d0b6e"}},
     "Param1=value1",
     "",
     PathRule::kNormalized,
     "a89f1a5b53e37702ee6363ce1da3ce8f54386f3c8f352ae652153c2982a0bc4d",
     "328d1b9eaadca9f5818ef05e8392801e091653bafec24fcab71e7344e7f51422"},
    {"post-x-www-form-urlencoded",
     "POST",
     "/",
     {},
     {{"Content-Type", "application/x-www-form-urlencoded"},
      {"Content-Length", "13"},
      {"x-amz-content-sha256", "9095672bbd1f56dfc5b65f3e153adc8731a4a654192329106275f4c7b24d0b6e"}},
     "Param1=value1",
     "",
     PathRule::kNormalized,
     "b1edd1d03544c25390e32085d55b57acc9a3961bb59415ff86c45c3d89d16cfb",
     "d3875051da38690788ef43de4db0d8f280229d82040bfac253562e56c3f20e0b"},
};

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
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    const Signature made = sign_case(c);
    EXPECT_EQ(made.string_to_sign,
              "AWS4-HMAC-SHA256\n20150830T123600Z\n20150830/us-east-1/service/aws4_request\n" +
                  c.canonical_sha256)
        << made.canonical_request;
    EXPECT_EQ(made.signature, c.signature);
  }
  EXPECT_EQ(std::size(kCases), 38u);
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
