// The HTTP servers of health and metrics over the latest view: one for both, or one each.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "daemon/view.h"
#include "http/local_server.h"

namespace karst::daemon {

// `board` must outlive the servers. Errors: those of LocalServer::listen.
base::Result<std::unique_ptr<http::LocalServer>> serve_health(const std::string& address,
                                                              const ViewBoard& board);

struct Listeners {
  std::unique_ptr<http::LocalServer> first;   // everything, or metrics only
  std::unique_ptr<http::LocalServer> second;  // health, when it has a port of its own
};

// Where METRICS_PORT and HEALTH_PROBE_PORT say, on every address unless `host` names one; without
// them all of it at `address`.
struct Listening {
  std::string address;  // HOST:PORT
  std::string host;     // may be empty
  std::optional<int> metrics_port;
  std::optional<int> health_probe_port;
};
base::Result<Listeners> serve(const Listening& where, const ViewBoard& board);
// Whether that can be understood, without listening. Errors: kInvalid.
base::Status check(const Listening& where);

}  // namespace karst::daemon
