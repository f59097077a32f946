#include "cloud/aws/credential_source.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "cloud/aws/url.h"

namespace karst::cloud::aws {
namespace {

using base::Kind;
using base::Result;

constexpr std::string_view kSessionName = "karst";

// The hosts that plain HTTP may be spoken with: this machine, and the link-local addresses where
// the vendor's agents listen (ECS, EKS Pod Identity over IPv4 and IPv6).
bool may_be_asked_in_the_clear(std::string_view host) {
  return is_loopback_host(host) || host == "169.254.170.2" || host == "169.254.170.23" ||
         host == "fd00:ec2::23";
}

std::optional<StaticKeys> environment_keys(const Settings& settings) {
  const auto id = settings.variable("AWS_ACCESS_KEY_ID");
  const auto secret = settings.variable("AWS_SECRET_ACCESS_KEY");
  if (!id || !secret) return std::nullopt;
  StaticKeys found;
  found.keys.access_key_id = *id;
  found.keys.secret_access_key = Secret(*secret);
  found.keys.session_token = Secret(settings.variable("AWS_SESSION_TOKEN").value_or(""));
  found.keys.source = "AWS_ACCESS_KEY_ID of the environment";
  return found;
}

Result<CredentialSource> web_identity_of(const Settings& settings) {
  const auto file = settings.variable("AWS_WEB_IDENTITY_TOKEN_FILE");
  const auto role = settings.variable("AWS_ROLE_ARN");
  if (!file || !role)
    return base::fail(Kind::kInvalid,
                      "AWS_WEB_IDENTITY_TOKEN_FILE is set and AWS_ROLE_ARN is not; "
                      "both are needed (EKS sets both on a pod whose service "
                      "account names a role)");
  return CredentialSource{
      WebIdentity{*role, *file,
                  settings.variable("AWS_ROLE_SESSION_NAME").value_or(std::string(kSessionName))},
      {},
      "web identity for " + *role};
}

std::optional<Result<CredentialSource>> container_of(const Settings& settings) {
  const auto relative = settings.variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
  const auto full = settings.variable("AWS_CONTAINER_CREDENTIALS_FULL_URI");
  if (!relative && !full) return std::nullopt;
  Container container;
  container.url = relative ? "http://169.254.170.2" + *relative : *full;
  const std::string name =
      relative ? "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI" : "AWS_CONTAINER_CREDENTIALS_FULL_URI";
  const auto url = split_url(container.url);
  if (!url || (relative && !relative->starts_with('/')))
    return base::fail(Kind::kInvalid, name + (relative ? ": expected a path like /v2/credentials/…"
                                                       : ": expected an http or https URL"));
  if (url->scheme == "http" && !may_be_asked_in_the_clear(url->host))
    return base::fail(Kind::kInvalid,
                      name +
                          ": plain HTTP is spoken only with this machine (127.0.0.1, ::1, "
                          "localhost) and with 169.254.170.2, 169.254.170.23 and "
                          "[fd00:ec2::23]; give an https URL");
  container.token_file = settings.variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE").value_or("");
  container.token = Secret(settings.variable("AWS_CONTAINER_AUTHORIZATION_TOKEN").value_or(""));
  return CredentialSource{std::move(container), {}, "the container agent at " + url->authority};
}

Result<CredentialSource> instance_of(const Settings& settings) {
  auto url = metadata_url(settings);
  if (!url && url.error().kind == Kind::kGone)
    return base::fail(Kind::kInvalid,
                      "no AWS credentials: no keys, web identity or container agent in the "
                      "environment, no profile with credentials, and " +
                          url.error().message);
  if (!url) return base::fail(url.error());
  return CredentialSource{InstanceMetadata{*url}, {}, "instance metadata at " + *url};
}

// Follows a profile through its sources.
class ProfileReader {
 public:
  explicit ProfileReader(const Settings& settings) : settings_(settings) {}

  // nullopt: the profile says nothing of credentials.
  Result<std::optional<CredentialSource>> read(const std::string& name, int depth) {
    const std::string place = "profile " + name + " of " + settings_.files;
    if (depth > kRoleChainMax)
      return base::fail(Kind::kInvalid, place +
                                            ": more than 5 roles one after the other, or a "
                                            "circle of source_profile");
    const auto found = settings_.profiles.find(name);
    if (found == settings_.profiles.end())
      return depth == 0 ? Result<std::optional<CredentialSource>>(std::nullopt)
                        : base::fail(Kind::kInvalid, "source_profile " + name +
                                                         ": there is no such "
                                                         "profile");
    const Profile& profile = found->second;
    // A profile that names itself as its source means its own keys.
    const bool own_keys = depth > 0 && text(profile, "source_profile") == name;
    if (profile.contains("role_arn") && !own_keys) return role_of(name, profile, place, depth);
    return keys_of(profile, place);
  }

 private:
  static std::string text(const Profile& profile, std::string_view key) {
    const auto found = profile.find(key);
    return found == profile.end() ? "" : found->second;
  }

  static Result<std::optional<CredentialSource>> keys_of(const Profile& profile,
                                                         const std::string& place) {
    const std::string id = text(profile, "aws_access_key_id");
    const std::string secret = text(profile, "aws_secret_access_key");
    if (id.empty() != secret.empty())
      return base::fail(Kind::kInvalid,
                        place + ": aws_access_key_id and aws_secret_access_key belong together");
    if (!id.empty())
      return CredentialSource{
          StaticKeys{{id, Secret(secret), Secret(text(profile, "aws_session_token")), {}, place}},
          {},
          place};
    for (const char* key : {"credential_process", "sso_session", "sso_start_url"})
      if (profile.contains(key))
        return base::fail(Kind::kInvalid, place + ": " + key +
                                              " is not supported; use keys, role_arn with "
                                              "source_profile or web_identity_token_file, or the "
                                              "identity of the pod");
    return std::nullopt;
  }

  Result<std::optional<CredentialSource>> role_of(const std::string& name, const Profile& profile,
                                                  const std::string& place, int depth) {
    RoleStep step;
    step.role_arn = text(profile, "role_arn");
    step.session_name = text(profile, "role_session_name");
    if (step.session_name.empty()) step.session_name = kSessionName;
    step.external_id = text(profile, "external_id");
    if (profile.contains("mfa_serial"))
      return base::fail(Kind::kInvalid,
                        place + ": mfa_serial is not supported: nobody is there to type a code");
    if (const std::string seconds = text(profile, "duration_seconds"); !seconds.empty()) {
      const char* end = seconds.data() + seconds.size();
      const auto [last, error] = std::from_chars(seconds.data(), end, step.duration_seconds);
      if (error != std::errc() || last != end || step.duration_seconds < 900 ||
          step.duration_seconds > 43'200)
        return base::fail(Kind::kInvalid, place + ": duration_seconds: expected 900 to 43200");
    }
    if (profile.contains("web_identity_token_file"))
      return CredentialSource{
          WebIdentity{step.role_arn, text(profile, "web_identity_token_file"), step.session_name},
          {},
          place};
    auto base = source_of(name, profile, place, depth);
    if (!base) return base::fail(base.error());
    base->roles.push_back(std::move(step));
    base->described = place;
    return std::optional<CredentialSource>(std::move(*base));
  }

  Result<CredentialSource> source_of(const std::string& name, const Profile& profile,
                                     const std::string& place, int depth) {
    if (profile.contains("source_profile")) {
      const std::string source = text(profile, "source_profile");
      auto base = source == name ? keys_of(profile, place) : read(source, depth + 1);
      if (!base) return base::fail(base.error());
      if (*base) return std::move(**base);
      return base::fail(Kind::kInvalid,
                        place + ": its source_profile " + source + " has no credentials");
    }
    const std::string named = text(profile, "credential_source");
    if (named == "Environment") {
      if (auto keys = environment_keys(settings_)) return CredentialSource{*keys, {}, ""};
      return base::fail(Kind::kInvalid, place +
                                            ": credential_source is Environment, and there are "
                                            "no keys in it");
    }
    if (named == "Ec2InstanceMetadata") return instance_of(settings_);
    if (named == "EcsContainer") {
      if (auto container = container_of(settings_)) return std::move(*container);
      return base::fail(Kind::kInvalid, place +
                                            ": credential_source is EcsContainer, and the "
                                            "environment names no container agent");
    }
    return base::fail(Kind::kInvalid,
                      place +
                          ": role_arn needs source_profile, web_identity_token_file, or a "
                          "credential_source of Environment, Ec2InstanceMetadata or "
                          "EcsContainer");
  }

  const Settings& settings_;
};

}  // namespace

Result<std::string> metadata_url(const Settings& settings) {
  if (settings.switched_on("AWS_EC2_METADATA_DISABLED"))
    return base::fail(Kind::kGone, "AWS_EC2_METADATA_DISABLED forbids to ask the instance");
  if (const auto given = settings.variable("AWS_EC2_METADATA_SERVICE_ENDPOINT")) {
    const auto url = split_url(*given);
    if (!url || !url->query.empty())
      return base::fail(Kind::kInvalid,
                        "AWS_EC2_METADATA_SERVICE_ENDPOINT: expected http://HOST[:PORT]");
    return url->scheme + "://" + url->authority;
  }
  const auto mode = settings.variable("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE");
  return mode && (*mode == "IPv6" || *mode == "ipv6") ? "http://[fd00:ec2::254]"
                                                      : "http://169.254.169.254";
}

Result<CredentialSource> choose_source(const Settings& settings) {
  if (auto keys = environment_keys(settings)) {
    const std::string described = keys->keys.source;
    return CredentialSource{std::move(*keys), {}, described};
  }
  if (settings.variable("AWS_ACCESS_KEY_ID") || settings.variable("AWS_SECRET_ACCESS_KEY"))
    return base::fail(Kind::kInvalid,
                      "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY belong "
                      "together, and one of them is not set");
  if (settings.variable("AWS_WEB_IDENTITY_TOKEN_FILE")) return web_identity_of(settings);
  auto profile = ProfileReader(settings).read(settings.profile_name, 0);
  if (!profile) return base::fail(profile.error());
  if (*profile) return std::move(**profile);
  if (auto container = container_of(settings)) return std::move(*container);
  return instance_of(settings);
}

}  // namespace karst::cloud::aws
