// The text of /metrics. Our own names begin with karst_; the karpenter_ ones mean what they mean
// there (v1.14), with the same labels, so that dashboards carry over. Pure.
#pragma once

#include <string>

#include "daemon/metrics_text.h"
#include "daemon/view.h"

namespace karst::daemon {

std::string metrics_text(const View& view);
std::string log_sizes_text(const LogSizesView& view);

}  // namespace karst::daemon
