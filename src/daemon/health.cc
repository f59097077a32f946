#include "daemon/health.h"

#include <fmt/format.h>

#include "daemon/metrics.h"

namespace karst::daemon {
namespace {

HealthAnswer readiness(const View& view, bool verbose) {
  HealthAnswer answer;
  answer.status = view.ready() ? 200 : 503;
  if (!verbose) {
    answer.body = view.ready() ? "ok" : "not ready; /readyz?verbose says why";
    return answer;
  }
  const auto line = [&](bool good, std::string_view what, std::string_view why) {
    answer.body += fmt::format("[{}]{} {}\n", good ? "+" : "-", what, good ? "ok" : why);
  };
  line(view.recovered, "log", "is still being read");
  line(!view.disk_full, "disk",
       "is full: open work is finished, nothing new is started; free space on the data directory");
  for (const auto& [kind, listed] : view.sources) line(listed, kind, "is not listed yet");
  answer.body += view.ready() ? "readyz check passed\n" : "readyz check failed\n";
  return answer;
}

}  // namespace

HealthAnswer health_answer(const View& view, std::string_view target) {
  const std::size_t mark = target.find('?');
  const std::string_view path = target.substr(0, mark);
  const std::string_view query =
      mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
  if (path == "/healthz") return {200, "text/plain; charset=utf-8", "ok"};
  if (path == "/readyz") return readiness(view, query.find("verbose") != std::string_view::npos);
  if (path == "/metrics")
    return {200, "text/plain; version=0.0.4; charset=utf-8", metrics_text(view)};
  return {404, "text/plain; charset=utf-8", "there are /healthz, /readyz and /metrics here\n"};
}

}  // namespace karst::daemon
