// One way to the API server: a transport and the client that speaks over it. The transport goes
// first, and with it every callback.
#pragma once

#include <memory>

#include "daemon/cluster.h"
#include "daemon/version.h"
#include "http/curl_transport.h"
#include "kube/client.h"

namespace karst::daemon {

struct Way {
  explicit Way(const ClusterSettings& settings)
      : transport(std::make_unique<http::CurlTransport>(http::TlsOptions{})),
        client(*transport, settings.access.server, settings.credentials,
               "karst/" + build_version()) {}

  std::unique_ptr<http::CurlTransport> transport;
  kube::Client client;
};

}  // namespace karst::daemon
