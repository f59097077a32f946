// Shared files, regions and the choice of a credential source, as tables.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "cloud/aws/credential_source.h"
#include "cloud/aws/settings.h"
#include "cloud/aws/url.h"

namespace karst::cloud::aws {
namespace {

Settings settings_of(const std::string& config, const std::string& credentials,
                     Environment environment = {}) {
  Settings settings;
  settings.environment = std::move(environment);
  settings.files = "~/.aws/config";
  const auto first = parse_shared_file(config, FileKind::kConfig, "config");
  const auto second = parse_shared_file(credentials, FileKind::kCredentials, "credentials");
  EXPECT_TRUE(first && second);
  if (first) settings.profiles = *first;
  if (second)
    for (const auto& [name, values] : *second)
      for (const auto& [key, value] : values) settings.profiles[name][key] = value;
  settings.profile_name = settings.variable("AWS_PROFILE").value_or("default");
  return settings;
}

TEST(AwsSharedFiles, ProfilesAreReadAsTheVendorReadsThem) {
  const auto read = parse_shared_file(
      "# a remark\r\n[default]\nregion = eu-west-1 # inline\nOUTPUT=json\n\n"
      "[profile \"two words\"]\nrole_arn=arn:aws:iam::1:role/a#b\ns3 =\n  max_queue = 7\n"
      "[services local]\nec2 =\n  endpoint_url = http://x\n[sso-session me]\nanything goes\n"
      "[profile  last]\nregion=\n",
      FileKind::kConfig, "config");
  ASSERT_TRUE(read) << read.error().message;
  const Profiles want = {
      {"default", {{"region", "eu-west-1"}, {"output", "json"}}},
      {"two words", {{"role_arn", "arn:aws:iam::1:role/a#b"}, {"s3", ""}}},
      {"last", {{"region", ""}}},
  };
  EXPECT_EQ(*read, want);
  const auto plain =
      parse_shared_file("[a]\naws_access_key_id = x;y\n", FileKind::kCredentials, "");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->at("a").at("aws_access_key_id"), "x;y");
}

TEST(AwsSharedFiles, ErrorsNameTheLineAndNeverQuoteIt) {
  const struct {
    const char* text;
    const char* want;
  } kCases[] = {
      {"[a]\ncanary\n", "creds:2: expected [profile] or key = value below a profile"},
      {"canary=1\n", "creds:1: expected [profile] or key = value below a profile"},
      {"\n[canary\n", "creds:2: a section begins with [ and has no ]"},
  };
  for (const auto& c : kCases) {
    const auto read = parse_shared_file(c.text, FileKind::kCredentials, "creds");
    ASSERT_FALSE(read) << c.text;
    EXPECT_EQ(read.error().message, c.want);
  }
  std::string many;
  for (std::size_t i = 0; i <= kProfilesMax; ++i) many += "[p" + std::to_string(i) + "]\n";
  EXPECT_FALSE(parse_shared_file(many, FileKind::kCredentials, "creds"));
}

TEST(AwsSharedFiles, TheChosenProfileMustExistAndFilesMayBeAbsent) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("karst-aws-settings-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder / ".aws");
  const Environment home = {{"HOME", folder.string()}};
  EXPECT_TRUE(read_settings(home));
  std::ofstream(folder / ".aws/config") << "[profile prod]\nregion = eu-central-1\n";
  std::ofstream(folder / ".aws/credentials") << "[prod]\naws_access_key_id = AK\n"
                                                "aws_secret_access_key = canary\n";
  auto prod = read_settings({{"HOME", folder.string()}, {"AWS_PROFILE", "prod"}});
  ASSERT_TRUE(prod) << prod.error().message;
  EXPECT_EQ(prod->region(), "eu-central-1");
  EXPECT_EQ(prod->profile_value("aws_access_key_id"), "AK");
  const auto absent = read_settings({{"HOME", folder.string()}, {"AWS_PROFILE", "dev"}});
  ASSERT_FALSE(absent);
  EXPECT_NE(absent.error().message.find("AWS_PROFILE: there is no profile dev in"),
            std::string::npos)
      << absent.error().message;
  std::filesystem::remove_all(folder);
}

TEST(AwsSettings, TheRegionComesFromTheEnvironmentFirst) {
  const std::string config = "[default]\nregion = us-west-2\n";
  EXPECT_EQ(settings_of(config, "").region(), "us-west-2");
  EXPECT_EQ(settings_of(config, "", {{"AWS_DEFAULT_REGION", "eu-west-1"}}).region(), "eu-west-1");
  EXPECT_EQ(settings_of(config, "", {{"AWS_DEFAULT_REGION", "eu-west-1"}, {"AWS_REGION", "a-b"}})
                .region(),
            "a-b");
  EXPECT_EQ(settings_of("", "", {{"AWS_REGION", ""}}).region(), std::nullopt);
}

TEST(AwsUrl, HostsAreReadWithoutTricks) {
  const struct {
    const char* text;
    const char* host;  // empty: refused
  } kCases[] = {
      {"http://127.0.0.1:8080/x?y=1", "127.0.0.1"},
      {"https://Example.COM", "example.com"},
      {"http://[fd00:ec2::23]/v1/credentials", "fd00:ec2::23"},
      {"http://[::1]:9", "::1"},
      {"http://127.0.0.1@evil.example/", ""},
      {"http://127.0.0.1#@evil.example/", ""},
      {"http://127.0.0.1\\@evil.example/", ""},
      {"http://[::1]evil", ""},
      {"http://[::1", ""},
      {"ftp://127.0.0.1/", ""},
      {"http:///x", ""},
      {"http://a b/", ""},
      {"http://a\r\nX: y", ""},
      {"127.0.0.1", ""},
  };
  for (const auto& c : kCases) {
    const auto url = split_url(c.text);
    EXPECT_EQ(url ? url->host : "", c.host) << c.text;
  }
  const auto parts = split_url("http://127.0.0.1:8080/x?y=1");
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->authority + "|" + parts->path + "|" + parts->query, "127.0.0.1:8080|/x|y=1");
  EXPECT_TRUE(is_loopback_host("127.9.9.9"));
  EXPECT_FALSE(is_loopback_host("127.0.0.1.evil.example"));
  EXPECT_EQ(uri_encode("a b/é~+", "/"), "a%20b/%C3%A9~%2B");
}

// What was chosen, in one line.
std::string chosen(const Settings& settings) {
  const auto source = choose_source(settings);
  if (!source) return "error: " + source.error().message;
  std::string text;
  if (const auto* keys = std::get_if<StaticKeys>(&source->base))
    text = "keys " + keys->keys.access_key_id;
  if (const auto* web = std::get_if<WebIdentity>(&source->base))
    text = "web " + web->role_arn + " " + web->token_file + " " + web->session_name;
  if (const auto* container = std::get_if<Container>(&source->base))
    text = "container " + container->url + " " + container->token_file;
  if (const auto* instance = std::get_if<InstanceMetadata>(&source->base))
    text = "instance " + instance->url;
  for (const RoleStep& role : source->roles)
    text += " > " + role.role_arn + " " + role.session_name + " " +
            std::to_string(role.duration_seconds);
  return text;
}

const Environment kKeys = {{"AWS_ACCESS_KEY_ID", "AKENV"}, {"AWS_SECRET_ACCESS_KEY", "canary"}};

TEST(AwsCredentialSource, TheFirstConfiguredSourceIsTheOne) {
  Environment all = kKeys;
  all.merge(Environment{{"AWS_WEB_IDENTITY_TOKEN_FILE", "/t"},
                        {"AWS_ROLE_ARN", "arn:r"},
                        {"AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://169.254.170.23/v1"}});
  const std::string keys =
      "[default]\naws_access_key_id = AKFILE\naws_secret_access_key = canary\n";
  EXPECT_EQ(chosen(settings_of("", keys, all)), "keys AKENV");
  all.erase("AWS_ACCESS_KEY_ID");
  all.erase("AWS_SECRET_ACCESS_KEY");
  EXPECT_EQ(chosen(settings_of("", keys, all)), "web arn:r /t karst");
  all["AWS_ROLE_SESSION_NAME"] = "mine";
  EXPECT_EQ(chosen(settings_of("", keys, all)), "web arn:r /t mine");
  all.erase("AWS_WEB_IDENTITY_TOKEN_FILE");
  EXPECT_EQ(chosen(settings_of("", keys, all)), "keys AKFILE");
  EXPECT_EQ(chosen(settings_of("", "", all)), "container http://169.254.170.23/v1 ");
  EXPECT_EQ(chosen(settings_of("", "")), "instance http://169.254.169.254");
}

TEST(AwsCredentialSource, ProfilesAssumeRoles) {
  const std::string config =
      "[profile one]\nrole_arn = arn:one\nsource_profile = two\nduration_seconds = 900\n"
      "[profile two]\nrole_arn = arn:two\nsource_profile = base\nrole_session_name = s2\n"
      "[profile self]\nrole_arn = arn:self\nsource_profile = self\n"
      "[profile web]\nrole_arn = arn:web\nweb_identity_token_file = /w\n"
      "[profile env]\nrole_arn = arn:env\ncredential_source = Environment\n"
      "[profile imds]\nrole_arn = arn:i\ncredential_source = Ec2InstanceMetadata\n"
      "[profile round]\nrole_arn = arn:r\nsource_profile = back\n"
      "[profile back]\nrole_arn = arn:b\nsource_profile = round\n"
      "[profile half]\nrole_arn = arn:h\n"
      "[profile mfa]\nrole_arn = arn:m\nsource_profile = base\nmfa_serial = x\n"
      "[profile sso]\nsso_session = x\n"
      "[profile proc]\ncredential_process = /bin/x\n"
      "[profile long]\nrole_arn = arn:l\nsource_profile = base\nduration_seconds = 1\n"
      "[profile nosrc]\nrole_arn = arn:n\nsource_profile = nobody\n"
      "[profile empty]\nregion = x\n"
      "[profile viaempty]\nrole_arn = arn:v\nsource_profile = empty\n";
  const std::string credentials =
      "[base]\naws_access_key_id = AKBASE\naws_secret_access_key = canary\n"
      "[self]\naws_access_key_id = AKSELF\naws_secret_access_key = canary\n"
      "[torn]\naws_access_key_id = AK\n";
  const struct {
    const char* profile;
    const char* want;  // its beginning
  } kCases[] = {
      {"base", "keys AKBASE"},
      {"one", "keys AKBASE > arn:two s2 3600 > arn:one karst 900"},
      {"self", "keys AKSELF > arn:self karst 3600"},
      {"web", "web arn:web /w karst"},
      {"env", "error: profile env of ~/.aws/config: credential_source is Environment"},
      {"imds", "instance http://169.254.169.254 > arn:i karst 3600"},
      {"round", "error: profile round of ~/.aws/config: more than 5 roles"},
      {"half", "error: profile half of ~/.aws/config: role_arn needs source_profile"},
      {"mfa", "error: profile mfa of ~/.aws/config: mfa_serial is not supported"},
      {"sso", "error: profile sso of ~/.aws/config: sso_session is not supported"},
      {"proc", "error: profile proc of ~/.aws/config: credential_process is not supported"},
      {"long", "error: profile long of ~/.aws/config: duration_seconds: expected 900 to 43200"},
      {"nosrc", "error: source_profile nobody: there is no such profile"},
      {"viaempty", "error: profile viaempty of ~/.aws/config: its source_profile empty has no"},
      {"torn", "error: profile torn of ~/.aws/config: aws_access_key_id and"},
      {"empty", "instance "},
  };
  for (const auto& c : kCases) {
    const std::string got = chosen(settings_of(config, credentials, {{"AWS_PROFILE", c.profile}}));
    EXPECT_EQ(got.substr(0, std::string_view(c.want).size()), c.want) << got;
    EXPECT_EQ(got.find("canary"), std::string::npos) << got;
  }
}

TEST(AwsCredentialSource, AContainerAgentIsHereOrBehindTls) {
  const struct {
    const char* url;
    bool allowed;
  } kCases[] = {
      {"http://127.0.0.1:1338/x", true},
      {"http://localhost/x", true},
      {"http://[::1]/x", true},
      {"http://169.254.170.2/x", true},
      {"http://169.254.170.23/v1/credentials", true},
      {"http://[fd00:ec2::23]/v1/credentials", true},
      {"https://anywhere.example/x", true},
      {"http://anywhere.example/x", false},
      {"http://169.254.169.254/latest", false},
      {"http://169.254.170.23.evil.example/", false},
      {"http://169.254.170.23@evil.example/", false},
      {"http://127.evil.example/", false},
      {"file:///etc/passwd", false},
  };
  for (const auto& c : kCases) {
    const std::string got =
        chosen(settings_of("", "", {{"AWS_CONTAINER_CREDENTIALS_FULL_URI", c.url}}));
    EXPECT_EQ(got.starts_with("container "), c.allowed) << c.url << ": " << got;
  }
  EXPECT_EQ(chosen(settings_of("", "", {{"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/v2/c"}})),
            "container http://169.254.170.2/v2/c ");
  EXPECT_TRUE(chosen(settings_of("", "", {{"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", ".evil/"}}))
                  .starts_with("error: AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"));
}

TEST(AwsCredentialSource, HalfSettingsAreErrorsThatSayWhatIsMissing) {
  const struct {
    Environment environment;
    const char* want;
  } kCases[] = {
      {{{"AWS_ACCESS_KEY_ID", "AK"}}, "error: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY belong"},
      {{{"AWS_WEB_IDENTITY_TOKEN_FILE", "/t"}}, "error: AWS_WEB_IDENTITY_TOKEN_FILE is set and"},
      {{{"AWS_EC2_METADATA_DISABLED", "true"}}, "error: no AWS credentials: no keys, web identity"},
      {{{"AWS_EC2_METADATA_SERVICE_ENDPOINT", "x"}}, "error: AWS_EC2_METADATA_SERVICE_ENDPOINT: "},
      {{{"AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://127.0.0.1:5/"}},
       "instance http://127.0.0.1:5"},
      {{{"AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE", "IPv6"}}, "instance http://[fd00:ec2::254]"},
  };
  for (const auto& c : kCases) {
    const std::string got = chosen(settings_of("", "", c.environment));
    EXPECT_EQ(got.substr(0, std::string_view(c.want).size()), c.want) << got;
  }
}

}  // namespace
}  // namespace karst::cloud::aws
