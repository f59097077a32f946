// An account of AWS as tests of its hands have it: a client with keys that never change, over a
// fake transport.
#pragma once

#include <memory>

#include "base/check.h"
#include "cloud/aws/client.h"
#include "ports/withheld_texts.h"
#include "tests/kube/fake_transport.h"

namespace karst::cloud::aws {

inline std::unique_ptr<Client> client_on_loopback(http::Transport& transport,
                                                  CredentialKeeper& keeper, ServerTime& time,
                                                  const base::Clock& clock) {
  Settings settings;
  settings.environment["AWS_ENDPOINT_URL"] = "http://127.0.0.1:1";
  auto made = Client::make({&transport, &keeper, &time, &clock}, settings, "us-east-1", "karst");
  KARST_CHECK(made.has_value(), "loopback is an endpoint");
  return std::move(*made);
}

inline void keys_that_never_change(const Fetched& done) {
  Credentials keys;
  keys.access_key_id = "AK";
  done(keys);
}

struct AwsAccount {
  testing_kube::FakeTransport transport;
  testing_kube::FakeClock clock;
  testing_kube::FakeSink sink;
  ports::WithheldTexts withheld;
  ServerTime time{clock};
  CredentialKeeper keeper{transport, clock, time, keys_that_never_change, 0, {}};
  std::unique_ptr<Client> client = client_on_loopback(transport, keeper, time, clock);
};

}  // namespace karst::cloud::aws
