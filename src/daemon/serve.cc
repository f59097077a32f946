#include "daemon/serve.h"

#include <utility>

#include "daemon/health.h"
#include "daemon/metrics.h"
#include "daemon/process_metrics.h"
#include "daemon/settings.h"

namespace karst::daemon {
namespace {

bool is_metrics(std::string_view target) {
  return target.substr(0, target.find('?')) == "/metrics";
}

http::Reply reply_to(const ViewBoard& board, std::string_view target) {
  HealthAnswer answer = health_answer(*board.read(), target);
  if (is_metrics(target)) {
    if (const auto sizes = board.sizes()) answer.body += log_sizes_text(*sizes);
    answer.body += process_metrics_text();
  }
  return {answer.status, std::move(answer.content_type), std::move(answer.body)};
}

// Both addresses; equal ones mean one listener.
std::pair<std::string, std::string> addresses_of(const Listening& where) {
  if (!where.metrics_port && !where.health_probe_port) return {where.address, where.address};
  const auto at = [&](int port) { return where.host + ":" + std::to_string(port); };
  return {at(where.metrics_port.value_or(kMetricsPort)),
          at(where.health_probe_port.value_or(kHealthProbePort))};
}

// One that knows only the paths of its kind.
base::Result<std::unique_ptr<http::LocalServer>> serve_part(const std::string& address,
                                                            const ViewBoard& board, bool metrics) {
  return http::LocalServer::listen(address, [&board, metrics](std::string_view target) {
    return reply_to(board, is_metrics(target) == metrics ? target : "/");
  });
}

}  // namespace

base::Result<std::unique_ptr<http::LocalServer>> serve_health(const std::string& address,
                                                              const ViewBoard& board) {
  return http::LocalServer::listen(
      address, [&board](std::string_view target) { return reply_to(board, target); });
}

base::Result<Listeners> serve(const Listening& where, const ViewBoard& board) {
  const auto [metrics, health] = addresses_of(where);
  const bool split = where.metrics_port || where.health_probe_port;
  const bool one = !split || (metrics == health && where.metrics_port != 0);
  Listeners listeners;
  auto first = one ? serve_health(metrics, board) : serve_part(metrics, board, true);
  if (!first) return base::fail(first.error());
  listeners.first = std::move(*first);
  if (one) return listeners;
  auto second = serve_part(health, board, false);
  if (!second) return base::fail(second.error());
  listeners.second = std::move(*second);
  return listeners;
}

base::Status check(const Listening& where) {
  const auto [metrics, health] = addresses_of(where);
  KARST_TRY(http::LocalServer::check(metrics));
  return http::LocalServer::check(health);
}

}  // namespace karst::daemon
