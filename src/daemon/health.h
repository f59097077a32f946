// What the local HTTP server answers: /healthz (the process lives), /readyz (it knows enough to
// decide; ?verbose says what is missing), /metrics. Pure.
#pragma once

#include <string>
#include <string_view>

#include "daemon/view.h"

namespace karst::daemon {

struct HealthAnswer {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
};

// `target` as in the request line: path and query.
HealthAnswer health_answer(const View& view, std::string_view target);

}  // namespace karst::daemon
