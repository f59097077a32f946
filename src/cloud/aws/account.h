// One AWS account and region as this process reaches it: settings, credentials, time and client put
// together. Opened at the start, on the thread that starts; from then on see client.h and
// credentials.h. The transport is destroyed first.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "cloud/aws/client.h"
#include "cloud/aws/credentials.h"
#include "cloud/aws/server_time.h"
#include "cloud/aws/settings.h"
#include "http/transport.h"
#include "http/waiting.h"

namespace karst::cloud::aws {

class Account {
 public:
  struct Options {
    std::int64_t jitter_millis = 0;  // of the credentials' renewal
    std::string user_agent;
    CredentialKeeper::Notice notice;  // on the transport's thread
    http::GiveUp give_up;             // of open()
  };
  // Decides where credentials and region come from. Blocks, for kMetadataTimeoutMillis twice at
  // most and until `give_up`, if the instance has to be asked for its region; credentials are
  // fetched when the first call needs them. Errors: kInvalid: a setting that a person must mend;
  // kRetry, kDenied: the instance's metadata did not answer. `transport` and `clock` outlive the
  // account's use.
  static base::Result<std::unique_ptr<Account>> open(http::Transport& transport,
                                                     const base::Clock& clock, Settings settings,
                                                     Options options);

  Client& client() { return *client_; }
  const std::string& credentials_from() const { return source_.described; }

 private:
  Account(http::Transport& transport, const base::Clock& clock, CredentialSource source,
          FetchNeeds needs, Options options);

  ServerTime time_;
  const CredentialSource source_;
  FetchNeeds needs_;
  CredentialKeeper keeper_;
  std::unique_ptr<Client> client_;
};

}  // namespace karst::cloud::aws
