// What must be so before karst begins, asked of the API server once, so that a bad start is one
// clear line with its cure: the server is reached and trusted, knows us, has our resources, and
// lets us do what we must. What is wrong later is told by whoever meets it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "http/waiting.h"
#include "kube/client.h"
#include "kube/rights.h"

namespace karst::kube {

inline constexpr int kPreflightTriesMax = 5;  // of a server that answers 429, 500 or 503, or cuts
inline constexpr std::int64_t kPreflightPauseMillis = 1'000;  // between them

// Sends all calls and returns their answers in the same order.
using AskAll = std::function<std::vector<http::Response>(std::vector<Call>)>;

struct PreflightQuestion {
  std::string server;         // for messages, like the two places
  std::string cluster_place;  // "FILE: clusters[0].cluster"
  std::string user_place;
  bool has_password = false;  // the user is one with username and password
  std::vector<Watched> watched;
  std::vector<Right> rights;
  std::string roles_file;       // the manifest that grants them
  std::string certificate_pem;  // the client's, if it shows one
  base::WallTime now;           // which that may have outlived
};

// What identifies a cluster.
struct ClusterIdentity {
  std::string uid;      // of the namespace kube-system
  std::string version;  // of Kubernetes, "1.34"; empty: the server does not say
};

// Errors: kRetry when the server is out of reach, kDenied when a person must grant or install
// something.
base::Result<ClusterIdentity> preflight(const PreflightQuestion& question, const AskAll& ask);

struct AskPatience {
  http::GiveUp give_up;  // what is not answered then is http::Failure::kCancelled
  // Told when a first try failed, and there will be another: what came. May be empty.
  std::function<void(const std::string& answer)> waiting;
};

// The AskAll over a client: blocks the calling thread, which must not be the transport's.
AskAll ask_all_of(Client& client, AskPatience patience);

}  // namespace karst::kube
