// An account of AWS as the tests of its hands have it: a client with keys that never change, over a
// fake transport.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "cloud/aws/client.h"
#include "tests/kube/fake_transport.h"

namespace karst::cloud::aws {

inline std::unique_ptr<Client> client_on_loopback(http::Transport& transport,
                                                  CredentialKeeper& keeper, ServerTime& time,
                                                  const base::Clock& clock) {
  Settings settings;
  settings.environment["AWS_ENDPOINT_URL"] = "http://127.0.0.1:1";
  auto made = Client::make({&transport, &keeper, &time, &clock}, settings, "us-east-1", "karst");
  EXPECT_TRUE(made);
  return made ? std::move(*made) : nullptr;
}

struct AwsAccountTest : ::testing::Test {
  testing_kube::FakeTransport transport;
  testing_kube::FakeClock clock;
  testing_kube::FakeSink sink;
  ServerTime time{clock};
  CredentialKeeper keeper{transport,
                          clock,
                          time,
                          [](Fetched done) {
                            Credentials keys;
                            keys.access_key_id = "AK";
                            done(keys);
                          },
                          0,
                          {}};
  std::unique_ptr<Client> client = client_on_loopback(transport, keeper, time, clock);
};

}  // namespace karst::cloud::aws
