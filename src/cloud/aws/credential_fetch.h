// Asks a source for credentials once: the token file or the instance's token first, then the
// credentials, then each role. The transport's thread; files are read there (a projected token is
// some kilobytes in memory).
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "cloud/aws/credential_source.h"
#include "cloud/aws/endpoints.h"
#include "cloud/aws/server_time.h"
#include "http/transport.h"

namespace karst::cloud::aws {

inline constexpr std::size_t kTokenBytesMax = 64 * 1024;
inline constexpr std::size_t kCredentialAnswerBytesMax = 256 * 1024;
inline constexpr std::int64_t kMetadataTimeoutMillis = 5'000;
inline constexpr std::int64_t kMetadataTokenSeconds = 21'600;
// Credentials of the instance that are over are used for so long all the same: the vendor's SDKs do
// so too, because the metadata service hands out old ones when its own source is down.
inline constexpr std::int64_t kMetadataExtensionMillis = 10 * 60'000;

struct FetchNeeds {
  http::Transport* transport = nullptr;  // these two outlive every fetch
  ServerTime* time = nullptr;
  Endpoint sts;
  std::string user_agent;
};

using Fetched = std::function<void(base::Result<Credentials>)>;

// `done` runs once, on the transport's thread, maybe before this returns. Errors: kInvalid,
// kDenied: a person must mend something; kRetry: passing. None holds anything secret.
void fetch_credentials(const FetchNeeds& needs, const CredentialSource& source, Fetched done);

// The instance's region, from its metadata. As above; `url` is metadata_url().
void fetch_region(const FetchNeeds& needs, const std::string& url,
                  std::function<void(base::Result<std::string>)> done);

}  // namespace karst::cloud::aws
