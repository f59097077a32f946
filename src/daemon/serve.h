// The HTTP server of health and metrics over the latest view.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "daemon/view.h"
#include "http/local_server.h"

namespace karst::daemon {

// `board` must outlive the server. Errors: those of LocalServer::listen.
base::Result<std::unique_ptr<http::LocalServer>> serve_health(const std::string& address,
                                                              const ViewBoard& board);

}  // namespace karst::daemon
