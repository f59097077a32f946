#include "daemon/serve.h"

#include "daemon/health.h"

namespace karst::daemon {

base::Result<std::unique_ptr<http::LocalServer>> serve_health(const std::string& address,
                                                              const ViewBoard& board) {
  return http::LocalServer::listen(address, [&board](std::string_view target) {
    HealthAnswer answer = health_answer(*board.read(), target);
    return http::Reply{answer.status, std::move(answer.content_type), std::move(answer.body)};
  });
}

}  // namespace karst::daemon
