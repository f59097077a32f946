// How to reach an API server, and as whom: from a kubeconfig file or from inside a cluster.
#pragma once

#include <string>

#include "base/result.h"
#include "http/curl_transport.h"

namespace karst::kube {

struct ServerAccess {
  std::string server;  // https://HOST:PORT, no slash at the end
  http::TlsOptions tls;
  std::string token;       // bearer token; empty: token_file, or the client certificate
  std::string token_file;  // read again each minute
};

// The current context of the kubeconfig at `path`: server, certificate-authority(-data), token,
// tokenFile, client-certificate(-data), client-key(-data). Relative files count from the
// kubeconfig's folder. Errors: kInvalid, naming file, field and cure. Exec plugins, proxies and
// insecure-skip-tls-verify are refused by name.
base::Result<ServerAccess> read_kubeconfig(const std::string& path);

// The service account of the pod that this process runs in. Errors: kInvalid when it does not run
// in one.
base::Result<ServerAccess> in_cluster_access();

// The whole file. Errors: kInvalid when it cannot be read or is larger than `bytes_max`.
base::Result<std::string> read_file(const std::string& path, std::size_t bytes_max);
inline constexpr std::size_t kCredentialBytesMax = 1u << 20;

}  // namespace karst::kube
