// What the machine says about AWS: environment variables and the shared files (~/.aws/config,
// ~/.aws/credentials), as values. The names and their meaning are those of the vendor's SDKs and
// command line ("AWS SDKs and Tools Reference Guide", settings reference). Read once, at the start.
//
// Not supported, and said so where it would be needed: credential_process, SSO, MFA, and the
// `services` sections of the config file (AWS_ENDPOINT_URL_<SERVICE> does the same).
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace karst::cloud::aws {

inline constexpr std::size_t kSharedFileBytesMax = 1u << 20;
inline constexpr std::size_t kProfilesMax = 1000;
inline constexpr std::size_t kProfileKeysMax = 100;

using Environment = std::map<std::string, std::string, std::less<>>;
using Profile = std::map<std::string, std::string, std::less<>>;  // keys in lower case
using Profiles = std::map<std::string, Profile, std::less<>>;

// AWS_… and HOME of this process. Before threads start.
Environment read_environment();

// In the config file a profile is [profile NAME] or [default], in the credentials file [NAME].
// Values of the kind "s3 =" with indented lines below are passed over. `place` names the file in
// errors, which never quote what stands in it. Errors: kInvalid.
enum class FileKind { kConfig, kCredentials };
base::Result<Profiles> parse_shared_file(std::string_view text, FileKind kind,
                                         const std::string& place);

struct Settings {
  Environment environment;
  Profiles profiles;  // of both files; what the credentials file says wins
  std::string profile_name = "default";
  std::string files;  // where the profiles are from, for people

  // An environment variable; nullopt when it is not set or empty.
  std::optional<std::string> variable(std::string_view name) const;
  // true, TRUE, True; anything else is false.
  bool switched_on(std::string_view name) const;
  // A key of the chosen profile.
  std::optional<std::string> profile_value(std::string_view key) const;
  // AWS_REGION, AWS_DEFAULT_REGION, the profile's; nullopt: the instance's own may be asked for.
  std::optional<std::string> region() const;
};

// Reads the shared files (AWS_CONFIG_FILE, AWS_SHARED_CREDENTIALS_FILE, else those below HOME; a
// file that is not there is empty). Errors: kInvalid: a file that cannot be read or understood; a
// profile that AWS_PROFILE names and no file has.
base::Result<Settings> read_settings(Environment environment);

}  // namespace karst::cloud::aws
