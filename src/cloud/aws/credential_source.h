// Where credentials come from, decided once from the settings alone, in the order of the vendor's
// SDKs: environment, web identity (IRSA), the profile of the shared files, container (EKS Pod
// Identity, ECS), instance metadata. The first one that is configured is the one; that it does not
// work is an error and no reason to try the next, which would be somebody else's rights. Pure.
//
// Not supported, each an error that says so: credential_process, SSO, roles that ask for MFA.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "cloud/aws/settings.h"
#include "cloud/aws/sigv4.h"

namespace karst::cloud::aws {

inline constexpr int kRoleChainMax = 5;

struct StaticKeys {
  Credentials keys;
};
// STS AssumeRoleWithWebIdentity with the token that the file holds then.
struct WebIdentity {
  std::string role_arn;
  std::string token_file;
  std::string session_name;
};
// A GET with an Authorization header; `token_file` is read each time and wins over `token`.
struct Container {
  std::string url;
  std::string token_file;
  Secret token;
};
struct InstanceMetadata {
  std::string url;  // without a path
};

// One more role, assumed with what came before it.
struct RoleStep {
  std::string role_arn;
  std::string session_name;
  std::string external_id;
  std::int64_t duration_seconds = 3600;
};

struct CredentialSource {
  std::variant<StaticKeys, WebIdentity, Container, InstanceMetadata> base;
  std::vector<RoleStep> roles;  // in the order of their assuming
  std::string described;        // for people: "profile prod of ~/.aws/config"
};

// Errors: kInvalid: half a setting, something unsupported, an address that must not be asked.
base::Result<CredentialSource> choose_source(const Settings& settings);

// Where IMDS is: AWS_EC2_METADATA_SERVICE_ENDPOINT, or by AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE
// (IPv4, IPv6). Errors: kInvalid: no URL; kGone: AWS_EC2_METADATA_DISABLED=true.
base::Result<std::string> metadata_url(const Settings& settings);

}  // namespace karst::cloud::aws
