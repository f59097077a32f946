#include "cloud/aws/settings.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>

#include "cloud/aws/small_file.h"

namespace karst::cloud::aws {
namespace {

using base::Kind;

std::string_view trimmed_view(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

// The profile that a section's header opens; nullopt: a section of another kind.
std::optional<std::string> profile_of(std::string_view header, FileKind kind) {
  header = trimmed_view(header);
  if (kind == FileKind::kCredentials || header == "default") return std::string(header);
  if (!header.starts_with("profile ") && !header.starts_with("profile\t")) return std::nullopt;
  header = trimmed_view(header.substr(8));
  if (header.size() >= 2 && header.front() == '"' && header.back() == '"')
    header = header.substr(1, header.size() - 2);
  return std::string(header);
}

std::string lower(std::string_view text) {
  std::string made(text);
  std::transform(made.begin(), made.end(), made.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return made;
}

// " #" and " ;" begin a remark; without the blank they belong to the value.
std::string_view without_remark(std::string_view value) {
  for (std::size_t i = 1; i < value.size(); ++i)
    if ((value[i] == '#' || value[i] == ';') && (value[i - 1] == ' ' || value[i - 1] == '\t'))
      return trimmed_view(value.substr(0, i));
  return value;
}

base::Status read_profiles(const std::string& path, FileKind kind, Settings& settings) {
  if (path.empty()) return {};
  auto text = read_small_file(path, kSharedFileBytesMax);
  if (!text && text.error().kind == Kind::kGone) return {};
  if (!text) return base::fail(text.error());
  auto profiles = parse_shared_file(*text, kind, path);
  if (!profiles) return base::fail(profiles.error());
  for (auto& [name, values] : *profiles)
    for (auto& [key, value] : values) settings.profiles[name][key] = std::move(value);
  settings.files += (settings.files.empty() ? "" : ", ") + path;
  return {};
}

}  // namespace

Environment read_environment() {
  Environment found;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = text.substr(0, equals);
    if (name.starts_with("AWS_") || name == "HOME")
      found.emplace(std::string(name), std::string(text.substr(equals + 1)));
  }
  return found;
}

base::Result<Profiles> parse_shared_file(std::string_view text, FileKind kind,
                                         const std::string& place) {
  Profiles profiles;
  Profile* open = nullptr;
  bool other_section = false;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view raw = text.substr(0, end), line = trimmed_view(raw);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    const std::string where = place + ":" + std::to_string(number);
    if (line.front() == '[') {
      const std::size_t close = line.find(']');
      if (close == std::string_view::npos)
        return base::fail(Kind::kInvalid, where + ": a section begins with [ and has no ]");
      const auto name = profile_of(line.substr(1, close - 1), kind);
      other_section = !name;
      open = name ? &profiles[*name] : nullptr;
      if (profiles.size() > kProfilesMax)
        return base::fail(Kind::kInvalid, where + ": more than 1000 profiles");
      continue;
    }
    if (raw.front() == ' ' || raw.front() == '\t') continue;  // belongs to the value above
    if (other_section) continue;
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos || open == nullptr)
      return base::fail(Kind::kInvalid,
                        where + ": expected [profile] or key = value below a profile");
    const std::string_view value = without_remark(trimmed_view(line.substr(equals + 1)));
    (*open)[lower(trimmed_view(line.substr(0, equals)))] = std::string(value);
    if (open->size() > kProfileKeysMax)
      return base::fail(Kind::kInvalid, where + ": more than 100 keys in one profile");
  }
  return profiles;
}

std::optional<std::string> Settings::variable(std::string_view name) const {
  const auto found = environment.find(name);
  if (found == environment.end() || found->second.empty()) return std::nullopt;
  return found->second;
}

bool Settings::switched_on(std::string_view name) const {
  const auto value = variable(name);
  return value && lower(*value) == "true";
}

std::optional<std::string> Settings::profile_value(std::string_view key) const {
  const auto profile = profiles.find(profile_name);
  if (profile == profiles.end()) return std::nullopt;
  const auto found = profile->second.find(key);
  if (found == profile->second.end() || found->second.empty()) return std::nullopt;
  return found->second;
}

std::optional<std::string> Settings::region() const {
  for (const char* name : {"AWS_REGION", "AWS_DEFAULT_REGION"})
    if (auto region = variable(name)) return region;
  return profile_value("region");
}

base::Result<Settings> read_settings(Environment environment) {
  Settings settings;
  settings.environment = std::move(environment);
  const std::string home = settings.variable("HOME").value_or("");
  const auto path = [&](const char* name, const char* below_home) {
    return settings.variable(name).value_or(home.empty() ? "" : home + below_home);
  };
  KARST_TRY(read_profiles(path("AWS_CONFIG_FILE", "/.aws/config"), FileKind::kConfig, settings));
  KARST_TRY(read_profiles(path("AWS_SHARED_CREDENTIALS_FILE", "/.aws/credentials"),
                          FileKind::kCredentials, settings));
  const auto asked = settings.variable("AWS_PROFILE");
  if (asked) settings.profile_name = *asked;
  if (asked && !settings.profiles.contains(*asked))
    return base::fail(Kind::kInvalid,
                      "AWS_PROFILE: there is no profile " + *asked + " in " +
                          (settings.files.empty() ? "~/.aws (no such files)" : settings.files) +
                          "; unset it, or add the profile");
  return settings;
}

}  // namespace karst::cloud::aws
