#include "daemon/kill_points.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string>

namespace karst::daemon {

base::Result<KillPoints> KillPoints::parse(std::string_view text) {
  KillPoints points;
  if (text.empty()) return points;
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const auto at = std::find(kKillPointNames.begin(), kKillPointNames.end(), name);
  if (at == kKillPointNames.end()) {
    return base::fail(base::Kind::kInvalid, "KARST_KILL_POINT: there is no place '" +
                                                std::string(name) +
                                                "'; 'karst version --kill-points' lists them");
  }
  points.point_ = static_cast<KillPoint>(at - kKillPointNames.begin());
  points.left_ = 1;
  if (colon == std::string_view::npos) return points;
  std::string_view count = text.substr(colon + 1);
  points.stops_ = count.ends_with(":stop");
  if (points.stops_) count.remove_suffix(std::string_view(":stop").size());
  const auto [end, error] =
      std::from_chars(count.data(), count.data() + count.size(), points.left_);
  if (error != std::errc() || end != count.data() + count.size() || points.left_ == 0) {
    return base::fail(base::Kind::kInvalid, "KARST_KILL_POINT: '" + std::string(count) +
                                                "' is no count; NAME:N wants N from 1");
  }
  return points;
}

base::Result<KillPoints> KillPoints::from_environment() {
  const char* text = std::getenv("KARST_KILL_POINT");
  return parse(text == nullptr ? "" : text);
}

void KillPoints::pass(KillPoint point) {
  if (left_ == 0 || point != point_) return;
  if (--left_ > 0) return;
  if (stops_) {
    kill(getpid(), SIGSTOP);
  } else {
    kill(getpid(), SIGKILL);
    for (;;) pause();  // until the signal is delivered
  }
}

base::Result<model::Position> KillPointLog::append(std::span<const events::Record> records,
                                                   events::Durability durability) {
  const bool answer = !records.empty() && records.back().type == events::EventType::kRoundClosed;
  points_.pass(answer ? KillPoint::kBeforeAppendAnswer : KillPoint::kBeforeAppendFacts);
  auto position = log_.append(records, durability);
  points_.pass(answer ? KillPoint::kAfterAppendAnswer : KillPoint::kAfterAppendFacts);
  return position;
}

base::Status KillPointSnapshots::put(std::string_view version, const events::Snapshot& snapshot) {
  points_.pass(KillPoint::kBeforeSnapshot);
  auto status = snapshots_.put(version, snapshot);
  points_.pass(KillPoint::kAfterSnapshot);
  return status;
}

}  // namespace karst::daemon
