// How to reach an API server, and as whom: from kubeconfig files, as client-go reads them
// (kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig), or from inside a
// cluster. What is written here is where credentials come from; credentials.h gets and renews them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "http/transport.h"
#include "kube/exec_plugin.h"

namespace karst::kube {

struct ServerAccess {
  std::string server;      // https://HOST:PORT[/PATH], no slash at the end
  http::TlsOptions tls;    // what was given inline
  std::string token;       // bearer token
  std::string token_file;  // read again each minute; what it holds goes before `token`
  // Files of PEM, read again each minute. Empty: what `tls` holds.
  std::string ca_file;
  std::string certificate_file;
  std::string key_file;
  std::string username;  // basic authentication, with `password`
  std::string password;
  std::optional<ExecPlugin> exec;  // asked when there is no other credential
  std::string proxy_url;
  std::vector<std::string> headers;  // of impersonation: "Impersonate-User: NAME"
  std::string cluster_place;         // "FILE: clusters[0].cluster", for messages
  std::string user_place;            // "FILE: users[0].user"
  std::string absent_cure;  // what to do about a file of it that is not there; may be empty
  std::vector<std::string> warnings;  // for people, to be shown loudly
};

// Where to look, in the order of Karpenter (controller-runtime): `option` (of --kubeconfig) alone
// if given; the list in $KUBECONFIG; the cluster that this pod runs in; ~/.kube/config.
// Errors: kInvalid, naming file, field and cure.
base::Result<ServerAccess> find_access(const std::string& option);

// The current context of the files at `paths` (the first file with an entry counts; relative paths
// count from the folder of their file). Files that are absent are passed over, unless all are.
base::Result<ServerAccess> read_kubeconfig(const std::vector<std::string>& paths);

// The same of files that were read already. Pure.
struct KubeconfigText {
  std::string path;
  std::string text;
};
base::Result<ServerAccess> merge_kubeconfigs(const std::vector<KubeconfigText>& files);

// Where a pod finds its service account: token, ca.crt and namespace.
inline constexpr const char* kAccountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";

// The service account of the pod that this process runs in. Errors: kInvalid when it does not run
// in one.
base::Result<ServerAccess> in_cluster_access(const std::string& account_folder = kAccountFolder);

// Namespace of the pod that this process runs in; empty when it runs in none.
std::string own_namespace(const std::string& account_folder = kAccountFolder);

// The whole file. Errors: kInvalid when it cannot be read or is larger than `bytes_max`, with the
// cure: `absent_cure` for one that is not there.
inline constexpr const char* kAbsentCure = "correct the path, or make the file";
base::Result<std::string> read_file(const std::string& path, std::size_t bytes_max,
                                    const std::string& absent_cure = kAbsentCure);
inline constexpr std::size_t kCredentialBytesMax = 1u << 20;
inline constexpr std::size_t kKubeconfigsMax = 64;  // files in one list

}  // namespace karst::kube
